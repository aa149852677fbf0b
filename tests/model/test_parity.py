"""The same weights give the same numbers as transformers' ALBERT and BERT, to 1e-10 in double precision.

Compared are states, logits, losses and every gradient; the losses are summed in single precision.
"""

import json

import pytest
import torch
import transformers

from albert_edu.batch import PretrainingBatch
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import load_pretrained, save_pretrained
from albert_edu.model.weights import tensor_names
from tests.model.batches import V, masked_batch
from tests.support import randomised

BASE = AlbertConfig(V, 8, 16, num_layers=4, num_heads=2, ffn_size=40, max_positions=16)
BASE = BASE.replace(hidden_dropout=0.1, attention_dropout=0.2)
THEIRS = dict(
    vocab_size=V,
    embedding_size=8,
    hidden_size=16,
    num_hidden_layers=4,
    num_attention_heads=2,
    intermediate_size=40,
    max_position_embeddings=16,
    hidden_dropout_prob=0.1,
    attention_probs_dropout_prob=0.2,
)
WIDE = dict(embedding_size=16)
BERT = dict(embedding_size=16, share="none")
ODD_SIZES = dict(num_layers=1, num_heads=4, ffn_size=7, num_segments=3, layer_norm_eps=1e-5)
THEIR_ODD_SIZES = dict(
    num_hidden_layers=1,
    num_attention_heads=4,
    intermediate_size=7,
    type_vocab_size=3,
    layer_norm_eps=1e-5,
)
UNSHARED = dict(embedding_size=16, num_groups=4)
THEIR_UNSHARED = dict(embedding_size=16, num_hidden_groups=4)
CASES = {  # their class, our config, their config
    "share all": ("Albert", {}, {}),
    "2 groups of 4 layers": ("Albert", dict(num_groups=2), dict(num_hidden_groups=2)),
    "3 uneven groups": ("Albert", dict(num_groups=3), dict(num_hidden_groups=3)),
    "as many groups as layers": ("Albert", dict(share="none"), dict(num_hidden_groups=4)),
    "one layer, odd sizes": ("Albert", ODD_SIZES, THEIR_ODD_SIZES),
    "E equal to H": ("Albert", WIDE, WIDE),
    # The shape of a BERT, but an ALBERT's tensor names.
    "E equal to H, unshared": ("Albert", UNSHARED, THEIR_UNSHARED),
    "ALBERT with the erf GELU": ("Albert", dict(activation="gelu_erf"), dict(hidden_act="gelu")),
    "BERT": ("Bert", BERT | dict(activation="gelu_erf"), dict(hidden_act="gelu")),
    "BERT with the tanh GELU": ("Bert", BERT, dict(hidden_act="gelu_new")),
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture(scope="module", params=["from their folder", "from our folder"])
def pair(request, case, tmp_path_factory):
    """Our model and theirs with the same random weights, carried over by a folder in one direction or the other."""
    torch.manual_seed(1)
    family, ours, theirs = case
    config, folder = BASE.replace(**ours), tmp_path_factory.mktemp("model")
    cls = getattr(transformers, f"{family}ForPreTraining")
    if request.param == "from their folder":
        their_model = randomised(cls(cls.config_class(**(THEIRS | theirs))), 0.3)
        for name, parameter in their_model.named_parameters():
            parameter.data += name.endswith("LayerNorm.weight")  # as the norms that end in "_norm"
        if family == "Albert" and not config.has_projection:
            projection = their_model.albert.encoder.embedding_hidden_mapping_in
            torch.nn.init.eye_(projection.weight)
            torch.nn.init.zeros_(projection.bias)
        their_model.save_pretrained(folder)
        our_model, _ = load_pretrained(folder)
        assert our_model.config == config
    else:
        our_model = randomised(AlbertForPretraining(config), 0.3)
        save_pretrained(our_model, None, folder)
        load = transformers.AutoModelForPreTraining.from_pretrained
        their_model, report = load(folder, output_loading_info=True)
        assert type(their_model) is cls and not any(report.values()), report
        said = json.loads((folder / "config.json").read_text())
        assert said["architectures"] == [cls.__name__]
        assert said.keys() <= cls.config_class().to_dict().keys()
    return our_model.eval().double(), their_model.eval().double()


batch = pytest.fixture(masked_batch)


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
    assert encoded.last_hidden is encoded.hidden_states[-1]
    assert ours.albert(*parts).hidden_states is None
    for mine, other in zip(encoded.hidden_states, expected.hidden_states, strict=True):
        assert_close(mine, other, "a layer")
    base = getattr(theirs, theirs.config.model_type)
    inputs = dict(token_type_ids=batch.segment_ids, attention_mask=batch.attention_mask)
    assert_close(encoded.pooled, base(batch.token_ids, **inputs).pooler_output, "pooled")

    output = ours(batch)
    positions = batch.masked_positions[..., None].expand(-1, -1, V)
    at_masked = expected.prediction_logits.gather(1, positions)
    assert_close(output.masked_token_logits, at_masked, "masked-token logits")
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
    names = tensor_names(ours)
    for mine, other in names.items():
        gradient = ours.get_parameter(mine).grad
        assert_close(gradient, theirs.get_parameter(other).grad, mine, 1e-5)
        # No weight is idle: each moves the loss, but for a constant added to all scores of a row.
        assert mine.endswith("key.bias") or gradient.abs().max() > 1e-4, mine
    # Nothing of theirs is left over, but the projection that they have and we do not where E equals H.
    left_over = {name for name, _ in theirs.named_parameters()} - set(names.values())
    assert not left_over or not ours.config.has_projection
    assert all("embedding_hidden_mapping_in" in name for name in left_over)
