"""Fine-tuning: repeatable, frozen where it says so, able to learn, and scored as the benchmarks score."""

import collections
import copy
import json
import re
import string
from dataclasses import replace

import numpy as np
import pytest
import torch

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import Albert, AlbertForPretraining
from albert_edu.model.interchange import save_pretrained
from albert_edu.model.task_heads import AlbertForClassification, AlbertForSpan
from albert_edu.text.masking import IGNORE
from albert_edu.text.task_files import SpanExample, encode_spans
from albert_edu.text.tasks import encode_pairs, story_topic
from albert_edu.training import finetune as module
from albert_edu.training.checkpoint import CheckpointError
from albert_edu.training.finetune import (
    FinetuneSettings,
    answers_to,
    batch_rows,
    finetune,
    task_scores,
)
from albert_edu.training.metrics import (
    f1,
    label_scores,
    majority_scores,
    pearson,
    score_report,
    spearman,
    squad_scores,
)
from albert_edu.training.task_model import make_ready
from tests.support import main, same_bits, weights


@pytest.fixture(scope="module")
def topics(story_text):
    return [encode_pairs(part, story_text.tokenizer, 32) for part in story_topic(examples=800)]


@pytest.fixture
def tiny_model(story_text) -> AlbertForPretraining:
    return AlbertForPretraining(
        AlbertConfig.named("albert-tiny", vocab_size=len(story_text.tokenizer))
    )


@pytest.fixture
def model() -> AlbertForClassification:
    return AlbertForClassification(Albert(AlbertConfig.named("albert-tiny", vocab_size=200)), 12)


@pytest.mark.slow
def test_it_learns_the_topic_of_a_sentence(model, topics):
    before = task_scores(model, topics[1])["accuracy"]
    after = finetune(
        model, *topics, FinetuneSettings(steps=120, learning_rate=2e-3, warmup_steps=12)
    )
    assert before < 0.3 < 0.6 < after["accuracy"] and set(after) == {"accuracy"}


def test_the_same_seed_gives_the_same_bits_and_the_callers_random_state_stays(model, topics):
    twin, other = copy.deepcopy(model), copy.deepcopy(model)
    before = torch.random.get_rng_state()
    finetune(model, *topics, FinetuneSettings(steps=3, dropout=0.1))
    assert torch.equal(before, torch.random.get_rng_state())
    torch.rand(7)
    finetune(twin, *topics, FinetuneSettings(steps=3, dropout=0.1))
    finetune(other, *topics, FinetuneSettings(steps=3, dropout=0.1, seed=1))
    assert all(
        torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters(), strict=True)
    )
    assert not torch.equal(model.head.weight, other.head.weight)


def test_frozen_trains_the_head_and_nothing_else(model, topics):
    before = copy.deepcopy(model.state_dict())
    finetune(model, *topics, FinetuneSettings(steps=3, frozen=True, dropout=0.1))
    changed = {
        name for name, tensor in model.state_dict().items() if not torch.equal(tensor, before[name])
    }
    assert changed == {"head.weight", "head.bias"} and all(
        p.requires_grad for p in model.parameters()
    )


def test_an_epoch_is_every_example_once_and_a_step_needs_no_other_step():
    rows = torch.cat([batch_rows(10, 4, seed=0, step=step) for step in range(5)])
    assert sorted(rows[:10].tolist()) == sorted(rows[10:].tolist()) == list(range(10))
    assert rows[:10].tolist() != rows[10:].tolist()


@pytest.mark.parametrize(
    "wrong", [dict(batch_size=0), dict(dropout=1.0), dict(warmup_steps=9), dict(learning_rate=1e30)]
)
def test_wrong_settings_and_a_loss_that_explodes_are_refused(model, topics, wrong):
    with pytest.raises(
        (ValueError, RuntimeError), match=r"batch_size|dropout|warmup_steps|not finite"
    ):
        finetune(model, *topics, FinetuneSettings(**{"steps": 4} | wrong))


@pytest.mark.parametrize("frozen", [False, True])
def test_a_run_that_was_interrupted_ends_with_the_bits_of_one_that_was_not(
    model, topics, tmp_path, frozen, monkeypatch
):
    settings = FinetuneSettings(
        9, dropout=0.1, evaluate_every=2, frozen=frozen, keep_best="accuracy"
    )
    copies = [copy.deepcopy(model) for _ in range(3)]
    dev, batch_rows = topics[1].rows(slice(100)), module.batch_rows
    finetune(copies[0], *topics, settings, tmp_path / "whole", dev)

    def until_step_5(count, size, seed, step):
        if step == 5:
            raise KeyboardInterrupt
        return batch_rows(count, size, seed, step)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(module, "batch_rows", until_step_5)
        finetune(copies[1], *topics, settings, tmp_path / "stopped", dev)
    finetune(copies[2], *topics, settings, tmp_path / "stopped", dev)
    assert same_bits(weights(copies[0]), weights(copies[2]))
    with pytest.raises(CheckpointError, match="belongs to another run: seed was 0, is 1"):
        finetune(
            model,
            *topics,
            FinetuneSettings(**(vars(settings) | {"seed": 1})),
            tmp_path / "whole",
            dev,
        )


def test_the_best_weights_by_the_dev_score_are_kept(model, topics, tmp_path, monkeypatch):
    scores, seen = iter([0.2, 0.9, 0.5]), {}

    def score(model, dev):
        seen[value := next(scores)] = weights(model)
        return {"f1": -value, "accuracy": value}

    monkeypatch.setattr(module, "task_scores", score)
    settings = FinetuneSettings(6, learning_rate=2e-3, keep_best="accuracy", evaluate_every=2)
    finetune(model, topics[0], None, settings, tmp_path, topics[1])
    assert same_bits(weights(model), seen[0.9]) and not same_bits(seen[0.9], seen[0.5])
    for wrong, dev, message in (
        (settings, None, "keep_best needs dev examples"),
        (replace(settings, keep_best="matthews"), topics[1], r"and a score: accuracy\.$"),
    ):
        with pytest.raises(ValueError, match=message):
            finetune(model, *topics, wrong, tmp_path / "new", dev)


def test_the_models_own_dropout_comes_back(model, topics):
    model.albert.embeddings.dropout.p = 0.3
    finetune(model, *topics, FinetuneSettings(steps=1, dropout=0.1))
    assert model.albert.embeddings.dropout.p == 0.3
    assert {block.attention_dropout for block in model.albert.encoder.attention} == {0.0}


def test_the_scores_are_those_of_scikit_learn():
    metrics, rng = pytest.importorskip("sklearn.metrics"), np.random.default_rng(0)
    for labels, predictions in [(rng.integers(0, 2, 50), rng.integers(0, 2, 50)) for _ in range(5)]:
        scores = label_scores(torch.from_numpy(predictions), torch.from_numpy(labels))
        assert scores == pytest.approx(
            {
                "accuracy": metrics.accuracy_score(labels, predictions),
                "f1": metrics.f1_score(labels, predictions),
                "matthews": metrics.matthews_corrcoef(labels, predictions),
            }
        )
    stats = pytest.importorskip("scipy.stats")
    labels, predictions = rng.integers(0, 6, 50).astype(float), rng.normal(size=50).round(1)
    assert pearson(predictions, labels) == pytest.approx(stats.pearsonr(predictions, labels)[0])
    assert spearman(predictions, labels) == pytest.approx(stats.spearmanr(predictions, labels)[0])
    constant = np.zeros(50)
    assert pearson(constant, labels) == spearman(constant, labels) == f1(constant, constant) == 0


def test_a_score_stands_beside_the_majority_baseline_and_a_one_class_model_is_called_that():
    train, test = torch.tensor([1, 1, 0]), torch.tensor([1, 0, 1, 1])
    baseline = majority_scores(train, test)
    assert baseline["accuracy"] == 0.75 and baseline["matthews"] == 0
    report = score_report({"accuracy": 0.25}, baseline, ["bad"] * 4)
    assert report.splitlines() == [
        "accuracy: 0.250 (majority baseline: 0.750)",
        "The model gives the same answer, 'bad', to all 4 test examples.",
    ]


def published_score(answer: str, gold: list[str]) -> tuple[float, float]:
    """The rules of SQuAD 2.0's evaluation script for one question, written down again."""

    def tokens(text: str) -> list[str]:
        text = "".join(c for c in text.lower() if c not in set(string.punctuation))
        return re.sub(r"\b(a|an|the)\b", " ", text).split()

    def overlap(ours: list[str], theirs: list[str]) -> float:
        same = sum((collections.Counter(ours) & collections.Counter(theirs)).values())
        if not same:
            return float(ours == theirs)
        precision, recall = same / len(ours), same / len(theirs)
        return 2 * precision * recall / (precision + recall)

    truths = [tokens(text) for text in gold if tokens(text)] or [[]]
    return float(tokens(answer) in truths), max(overlap(tokens(answer), truth) for truth in truths)


def test_squad_scores_are_the_means_of_the_published_rules():
    rng, words = (
        np.random.default_rng(0),
        ["the", "A", "an", "oven", "Oven's", "1,859", "...", "old", ""],
    )
    texts = [" ".join(rng.choice(words, rng.integers(4))) for _ in range(400)]
    questions = [(texts[i], texts[-i : -i + i % 4]) for i in range(4, 300)]
    questions += [
        ("the", ["...", "oven"]),
        ("", ["the"]),
    ]  # what normalises to nothing does not count, unless nothing else is left
    for part in (*([question] for question in questions), questions):
        exact, f1 = np.mean([published_score(*question) for question in part], 0)
        assert squad_scores(*zip(*part, strict=True)) == pytest.approx(
            {"exact_match": exact, "f1": f1}
        )


def test_the_best_span_over_all_windows_answers_a_question(story_text):
    context = (
        "anna bought the oven. ben opened the door. carla cut the cake. david sang at home. " * 2
    )
    examples = [
        SpanExample("", "who", context, (answer,), context.index(answer))
        for answer in ("oven", "cake")
    ]
    spans = encode_spans([*examples, examples[0]._replace(answers=())], story_text.tokenizer, 24)
    model = AlbertForSpan(Albert(AlbertConfig.named("albert-tiny", vocab_size=200)))
    holds_it = (
        spans.data.labels != IGNORE
    )  # a later window has the higher score, and those without the answer say so
    places = spans.data.labels.where(holds_it, spans.data.segment_ids.argmax(1, keepdim=True))
    scores = torch.stack([torch.arange(len(places)), 0.5 - holds_it[:, 0].int()], 1)
    model.predict = lambda batch: torch.cat([places, scores], 1)
    assert len(places) > 6 and answers_to(model, spans) == ["oven", "cake", ""]
    assert task_scores(model, spans) == {"exact_match": 1, "f1": 1}
    start, end = spans.characters[-1][
        0
    ]  # where every question has an answer, the scores alone decide
    assert answers_to(model, spans._replace(unanswerable=False))[2] == context[start:end]


def test_a_span_model_learns_to_point(story_text):
    names = ("anna", "ben", "carla", "david")
    texts = [f"{a} bought the oven. {b} opened the door." for a in names for b in names]
    examples = [
        SpanExample("", "who opened", text, (text.split(". ")[1].split()[0],), text.index(". ") + 2)
        for text in texts
    ]
    spans = encode_spans(examples, story_text.tokenizer, 32)
    model = AlbertForSpan(Albert(AlbertConfig.named("albert-tiny", vocab_size=200)))
    scores = finetune(
        model, spans.data, spans, FinetuneSettings(steps=60, learning_rate=2e-3, batch_size=16)
    )
    assert scores["exact_match"] > 0.9


def tsv(path, *labels) -> str:
    path.write_text(
        "sentence\tlabel\n" + "".join(f"anna praised the cake.\t{label}\n" for label in labels)
    )
    return str(path)


@pytest.fixture
def files(tmp_path, story_text, tiny_model) -> dict[str, str]:
    """A model, and for each kind of task a file or a folder to learn from."""
    save_pretrained(tiny_model, story_text.tokenizer, tmp_path / "model")
    question = {"question": "who", "answers": [{"text": "anna", "answer_start": 0}]}
    paragraph = {
        "context": "anna praised\nthe cake. " * 30,
        "qas": [question | {"id": str(i)} for i in range(3)],
    }
    exam = {
        "article": "anna sang.",
        "questions": ["who"] * 3,
        "options": [["anna", "ben", "ida", "leo"]] * 3,
        "answers": "ABC",
    }
    (tmp_path / "squad.json").write_text(json.dumps({"data": [{"paragraphs": [paragraph]}]}))
    (tmp_path / "exam.txt").write_text(json.dumps(exam))
    (tmp_path / "pairs.tsv").write_text(
        "sentence1\tsentence2\tscore\n" + "anna sang.\tben\t1\nben\tanna sang.\t4.5\n" * 8
    )
    return {
        "model": str(tmp_path / "model"),
        "CoLA": tsv(tmp_path / "train.tsv", *[0, 1] * 10),
        "RACE": str(tmp_path / "exam.txt"),
        "squad_v2": str(tmp_path / "squad.json"),
        "STS-B": str(tmp_path / "pairs.tsv"),
    }


@pytest.mark.parametrize(
    ("task", "score"),
    [("CoLA", "matthews"), ("STS-B", "pearson"), ("squad_v2", "f1"), ("RACE", "accuracy")],
)
def test_a_fine_tuned_folder_keeps_everything_and_predicts(files, tmp_path, task, score, capsys):
    out, data = tmp_path / "out", files[task]
    command = [
        "finetune",
        "--model",
        files["model"],
        "--steps",
        "4",
        "--batch-size",
        "4",
        "--sequence-length",
        "32",
        "--task",
        task,
        "--data",
        data,
        data,
        "--out",
        str(out),
        "--evaluate-every",
        "2",
        "--keep-best",
    ]
    assert main(command) == 0
    record, printed = json.loads((out / "finetune.json").read_text()), capsys.readouterr().out
    assert record["settings"]["keep_best"] == score
    for name, score in record["scores"].items():
        assert (
            f"{name}: {score:.3f} (majority baseline: {record['majority_baseline'][name]:.3f})"
            in printed
        )
    before = (out / "model.safetensors").read_bytes()
    assert (
        main(command) == 0 and (out / "model.safetensors").read_bytes() == before
    )  # it has nothing left to do
    assert capsys.readouterr() and main(["predict", "--model", str(out), data]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    predictions = json.loads((out / "predictions.json").read_text())
    if task == "squad_v2":
        assert dict(lines) == {
            name: " ".join(answer.split()) for name, answer in predictions.items()
        }  # one line each
        assert all(predictions.values()) and "\n" in "".join(
            predictions.values()
        )  # no question of TRAIN lacks an answer
    else:
        assert [line[0] for line in lines] == [
            p if isinstance(p, str) else f"{p:.3f}" for p in predictions
        ]
    assert (
        task != "RACE"
        or lines[0][1] == "who " + ("anna", "ben", "ida", "leo")["ABCD".index(predictions[0])]
    )


def test_a_fine_tuned_folder_answers_lines_and_what_does_not_fit_the_task_is_one_sentence(
    files, tmp_path, capsys
):
    (tmp_path / "lines").write_text("anna praised the cake.\nben moved the box.\n")
    command, data, out = (
        ["finetune", "--model", files["model"], "--steps", "3", "--task"],
        files["CoLA"],
        str(tmp_path / "out"),
    )
    assert (
        main([*command, "SST-2", "--data", data, data, "--out", out]) == 0 and capsys.readouterr()
    )
    assert main(["predict", "--model", out, str(tmp_path / "lines")]) == 0
    assert set(capsys.readouterr().out.split()) <= {"0", "1"}
    (tmp_path / "lines").write_text("anna praised the cake.\tben moved the box.\n")
    for wrong, message in (
        ([*command, "SST-2"], "needs --data"),
        ([*command, "story-gap", "--data", "x", "x"], "needs no"),
        ([*command, "MNLI", "--data", data, data], "has no column 'sentence1"),
        (
            [*command, "story-gap", "--sequence-length", "999"],
            "a whole number from 8 to 128, got 999",
        ),
        (
            [*command, "sst2", "--data", data, data, "--out", files["model"]],
            "holds a finished model",
        ),
        (["predict", "--model", files["model"], data], "has no finetune.json"),
        (["predict", "--model", out, str(tmp_path / "lines")], "line 1 has ['anna praised"),
    ):
        assert main(wrong) == 2 and message in capsys.readouterr().err
    (tmp_path / "out" / "spiece.model").unlink()
    assert (
        main(["predict", "--model", out, data]) == 2
        and "has no tokenizer" in capsys.readouterr().err
    )
    for damaged in ("{", "[]", "{}", '{"task": 3}'):
        (tmp_path / "out" / "finetune.json").write_text(damaged)
        assert (
            main(["predict", "--model", out, data]) == 2
            and "finetune.json" in capsys.readouterr().err
        )


def test_training_examples_of_one_class_are_refused_and_a_missing_class_is_named(
    tmp_path, story_text, tiny_model
):
    test = tsv(tmp_path / "test.tsv", 0, 1)
    for labels, message in (
        ((0, 0, 0), "all 3 training examples of SST-2 have the label '0'"),
        ((), "has no examples"),
    ):
        with pytest.raises(ValueError, match=message):
            make_ready(
                tiny_model,
                story_text.tokenizer,
                "SST-2",
                [tsv(tmp_path / "train.tsv", *labels), test],
            )
    few = [tsv(tmp_path / "few.tsv", 0, 1, 0, 1), test]
    assert (
        len(make_ready(tiny_model, story_text.tokenizer, "SST-2", few, hold_out=True).dev) == 1
    )  # of less than ten examples
    (tmp_path / "mnli.tsv").write_text(
        "sentence1\tsentence2\tgold_label\na\tb\tneutral\na\tb\tentailment\n"
    )
    with pytest.warns(UserWarning, match="no training example of MNLI has the label contradiction"):
        ready = make_ready(tiny_model, story_text.tokenizer, "MNLI", [tmp_path / "mnli.tsv"] * 2)
    assert ready.model.head.out_features == 3
