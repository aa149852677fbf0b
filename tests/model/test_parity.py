"""The same weights give the same numbers as transformers' ALBERT and BERT, to 1e-10 in double precision.

Compared are states, logits, losses and every gradient; the losses are summed in single precision.
"""

import pytest
import torch
import transformers

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.formats import tensor_names
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
    "one layer, odd sizes": (
        dict(num_layers=1, num_heads=4, ffn_size=7, num_segments=3, layer_norm_eps=1e-5),
        "Albert",
        dict(embedding_size=8, num_hidden_layers=1, num_attention_heads=4, intermediate_size=7)
        | dict(type_vocab_size=3, layer_norm_eps=1e-5),
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
        if "embedding_hidden_mapping_in" in name and parameter.shape[-1] == 16:  # E equals H
            identity = torch.zeros(16) if parameter.ndim == 1 else torch.eye(16)
            parameter.data = identity
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
            cls(getattr(transformers, f"{family}Config")(**(THEIRS | theirs))), "orm.weight"
        )
        their_model.save_pretrained(folder)
        our_model, _ = load_pretrained(folder)
        assert our_model.config == AlbertConfig(**(OURS | ours))
    else:
        our_model = randomised(AlbertForPretraining(AlbertConfig(**(OURS | ours))), "norm.weight")
        save_pretrained(our_model, None, folder)
        their_model, report = cls.from_pretrained(folder, output_loading_info=True)
        assert not any(report.values()), report
    return our_model.eval().double(), their_model.eval().double()


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
    inputs = dict(token_type_ids=batch.segment_ids, attention_mask=batch.attention_mask)
    return model(
        batch.token_ids,
        **inputs,
        labels=labels,
        **{order: batch.order_labels},
        output_hidden_states=True,
    )


def assert_close(ours, theirs, name, tolerance=1e-10):
    same = {"atol": tolerance, "rtol": tolerance, "check_dtype": False}
    torch.testing.assert_close(ours, theirs, **same, msg=lambda message: f"{name}: {message}")


def test_every_hidden_state_the_logits_and_the_loss_agree(pair, batch):
    ours, theirs = pair
    expected = their_output(theirs, batch)
    parts = (batch.token_ids, batch.segment_ids, batch.attention_mask)
    encoded = ours.albert(*parts, return_hidden_states=True)
    assert len(encoded.hidden_states) == 1 + ours.config.num_layers
    for mine, other in zip(encoded.hidden_states, expected.hidden_states, strict=True):
        assert_close(mine, other, "a layer")
    base = getattr(theirs, theirs.config.model_type)
    inputs = dict(token_type_ids=batch.segment_ids, attention_mask=batch.attention_mask)
    assert_close(encoded.pooled, base(batch.token_ids, **inputs).pooler_output, "pooled")

    output = ours(batch)
    slots = batch.masked_positions[..., None].expand(-1, -1, V)
    at_slots = expected.prediction_logits.gather(1, slots)
    assert_close(output.masked_token_logits, at_slots, "masked-token logits")
    is_albert = theirs.config.model_type == "albert"
    order = expected["sop_logits" if is_albert else "seq_relationship_logits"]
    assert_close(output.sentence_order_logits, order, "order logits")
    assert_close(output.loss, expected.loss, "loss", 1e-5)


def test_every_gradient_agrees(pair, batch):
    ours, theirs = pair
    for model in pair:
        model.zero_grad()
    ours(batch).loss.backward()
    their_output(theirs, batch).loss.backward()
    names = tensor_names(ours, theirs.config.model_type)
    for mine, other in names.items():
        assert_close(ours.get_parameter(mine).grad, theirs.get_parameter(other).grad, mine, 1e-5)
    # Nothing of theirs is left over, but the projection that they have and we do not where E equals H.
    left_over = {name for name, _ in theirs.named_parameters()} - set(names.values())
    assert not left_over or not ours.config.factorised
    assert all("embedding_hidden_mapping_in" in name for name in left_over)
    assert set(names) == {name for name, _ in ours.named_parameters()}


def test_parity_is_no_accident_of_idle_weights(pair, batch):
    """Every parameter of ours moves the loss, so an agreement above says something about each of them."""
    ours, _ = pair
    ours.zero_grad()
    ours(batch).loss.backward()
    for name, parameter in ours.named_parameters():
        # Softmax does not see a constant added to all scores of a row.
        if not name.endswith("key.bias"):
            assert parameter.grad.abs().max() > 1e-4, name
