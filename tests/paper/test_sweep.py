"""A sweep does each run once, goes on where it was left, and shares its folder."""

import json
from concurrent.futures import Future

import pytest
import torch
from filelock import FileLock

from albert_edu.paper import measures
from albert_edu.paper import sweep as module
from albert_edu.paper.experiments import EXPERIMENTS, run_experiment
from albert_edu.paper.measures import order_cross
from albert_edu.paper.sweep import Run, sweep

SHORT = {"steps": 4, "batch_size": 4, "sequence_length": 32}


def weight_norm(model, text, run) -> dict:
    return {"norm": float(torch.stack([p.detach().norm() for p in model.parameters()]).sum())}


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Processes of their own cost seconds each; one test below uses them."""

    class Here:
        def __init__(self, *_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def shutdown(self, **_):
            pass

        def submit(self, do, *arguments):
            future = Future()
            future.set_result(do(*arguments))
            return future

    monkeypatch.setattr(module, "ProcessPoolExecutor", Here)
    monkeypatch.setattr(measures, "MEASURED", 2)


def test_a_run_is_done_once_and_its_result_found_again(tmp_path, monkeypatch):
    runs = [Run("a", seed=0, **SHORT), Run("b", seed=1, **SHORT)]
    first = sweep(runs, weight_norm, tmp_path)
    monkeypatch.setattr(Run, "train", lambda *_: pytest.fail("it was done already"))
    assert sweep(runs, weight_norm, tmp_path) == first
    assert first[0]["norm"] != first[1]["norm"]
    assert not [path for path in tmp_path.iterdir() if path.is_dir()], "checkpoints of finished runs are cleared away"


def test_only_what_changes_the_result_changes_its_name():
    run = Run("a", **SHORT)
    assert run.key(weight_norm) == Run("another row", **SHORT).key(weight_norm)
    others = [Run("a", **(SHORT | {"steps": 5})), Run("a", **SHORT, seed=1), Run("a", **SHORT, config=(("share", "none"),))]
    assert len({run.key(weight_norm), run.key(order_cross), *(other.key(weight_norm) for other in others)}) == 5


def test_a_run_that_somebody_else_holds_is_left_alone(tmp_path, monkeypatch):
    run = Run("a", **SHORT)
    result = tmp_path / f"{run.key(weight_norm)}.json"
    other = FileLock(result.with_suffix(".lock"))
    other.acquire()

    def finish(_):  # instead of waiting: the other one writes its result
        result.write_text(json.dumps({"norm": 1.0}))
        other.release()

    monkeypatch.setattr(module.time, "sleep", finish)
    assert sweep([run], weight_norm, tmp_path) == [{"norm": 1.0, "row": "a"}]


def test_the_order_cross_reads_three_tasks_in_two_ways(tmp_path):
    (found,) = sweep([Run("SOP", **SHORT)], order_cross, tmp_path)
    assert found["head"].keys() == found["probe"].keys() == {"sop", "nsp-document", "nsp-topic"}
    for task in (*found["head"].values(), *found["probe"].values()):
        assert task["accuracy"] == pytest.approx(sum(task["recall"]) / 2, abs=1e-3), "classes are balanced"


def test_an_experiment_leaves_a_record_with_its_claim_and_provenance(tmp_path, monkeypatch):
    experiment = EXPERIMENTS["table5"]
    rows = {"SOP": "sop", "NSP, other topics": "nsp"}
    monkeypatch.setitem(experiment.profiles, "quick", tuple(Run(row, objective=kind, **SHORT) for row, kind in rows.items()))
    record = json.loads(run_experiment("table5", "quick", tmp_path, tmp_path, "auto").read_text())
    assert record["criterion"] == [str(part) for part in experiment.criterion] and record["settings"]["steps"] == 4
    assert record["verdict"] == "not at this scale", "one seed decides nothing"
    assert [run["row"] for run in record["runs"]] == list(rows) and record["provenance"]["seeds"] == [0]
    with pytest.raises(ValueError, match="no experiment 'table6'; there are"):
        run_experiment("table6", "quick", tmp_path, tmp_path)


def test_processes_of_their_own_give_the_same_numbers(tmp_path, monkeypatch):
    monkeypatch.undo()
    run = Run("SOP", **SHORT)
    (alone,) = sweep([run], order_cross, tmp_path / "processes", processes=1)
    (here,) = [order_cross(*run.train(), run)]
    assert {name: alone[name] for name in here} == here
