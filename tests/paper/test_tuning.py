"""Pilots choose a rate inside their grid, and time is shared out by CPU seconds."""

import dataclasses

import pytest

from albert_paper import tuning
from albert_paper.plan import run_of_row
from albert_paper.sweep import Run
from albert_paper.tuning import best_rates, far_from_half, mean_loss, settle

SETTINGS = {"steps": 100, "batch_size": 4, "sequence_length": 32}


def at(row: str, rate: float, seed: int) -> Run:
    return Run(row, steps=1, learning_rate=rate, seed=seed)


class Trainer:
    """Stands in for a sweep: a run's loss says how far its rate is from the row's best one."""

    def __init__(self, **best: float):
        self.best = best
        self.asked: list[Run] = []

    def __call__(self, runs) -> list[dict]:
        self.asked += [run for run in runs if run not in self.asked]
        results = []
        for run in runs:
            loss = abs(run.learning_rate / self.best[run.row] - 1)
            results.append(dataclasses.asdict(run) | {"held_out_masked_token_loss": loss})
        return results


def test_each_row_gets_the_rate_of_its_lowest_mean_loss():
    train = Trainer(a=0.002, b=0.004)
    groups = {"a": ["a"], "b": ["b"]}
    found = best_rates(groups, at, [0.001, 0.002, 0.004, 0.008], [401, 402], mean_loss, train)
    assert {row: one["learning_rate"] for row, one in found.items()} == {"a": 0.002, "b": 0.004}
    assert found["a"]["scores"] == [[0.001, 0.5], [0.002, 0.0], [0.004, 1.0], [0.008, 3.0]]
    assert len(train.asked) == 2 * 4 * 2
    assert not found["a"]["at_edge"]


@pytest.mark.parametrize(("best", "tried"), [(0.008, 0.016), (0.0005, 0.00025)])
def test_a_best_rate_at_the_edge_widens_the_grid_of_its_row_only(best, tried):
    train = Trainer(a=best, b=0.002)
    groups = {"a": ["a"], "b": ["b"]}
    found = best_rates(groups, at, [0.001, 0.002, 0.004], [401], mean_loss, train)
    assert found["a"]["learning_rate"] == best
    assert not found["a"]["at_edge"]
    assert tried in [rate for rate, _ in found["a"]["scores"]]
    assert [rate for rate, _ in found["b"]["scores"]] == [0.001, 0.002, 0.004]


def test_a_grid_that_never_ends_is_left_and_says_so():
    found = best_rates({"a": ["a"]}, at, [1.0, 2.0], [401], mean_loss, Trainer(a=1e9))["a"]
    assert found["at_edge"]
    assert found["learning_rate"] == 2.0 * 2**tuning.WIDENED


def test_all_rows_share_the_rate_at_which_half_of_their_starts_get_stuck():
    def do(runs):
        """At a rate of n hundredths, n of ten seeds get stuck."""
        return [
            dataclasses.asdict(run) | {"never_learnt": float(run.seed < 100 * run.learning_rate)}
            for run in runs
        ]

    found = best_rates({"all": ["a", "b"]}, at, [0.02, 0.04, 0.08], range(10), far_from_half, do)
    assert found["all"]["learning_rate"] == 0.04


def test_stages_are_tuned_one_on_top_of_the_other():
    asked = []

    def do(runs):
        asked.extend(runs)
        return [
            dataclasses.asdict(run) | {"held_out_masked_token_loss": abs(run.learning_rate - 0.002)}
            for run in runs
        ]

    tune = {"rates": [0.001, 0.002, 0.004], "seeds": [401], "stages": [1, 3]}
    rows = {"L=1": {"H": 32, "L": 1, "chain": [1]}, "L=3": {"H": 32, "L": 3, "chain": [1]}}
    record = {}
    plan = settle({"tune": tune, "settings": SETTINGS, "rows": rows}, run_of_row, do, record)
    assert plan["settings"]["stage_rates"] == {1: 0.002, 3: 0.002}
    assert {run.row for run in asked} == {"L=1", "L=3"} == record["rates"].keys()
    deep = [run for run in asked if run.row == "L=3"]
    assert {run.grown for run in deep} == {((1, 100, 0.002),)}
    run = run_of_row("L=3", 30, **(plan["settings"] | plan["rows"]["L=3"]))
    assert run.grown == ((1, 100, 0.002),)
    assert run.learning_rate == 0.002


def test_rows_that_branch_take_the_rate_of_the_branch_that_changes_nothing():
    tune = {"rates": [0.001, 0.002, 0.004], "seeds": [401], "rows": ["a"], "same": {"b": "a"}}
    plan = {"tune": tune, "settings": SETTINGS, "rows": {"a": {}, "b": {"H": 32}}}
    settled = settle(plan, run_of_row, Trainer(a=0.002), {})
    assert settled["rows"].keys() == {"a", "b"}
    assert all(row["learning_rate"] == 0.002 for row in settled["rows"].values())
    assert plan["rows"] == {"a": {}, "b": {"H": 32}}, "the plan itself stays as it was"


def test_a_row_gets_as_many_steps_as_fit_into_the_seconds_of_another(monkeypatch):
    monkeypatch.setattr(tuning, "step_seconds", lambda run: {"fast": 0.1, "slow": 0.25}[run.row])
    equal = {"row": "fast", "as_long_as": "slow"}
    tune = {"rates": [0.001, 0.002, 0.004], "seeds": [401], "rows": ["fast"], "equal_time": equal}
    plan = {"tune": tune | {"same": {"slow": "fast"}}, "settings": SETTINGS}
    plan["rows"] = {"fast": {}, "slow": {}}
    record = {}
    train = Trainer(fast=0.002)
    assert settle(plan, run_of_row, train, record)["rows"]["fast"]["steps"] == 250
    assert {run.steps for run in train.asked} == {250}, "its pilots have these steps, too"
    record["timing"]["steps"] = 240
    again = settle(plan, run_of_row, train, record)
    assert again["rows"]["fast"]["steps"] == 240, "an earlier sitting's timing is kept"


@pytest.mark.slow
def test_the_seconds_of_a_step_are_those_of_this_process(monkeypatch):
    monkeypatch.setattr(tuning, "TIMED_STEPS", 10)
    narrow, wide = (
        run_of_row("a", 401, H=H, L=2, E=32, learning_rate=1e-3, **SETTINGS) for H in (32, 256)
    )
    assert 0 < tuning.step_seconds(narrow) < tuning.step_seconds(wide) < 5
