"""A sweep does each run once, goes on where it was left, and shares its folder."""

import dataclasses
import json

import pytest
import torch

from albert_edu import AlbertForPretraining
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.corpora import hold_out, load_corpus
from albert_edu.text.stories import STAGES
from albert_edu.training import pretrain as loop
from albert_edu.training.step import NonFiniteLoss
from albert_paper import measures
from albert_paper import sweep as module
from albert_paper.measures import (
    few_labels,
    layer_steps,
    order_cross,
    scores_branch,
    scores_third_domain,
)
from albert_paper.plan import NEW_PLAN, run_of_row
from albert_paper.stacking import start_from
from albert_paper.sweep import Run, recorded_run, sweep
from tests.paper.recompute import look_up
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
    monkeypatch.setattr(measures, "SILENCED", 1)
    monkeypatch.setattr(measures, "FAR", 40)


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
    monkeypatch.setattr(measures, "scores", lambda *_: {})
    monkeypatch.setattr(measures, "evaluate", lambda *_: {"sentence_order_accuracy": 0})
    monkeypatch.setattr(measures, "EXAMPLES", 40)
    with pytest.raises((NotImplementedError, RuntimeError), match="meta") as failed:
        measure(model.to("meta"), run.text(), run)
    for elsewhere in ("not on the expected device", "at least two devices"):
        assert elsewhere not in str(failed.value)


# Speeches name no topics.
@pytest.mark.parametrize(("corpus", "other"), [("stories", "topic"), ("sotu", "document")])
def test_the_order_cross_reads_three_tasks_in_three_ways(corpus, other, tmp_path, monkeypatch):
    read, real = [], measures.evaluate

    def evaluate(model, stream, batches):
        read.append((stream.objective, stream.negatives, stream.seed))
        return real(model, stream, batches)

    monkeypatch.setattr(measures, "evaluate", evaluate)
    (found,) = sweep([Run("SOP", **SHORT, corpus=corpus, seed=7)], order_cross, tmp_path)
    kinds = ("sop", "document"), ("nsp", "document"), ("nsp", other), ("none", "document")
    assert read == [(*kind, 1_000_007) for kind in kinds]
    for way in (found[name] for name in ("head", "probe", "probe_mean")):
        assert way.keys() == {"sop", "nsp-document", "nsp-topic"}
        assert all(0.2 < task["accuracy"] < 0.8 for task in way.values()), "hardly trained"


def test_a_row_says_where_it_departs_from_its_settings():
    row = {"H": 64, "L": 6, "chain": [1, 3], "dropout": 0.1, "then": {"steps": 20, "dropout": 0.0}}
    run = run_of_row("deep", seed=3, steps=60, learning_rate=1e-3, **row)
    assert (run.steps, run.seed, run.learning_rate) == (60, 3, 1e-3)
    assert run.grown == ((1, 60), (3, 60)), "each depth of a chain has all the steps"
    assert dict(run.config)["hidden_dropout"] == 0.1 and dict(run.config)["num_layers"] == 6
    assert dict(run.then) == {"steps": 20, "dropout": 0.0}


THEN = (("dropout", 0.0), ("steps", 3))


def test_a_run_of_one_stage_is_plain_pretraining_to_the_last_bit():
    run = Run("a", **SHORT, config=(("hidden_dropout", 0.5),))
    text = run.text()
    torch.manual_seed(0)
    plain = AlbertForPretraining(run.model_config(len(text.tokenizer)))
    history = loop.pretrain(plain, run.stream(text), run.settings(run.stages()[0]), device="cpu")
    model, _, _ = trained = run.train()
    curve = trained.curve
    steps, losses = history.column("masked_token_loss")
    assert same_bits(plain, model) and dict(curve) == pytest.approx(
        dict(zip(steps, losses, strict=True)), abs=1e-4
    )


def test_step_t_of_a_run_in_stages_reads_batch_t_at_whatever_depth_and_length(monkeypatch):
    read, real = [], PretrainingStream.batch

    def batch(stream, step):
        read.append(real(stream, step))
        return read[-1]

    monkeypatch.setattr(PretrainingStream, "batch", batch)
    run = Run("a", **SHORT, grown=((1, 2, 1e-3, 24), (1, 3)), then=THEN)
    model, text, _ = trained = run.train()
    monkeypatch.undo()
    assert model.config.hidden_dropout == model.config.attention_dropout == 0
    assert [step for step, _ in trained.curve] == [*range(1, 13)], "2 + 3 + 4 + 3, one curve"
    for step, found in enumerate(read):
        shape = {"batch_size": 5, "sequence_length": 24} if step < 2 else {}
        assert torch.equal(found.token_ids, run.stream(text, **shape).batch(step).token_ids)


def test_a_stage_starts_from_the_one_before_it():
    shallow = Run("a", **SHORT | {"steps": 2}, config=(("num_layers", 1), ("share", "none")))
    last = {"learning_rate": 0.0, "config": (("share", "none"),)}  # it moves nothing
    deep = dataclasses.replace(shallow, grown=((1, 2, shallow.learning_rate),), **last).train()[0]
    assert same_bits(deep, start_from(shallow.train()[0], deep.config))


@pytest.mark.parametrize("calls", [1, 4, 7, 10])
def test_a_run_interrupted_in_any_stage_ends_with_the_same_bits_and_curve(
    tmp_path, calls, monkeypatch
):
    run = Run("a", **SHORT, grown=((1, 3),), config=(("hidden_dropout", 0.1),), then=THEN)
    whole, steps, step = run.train(), [], loop.forward_backward
    settings = Run.settings

    def often(*of):
        return dataclasses.replace(settings(*of), checkpoint_every=1)

    def counted(*arguments):
        steps.append(1)
        if len(steps) == calls:
            raise KeyboardInterrupt
        return step(*arguments)

    monkeypatch.setattr(Run, "settings", often)
    monkeypatch.setattr(loop, "forward_backward", counted)
    with pytest.raises(KeyboardInterrupt):
        run.train(tmp_path)
    again = run.train(tmp_path)
    assert same_bits(whole.model, again.model) and again.curve == whole.curve
    assert len(steps) == 10 + 1, "finished steps are not repeated"


@pytest.mark.parametrize("measure", [layer_steps, few_labels, scores_third_domain])
def test_every_measure_gives_plain_numbers(measure, tmp_path, monkeypatch):
    monkeypatch.setattr(measures, "FINETUNED", {"steps": 4, "warmup_steps": 1})
    run = Run("a", **SHORT, config=(("num_layers", 5),), vocabulary="stories")
    (found,) = sweep([run], measure, tmp_path)
    assert json.loads(json.dumps(found)) == found and found["gap"] == pytest.approx(
        found["held_out_masked_token_loss"] - found["train_masked_token_loss"], abs=1e-3
    )
    assert found["gap"] == round(found["gap"], 4) and recorded_run(found) == run
    assert found["health"]["dead"] == ["attention", "feed-forward"], "hardly trained"
    assert found["never_learnt"] == 1.0
    assert [step for step, _ in found["training_curve"]] == [1, 2, 3, 4]
    if measure is layer_steps:
        a = found["angle_degrees"]
        mean_bend = (abs(a[1] - 2 * a[2] + a[3]) + abs(a[2] - 2 * a[3] + a[4])) / 2
        expected = pytest.approx((a[14], mean_bend), abs=1e-3)
        assert (found["later_angle"], found["roughness"]) == expected
        relative = mean_bend / (sum(a[1:5]) / 4)
        assert found["relative_roughness"] == pytest.approx(relative, abs=1e-3)
        assert found["angle_at"].keys() == {"12", "24", "36"}
        assert found["angle_at"]["12"] == pytest.approx(a[11], rel=0.2), "fewer rows"
        assert len(found["untrained"]["l2"]) == 5
    if measure is scores_third_domain:
        assert found["third"]["masked_token_loss"] > found["held_out_masked_token_loss"]
    if measure is few_labels:
        assert all(found[f"labels_{n}"]["accuracy"] > 0 for n in measures.LABELS)


def test_a_branch_reads_its_own_text_and_is_scored_on_a_third_beside_one_unigram(tmp_path):
    settings = SHORT | {"corpus": "sotu", "vocabulary": "sotu+imdb", "watch_every": 2}
    rows = {
        name: Run(name, **settings, watch="third_domain", then=(("corpus", name), ("steps", 2)))
        for name in ("sotu", "sotu+imdb")
    }
    kept, added = sweep([*rows.values()], scores_branch, tmp_path)
    assert [seen["step"] for seen in kept["watched"]] == [2, 4, 6]
    assert kept["watched"][1] == added["watched"][1], "one run until it branches"
    assert kept["watched"][2] != added["watched"][2]
    assert kept["copy_baseline"] == added["copy_baseline"], "both are held to the first text"
    third = kept["third"], added["third"]
    assert third[0]["unigram"] > third[1]["unigram"], "counting more text helps"
    sums = [found["below_unigram"] + found["masked_token_loss"] for found in third]
    assert sums[0] == pytest.approx(sums[1], abs=1e-3), "one unigram model for both"


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("order", "SOP"),
        ("labels", "SOP"),
        ("third", "reviews added"),
        ("cause", "AdamW 2e-3"),
        ("sharing", "all"),
        ("ratio", "BERT"),
    ],
)
def test_every_comparison_of_the_plan_reads_a_number_that_its_measure_gives(
    name, row, tmp_path, monkeypatch
):
    monkeypatch.setattr(measures, "FAR", 1000)
    monkeypatch.setattr(measures, "FINETUNED", {"steps": 2, "warmup_steps": 1})
    plan = NEW_PLAN[name]
    settings = plan["settings"] | SHORT | {"watch_every": 2}
    run = run_of_row(row, 30, **(settings | plan["rows"][row]))
    if run.then:
        run = dataclasses.replace(run, then=(("corpus", "sotu"), ("steps", 2)))
    (found,) = sweep([run], getattr(measures, plan["measure"]), tmp_path)
    assert bool(found.get("watched")) == ("watch" in plan["settings"])
    for claim in plan["claims"].values():
        for text in (*claim["criterion"], *claim.get("control", ()), *claim.get("also", ())):
            assert isinstance(look_up(found, text.split(":")[0]), int | float), text


def test_an_area_under_the_curve_does_not_depend_on_where_the_head_draws_the_line(monkeypatch):
    run = Run("a", **SHORT)
    text = run.text()
    torch.manual_seed(0)
    model = AlbertForPretraining(run.model_config(len(text.tokenizer)))
    found = []
    for shift in (0.0, 50.0):
        with torch.no_grad():
            model.sentence_order_head.bias[0] += shift
        found.append(measures.head_curve(model, run.stream(text, held_out=True, batch_size=64)))
    assert found[0]["auc"] == pytest.approx(found[1]["auc"], abs=0.02)
    assert (found[1]["recall_in_order"], found[1]["recall_other"]) == (1.0, 0.0)


def test_what_is_watched_goes_on_after_an_interruption(tmp_path, monkeypatch):
    run = Run("a", **SHORT, watch="held_out_scores", watch_every=2)
    whole = run.train()
    real, calls = measures.held_out_scores, []

    def interrupted(*of):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*of)

    settings = Run.settings
    monkeypatch.setattr(measures, "held_out_scores", interrupted)
    monkeypatch.setattr(
        Run, "settings", lambda *of: dataclasses.replace(settings(*of), checkpoint_every=1)
    )
    with pytest.raises(KeyboardInterrupt):
        run.train(tmp_path)
    again = run.train(tmp_path)
    assert again.watched == whole.watched and len(again.watched) == 2
    assert again.total("cpu_seconds") > 0


def test_two_sentences_of_a_story_follow_each_other_or_leave_something_out_as_the_label_says():
    world, seen = "stories:num_documents=60,num_scripts=12", set()
    split, parts = measures.story_gap(world, 400, 0), hold_out(load_corpus(world))
    assert split == measures.story_gap(world, 400, 0) != measures.story_gap(world, 400, 99)
    assert tuple(map(len, split)) == (300, 100)
    for examples, stories in zip(split, parts, strict=True):
        for first, second, label in examples:
            assert any({first, second} <= {*document} for document in stories["sentences"])
            verbs = (text.split()[1] for text in (first, second))
            i, j = (next(n for n, stage in enumerate(STAGES) if verb in stage) for verb in verbs)
            seen.add((i, j, label))
    assert seen == {(i, j, int(j > i + 1)) for i in range(6) for j in range(i + 1, 6)}
    # Half, within three standard deviations.
    assert 170 < sum(example.label for part in split for example in part) < 230


def test_few_labels_learn_from_just_so_many_with_the_seed_of_the_run(monkeypatch):
    told = []

    def learn(task, few, settings):
        told.append((len(few), settings.seed, task.head.weight.sum().item()))

    monkeypatch.setattr(measures, "finetune", learn)
    for seed in (3, 4):
        run = Run("a", **SHORT, seed=seed, corpus="stories")
        few_labels(AlbertForPretraining(run.model_config(190)), run.text(), run)
    heads = [head for *_, head in told]
    assert [each[:2] for each in told] == [(n, seed) for seed in (3, 4) for n in (50, 200)]
    assert heads[0] == heads[1] != heads[2] == heads[3]


def test_processes_of_their_own_give_the_same_numbers(tmp_path, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("ALBERT_EDU_PROCESSES", "1")
    run = Run("SOP", **SHORT)
    (alone,) = sweep([run], order_cross, tmp_path / "processes")
    monkeypatch.setattr(module, "run_all", run_here)
    (here,) = sweep([run], order_cross, tmp_path / "here")
    untimed = {"training_seconds": 0, "cpu_seconds": 0}
    assert alone | untimed == here | untimed
