"""The same weights give the same numbers as transformers' ALBERT and BERT: states, logits, losses and every gradient."""

import pytest
import torch
import transformers
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.formats import tensor_names, to_transformers, why_not_expressible
from albert_edu.model.interchange import load_pretrained, save_pretrained
from albert_edu.text.batches import PretrainingBatch

V, S, K = 60, 11, 4
OURS = dict(
    vocab_size=V,
    embedding_size=8,
    hidden_size=16,
    num_layers=4,
    num_heads=2,
    ffn_size=40,
    max_positions=16,
    hidden_dropout=0.1,
    attention_dropout=0.2,
)
THEIRS = dict(
    vocab_size=V,
    hidden_size=16,
    num_hidden_layers=4,
    num_attention_heads=2,
    intermediate_size=40,
    max_position_embeddings=16,
    hidden_dropout_prob=0.1,
    attention_probs_dropout_prob=0.2,
)
CASES = {  # our config, their class, their config
    "share all": (dict(), "Albert", dict(embedding_size=8)),
    "2 groups of 4 layers": (
        dict(num_groups=2),
        "Albert",
        dict(embedding_size=8, num_hidden_groups=2),
    ),
    "3 uneven groups": (dict(num_groups=3), "Albert", dict(embedding_size=8, num_hidden_groups=3)),
    "as many groups as layers": (
        dict(share="none"),
        "Albert",
        dict(embedding_size=8, num_hidden_groups=4),
    ),
    "E equal to H": (dict(embedding_size=16), "Albert", dict(embedding_size=16)),
    "ALBERT with the erf GELU": (
        dict(activation="gelu_erf"),
        "Albert",
        dict(embedding_size=8, hidden_act="gelu"),
    ),
    "BERT": (
        dict(embedding_size=16, share="none", activation="gelu_erf"),
        "Bert",
        dict(hidden_act="gelu"),
    ),
    "BERT with the tanh GELU": (
        dict(embedding_size=16, share="none"),
        "Bert",
        dict(hidden_act="gelu_new"),
    ),
}


def randomised(model, is_norm: str):
    """Weights far from the small start, so that nothing in the model is idle or nearly linear."""
    for name, parameter in model.named_parameters():
        torch.nn.init.normal_(parameter, mean=float(name.endswith(is_norm)), std=0.3)
        if (
            "embedding_hidden_mapping_in" in name
            and parameter.shape[0] == parameter.shape[-1] == 16
        ):
            torch.nn.init.zeros_(parameter) if parameter.ndim == 1 else torch.nn.init.eye_(
                parameter
            )
    return model


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture(scope="module", params=["from their folder", "from our folder"])
def pair(request, case, tmp_path_factory):
    """Our model and theirs with the same random weights, carried over by a folder in one direction or the other."""
    torch.manual_seed(1)
    ours, family, theirs = case
    folder = tmp_path_factory.mktemp("model")
    cls = getattr(transformers, f"{family}ForPreTraining")
    if request.param == "from their folder":
        their_model = randomised(
            cls(getattr(transformers, f"{family}Config")(**THEIRS, **theirs)), "orm.weight"
        )
        their_model.save_pretrained(folder)
        our_model, _ = load_pretrained(folder)
        assert our_model.config == AlbertConfig(**(OURS | ours))
    else:
        our_model = randomised(AlbertForPretraining(AlbertConfig(**(OURS | ours))), "norm.weight")
        save_pretrained(our_model, None, folder)
        their_model, report = cls.from_pretrained(folder, output_loading_info=True)
        assert not any(report.values()), report
    return our_model.eval(), their_model.eval()


@pytest.fixture(params=["no padding", "padding"])
def batch(request) -> PretrainingBatch:
    lengths = torch.tensor([S, S, S] if request.param == "no padding" else [S, 6, 8])
    mask = (torch.arange(S) < lengths[:, None]).long()
    return PretrainingBatch(
        token_ids=torch.randint(1, V, (3, S)) * mask,
        segment_ids=(torch.arange(S) >= 4).long() * mask,
        attention_mask=mask,
        masked_positions=torch.tensor([[1, 4, 9, 10], [5, 2, 0, 0], [7, 0, 0, 0]]),
        masked_labels=torch.tensor([[5, 0, 59, 7], [8, 9, -100, -100], [10, -100, -100, -100]]),
        order_labels=torch.tensor([0, 1, -100]),
    )


def their_output(model, batch: PretrainingBatch):
    """Their forward pass: labels at every position, -100 where nothing is masked."""
    used = batch.masked_labels != -100
    labels = torch.full_like(batch.token_ids, -100)
    labels[used.nonzero()[:, 0], batch.masked_positions[used]] = batch.masked_labels[used]
    order = "sentence_order_label" if model.config.model_type == "albert" else "next_sentence_label"
    inputs = dict(
        input_ids=batch.token_ids,
        token_type_ids=batch.segment_ids,
        attention_mask=batch.attention_mask,
    )
    return model(**inputs, labels=labels, **{order: batch.order_labels}, output_hidden_states=True)


def assert_close(ours, theirs, name=""):
    torch.testing.assert_close(
        ours, theirs, atol=1e-5, rtol=1e-5, msg=lambda message: f"{name}: {message}"
    )


def test_every_hidden_state_the_logits_and_the_loss_agree(pair, batch):
    ours, theirs = pair
    expected = their_output(theirs, batch)
    encoded = ours.albert(
        batch.token_ids, batch.segment_ids, batch.attention_mask, return_hidden_states=True
    )
    assert len(encoded.hidden_states) == len(expected.hidden_states) == 5
    for layer, (mine, other) in enumerate(
        zip(encoded.hidden_states, expected.hidden_states, strict=True)
    ):
        assert_close(mine, other, f"layer {layer}")
    base = getattr(theirs, theirs.config.model_type)
    inputs = dict(token_type_ids=batch.segment_ids, attention_mask=batch.attention_mask)
    assert_close(encoded.pooled, base(batch.token_ids, **inputs).pooler_output, "pooled")

    output = ours(batch)
    at_slots = expected.prediction_logits.gather(
        1, batch.masked_positions[..., None].expand(-1, -1, V)
    )
    assert_close(output.masked_token_logits, at_slots, "masked-token logits")
    order = expected[
        "sop_logits" if theirs.config.model_type == "albert" else "seq_relationship_logits"
    ]
    assert_close(output.sentence_order_logits, order, "order logits")
    assert_close(output.loss, expected.loss, "loss")


def test_every_gradient_agrees(pair, batch):
    ours, theirs = pair
    for model in pair:
        model.zero_grad()
    ours(batch).loss.backward()
    their_output(theirs, batch).loss.backward()
    names = tensor_names(ours, theirs.config.model_type)
    for mine, other in names.items():
        assert_close(ours.get_parameter(mine).grad, theirs.get_parameter(other).grad, mine)
    # Nothing of theirs is left over, but the projection that they have and we do not where E equals H.
    left_over = {name for name, _ in theirs.named_parameters()} - set(names.values())
    assert all(
        "embedding_hidden_mapping_in" in name and not ours.config.factorised for name in left_over
    )
    assert set(names) == {name for name, _ in ours.named_parameters()}


def test_parity_is_no_accident_of_idle_weights(pair, batch):
    """Every parameter of ours moves the loss, so an agreement above says something about each of them."""
    ours, _ = pair
    ours.zero_grad()
    ours(batch).loss.backward()
    for name, parameter in ours.named_parameters():
        if not name.endswith(
            "key.bias"
        ):  # a constant added to all scores of a row: softmax does not see it
            assert parameter.grad.abs().max() > 1e-4, name


@given(
    L=st.integers(1, 4),
    groups=st.integers(1, 4),
    E=st.sampled_from([8, 16]),
    heads=st.sampled_from([1, 2, 4]),
    share=st.sampled_from(["all", "none"]),
    activation=st.sampled_from(["gelu_tanh", "gelu_erf"]),
    ffn=st.integers(1, 40),
    segments=st.integers(2, 3),
    eps=st.sampled_from([1e-12, 1e-5]),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None, derandomize=True)
@pytest.mark.slow
def test_any_config_gives_the_same_numbers_in_double_precision(
    L, groups, E, heads, share, activation, ffn, segments, eps, seed
):
    """From our tensors under transformers' names into its class for pre-training, to 1e-10."""
    config = AlbertConfig(
        V,
        E,
        16,
        L,
        heads,
        ffn,
        S,
        segments,
        share,
        min(groups, L) if share == "all" else 1,
        activation=activation,
        layer_norm_eps=eps,
    )
    assume(why_not_expressible(config) is None)
    torch.manual_seed(seed)
    ours = randomised(AlbertForPretraining(config), "norm.weight").eval().double()
    their_config = transformers.AutoConfig.for_model(**to_transformers(config))
    theirs = transformers.AutoModelForPreTraining.from_config(their_config).eval().double()
    names = tensor_names(ours, their_config.model_type)
    state = {names[name]: parameter.detach() for name, parameter in ours.named_parameters()}
    missing, unexpected = theirs.load_state_dict(state, strict=False)
    assert not unexpected and all(
        "decoder" in name or "embedding_hidden_mapping_in" in name for name in missing
    )
    if any("embedding_hidden_mapping_in" in name for name in missing):
        torch.nn.init.eye_(theirs.albert.encoder.embedding_hidden_mapping_in.weight)
        torch.nn.init.zeros_(theirs.albert.encoder.embedding_hidden_mapping_in.bias)
    ids, mask = torch.randint(1, V, (2, S)), (torch.arange(S) < torch.tensor([[S], [7]])).long()
    segment_ids = (torch.arange(S) >= 4).long().expand(2, S)
    output = theirs(input_ids=ids, token_type_ids=segment_ids, attention_mask=mask)
    encoded = ours.albert(ids, segment_ids, mask)
    order = (
        output.seq_relationship_logits
        if hasattr(output, "seq_relationship_logits")
        else output.sop_logits
    )
    torch.testing.assert_close(
        order, ours.sentence_order_head(encoded.pooled), atol=1e-10, rtol=1e-10
    )
    logits = ours.masked_token_head(encoded.last_hidden)[mask.bool()]
    torch.testing.assert_close(
        output.prediction_logits[mask.bool()], logits, atol=1e-10, rtol=1e-10
    )
