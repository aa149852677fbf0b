"""Table 2's speed column: what is timed, and what a step is taken to be made of."""

from itertools import accumulate, cycle

from albert_edu import AlbertConfig
from albert_paper import speed

TINY = {
    name: AlbertConfig.named("albert-tiny", vocab_size=60)
    for name in ("BERT-large", "ALBERT-large")
}


def test_a_step_of_more_tokens_repeats_the_passes_and_not_the_update(monkeypatch):
    moments = accumulate(cycle((1, 2, 8)))  # before a step, behind its passes, behind its update
    monkeypatch.setattr(speed, "_now", lambda card: next(moments))
    monkeypatch.setattr(speed, "SIZES", TINY)
    monkeypatch.setattr(
        speed,
        "PLANS",
        {"quick": speed.Timing(1, 2, 1, 2, 16, 1), "laptop": speed.Timing(1, 2, 1, 2, 16, 16)},
    )
    quick, laptop = speed.speeds("quick"), speed.speeds("laptop")
    assert {run["tokens_per_second"] for run in quick} == {round(2 * 16 / (2 + 8), 1)}
    assert {run["tokens_per_second"] for run in laptop} == {round(16 * 2 * 16 / (16 * 2 + 8), 1)}
    assert [run["optimizer_share"] for run in (quick[0], laptop[0])] == [0.8, 0.2]
    assert [(run["row"], run["seed"], run["speed"]) for run in quick] == [
        (name, seed, 1.0) for seed in range(2) for name in TINY
    ]
