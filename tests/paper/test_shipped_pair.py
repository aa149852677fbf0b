"""The trained pair that travels with the repository is the one its record describes."""

import json
from pathlib import Path

import pytest
import torch

from albert_edu.analysis.health import loss_without, units_that_open
from albert_edu.analysis.inspect import fill
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.model.interchange import load_pretrained
from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
from albert_edu.text.prepare import prepare
from albert_edu.training.evaluate import evaluate
from albert_paper.reproduce import MEMBERS
from albert_paper.templates import render

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "albert_edu" / "pretrained" / "laptop"
SHIPPED = {"albert": "laptop", "unshared": "laptop-unshared"}  # name in the record -> name to load
RECORD = json.loads((FOLDER / "record.json").read_text())


def test_it_is_small_and_its_card_is_made_of_its_record():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) <= 25_000_000
    assert (FOLDER / "README.md").read_text() == render("model_card.md", record=RECORD)


@pytest.mark.slow
@pytest.mark.parametrize("member", MEMBERS)
def test_it_scores_and_moves_as_recorded(member, text):
    model, tokenizer = load_pretrained(SHIPPED[member])
    assert model.config.share == MEMBERS[member]
    # SentencePiece may have learnt other scores on this machine.
    if tokenizer.fingerprint != text.tokenizer.fingerprint:
        text = prepare("sotu", tokenizer=tokenizer)
    held_out = PretrainingStream(text.held_out, tokenizer, "sop", 32, 128, seed=EVAL_SEED_OFFSET)
    batches = [held_out.batch(step) for step in range(2)]
    recorded = RECORD["members"][member]
    its_health = recorded["health"]
    found = evaluate(model, held_out, batches=2)
    assert found["masked_token_loss"] == pytest.approx(its_health["loss"], abs=0.01)
    assert found["sentence_order_accuracy"] == pytest.approx(its_health["order_accuracy"], abs=0.05)
    assert units_that_open(model, batches) == pytest.approx(its_health["open_units"], abs=0.02)
    for half in ("ffn", "attention"):
        loss = loss_without(model, batches, half)
        assert loss == pytest.approx(its_health[f"without_{half}"], abs=0.03)
    assert its_health["verdict"].startswith("alive:")
    angles = layer_similarity(model, *batches[0].unmasked()).angle_degrees
    expected = torch.tensor(recorded["similarity"]["angle_degrees"], dtype=angles.dtype)
    torch.testing.assert_close(angles, expected, atol=0.5, rtol=0)


@pytest.mark.parametrize("name", SHIPPED.values())
@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("the united [MASK] of america", "states"),
        ("the people of the united [MASK] are at peace", "states"),
        ("more than two [MASK] dollars", "million"),
        ("our [MASK] forces", "armed"),
        ("the senate and the [MASK] of representatives", "house"),
    ],
)
def test_it_fills_five_gaps(name, sentence, word):
    (answers,) = fill(*load_pretrained(name), sentence, top=5)
    assert f"▁{word}" in [token for token, _ in answers]
