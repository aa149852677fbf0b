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
    batch = bench.random_batch("albert-tiny", 2)
    model = AlbertForPretraining(AlbertConfig.named("albert-tiny")).eval()
    other, inputs = bench.theirs(model, batch)
    assert torch.allclose(model(batch).loss, other.eval()(**inputs).loss, atol=1e-4)


@pytest.mark.slow
def test_the_record_has_both_libraries_in_turns_their_memory_and_the_machine(tmp_path, monkeypatch):
    process = bench.peak_memory

    def peak_memory(library: str, *step: object) -> int:
        """What ours takes; a process of its own costs seconds, so theirs gets none."""
        return process(library, *step) if library == "albert_edu" else 10**9

    monkeypatch.setattr(bench, "peak_memory", peak_memory)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "bench.json").write_text('{"cuda": {"sizes": {}}}')
    parts = json.loads(bench.bench(tmp_path, "cpu").read_text())
    assert parts["cuda"] == {"sizes": {}}, "the part of another machine is gone"
    (size,) = parts["cpu"]["sizes"].values()
    speeds = [theirs / ours for ours, theirs in size["seconds"]]
    assert len(speeds) == 2
    assert min(speeds) <= size["speed"] <= max(speeds)
    assert 0 < size["peak_share"] < 1.5
    ours, theirs = size["peak_memory"]
    assert 0 < ours < theirs == 10**9
    assert size["memory"] == ours / theirs
    assert parts["cpu"]["provenance"]["commit"]
    assert parts["cpu"]["provenance"]["device"]


def test_the_readme_quotes_the_record():
    parts = json.loads((ROOT / "figures" / "results" / "bench.json").read_text())
    (card,), sizes = (parts[kind]["sizes"].values() for kind in ("cuda", "cpu"))
    speed, memory = ([size[of] for size in sizes] for of in ("speed", "memory"))
    text = " ".join((ROOT / "README.md").read_text().split())
    assert f"{min(speed):.1f} to {max(speed):.1f} times as fast as theirs" in text
    assert f"with {min(memory):.2f} to {max(memory):.2f} of the memory" in text
    assert f"{card['speed']:.1f}" == "1.0"
    assert "on an H100, both compiled, the two are equally fast" in text
