"""The benchmark: both libraries do the same step on the same batch."""

import json

import pytest
import torch

from albert_edu import AlbertConfig, AlbertForPretraining
from albert_paper import bench


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(bench, "SEQUENCES", {"cpu": {"albert-tiny": 2}})
    monkeypatch.setattr(bench, "ROUNDS", 2)


def test_ours_and_theirs_have_one_shape_and_one_loss_at_equal_weights():
    config, batch = AlbertConfig.named("albert-tiny"), bench.random_batch("albert-tiny", 2)
    model = AlbertForPretraining(config).eval()
    other, inputs = bench.theirs(model, batch)
    assert torch.allclose(model(batch).loss, other.eval()(**inputs).loss, atol=1e-4)


@pytest.mark.slow
def test_the_record_has_both_libraries_in_turns_their_memory_and_the_machine(tmp_path):
    record = json.loads(bench.bench(tmp_path, "cpu").read_text())
    assert [run["row"] for run in record["runs"]] == 2 * [
        "albert-tiny, albert_edu",
        "albert-tiny, transformers",
    ]
    for run in record["runs"]:
        assert 0 < run["peak_share"] < 1.5 and run["peak_memory"] > 0 and run["seconds"] > 0
    assert record["provenance"]["commit"] and record["provenance"]["device"]
