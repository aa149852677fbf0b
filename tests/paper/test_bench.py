"""The benchmark: both libraries do the same step on the same batch."""

import json

import pytest
import torch

from albert_edu import AlbertConfig, AlbertForPretraining
from albert_paper import bench
from albert_paper.provenance import ROOT


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
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "bench.json").write_text('{"cuda": {"runs": []}}')
    parts = json.loads(bench.bench(tmp_path, "cpu").read_text())
    assert parts["cuda"] == {"runs": []}, "the part of another machine is gone"
    record = parts["cpu"]
    turns = ["albert-tiny, albert_edu", "albert-tiny, transformers"]
    assert [run["row"] for run in record["runs"]] == 2 * turns
    for run in record["runs"]:
        assert 0 < run["peak_share"] < 1.5 and run["peak_memory"] > 0 and run["seconds"] > 0
    assert record["provenance"]["commit"] and record["provenance"]["device"]


def test_the_readme_quotes_the_record():
    parts = json.loads((ROOT / "figures" / "results" / "bench.json").read_text())
    (card,) = bench.ratios(parts["cuda"]["runs"]).values()
    speed, memory, _ = zip(*bench.ratios(parts["cpu"]["runs"]).values(), strict=True)
    text = " ".join((ROOT / "README.md").read_text().split())
    assert f"{min(speed):.1f} to {max(speed):.1f} times as fast as theirs" in text
    assert f"with {min(memory):.2f} to {max(memory):.2f} of the memory" in text
    assert f"{card[0]:.1f}" == "1.0"
    assert "on an H100, both compiled, the two are equally fast" in text
