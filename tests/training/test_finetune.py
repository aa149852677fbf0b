"""Fine-tuning: repeatable, frozen where it says so, able to learn, and scored as the benchmarks score."""

import copy
import json

import numpy as np
import pytest
import torch

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import Albert, AlbertForPretraining
from albert_edu.model.interchange import save_pretrained
from albert_edu.model.task_heads import AlbertForClassification, AlbertForSpan
from albert_edu.paper.published import TABLES
from albert_edu.paper.recipes import recipe
from albert_edu.text.task_files import SpanExample, encode_spans
from albert_edu.text.tasks import encode_pairs, story_topic
from albert_edu.training import finetune as module
from albert_edu.training.checkpoint import CheckpointError
from albert_edu.training.finetune import FinetuneSettings, batch_rows, finetune, squad_scores, task_scores
from albert_edu.training.metrics import f1, label_scores, majority_scores, pearson, score_report, spearman, squad_score, word_f1
from albert_edu.training.task_model import make_ready


@pytest.fixture(scope="module")
def topics(story_text):
    return [encode_pairs(part, story_text.tokenizer, 32) for part in story_topic(examples=800)]


@pytest.fixture
def tiny_model(story_text) -> AlbertForPretraining:
    return AlbertForPretraining(AlbertConfig.named("albert-tiny", vocab_size=len(story_text.tokenizer)))


@pytest.fixture
def model() -> AlbertForClassification:
    return AlbertForClassification(Albert(AlbertConfig.named("albert-tiny", vocab_size=200)), 12)


def test_it_learns_the_topic_of_a_sentence(model, topics):
    before = task_scores(model, topics[1])["accuracy"]
    after = finetune(model, *topics, FinetuneSettings(steps=120, learning_rate=2e-3, warmup_steps=12))
    assert before < 0.3 < 0.6 < after["accuracy"] and set(after) == {"accuracy"}


def test_the_same_seed_gives_the_same_bits_and_the_callers_random_state_stays(model, topics):
    twin, other = copy.deepcopy(model), copy.deepcopy(model)
    before = torch.random.get_rng_state()
    finetune(model, *topics, FinetuneSettings(steps=3, dropout=0.1))
    assert torch.equal(before, torch.random.get_rng_state())
    torch.rand(7)
    finetune(twin, *topics, FinetuneSettings(steps=3, dropout=0.1))
    finetune(other, *topics, FinetuneSettings(steps=3, dropout=0.1, seed=1))
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters(), strict=True))
    assert not torch.equal(model.head.weight, other.head.weight)


def test_frozen_trains_the_head_and_nothing_else(model, topics):
    before = copy.deepcopy(model.state_dict())
    finetune(model, *topics, FinetuneSettings(steps=3, frozen=True, dropout=0.1))
    changed = {name for name, tensor in model.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed == {"head.weight", "head.bias"} and all(p.requires_grad for p in model.parameters())


def test_an_epoch_is_every_example_once_and_a_step_needs_no_other_step():
    rows = torch.cat([batch_rows(10, 4, seed=0, step=step) for step in range(5)])
    assert sorted(rows[:10].tolist()) == sorted(rows[10:].tolist()) == list(range(10))
    assert rows[:10].tolist() != rows[10:].tolist()


@pytest.mark.parametrize("wrong", [dict(batch_size=0), dict(dropout=1.0), dict(warmup_steps=9), dict(learning_rate=1e30)])
def test_wrong_settings_and_a_loss_that_explodes_are_refused(model, topics, wrong):
    with pytest.raises((ValueError, RuntimeError), match=r"batch_size|dropout|warmup_steps|not finite"):
        finetune(model, *topics, FinetuneSettings(**{"steps": 4} | wrong))


def weights(model) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in model.parameters()]


def same_bits(one, other) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("frozen", [False, True])
def test_a_run_that_was_interrupted_ends_with_the_bits_of_one_that_was_not(model, topics, tmp_path, frozen, monkeypatch):
    settings = FinetuneSettings(9, dropout=0.1, evaluate_every=2, frozen=frozen, keep_best=True)
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
        finetune(model, *topics, FinetuneSettings(**(vars(settings) | {"seed": 1})), tmp_path / "whole", dev)


def test_the_best_weights_by_the_dev_score_are_kept(model, topics, tmp_path, monkeypatch):
    scores = iter([0.2, 0.9, 0.5])
    steps, seen = [], {}
    monkeypatch.setattr(module, "dev_score", lambda model, dev: seen.setdefault(score := next(scores), weights(model)) and score)
    settings = FinetuneSettings(6, learning_rate=2e-3, keep_best=True, evaluate_every=2)
    finetune(model, *topics, settings, tmp_path, topics[1])
    assert same_bits(weights(model), seen[0.9]) and not same_bits(seen[0.9], seen[0.5]), steps
    with pytest.raises(ValueError, match="keep_best needs dev examples"):
        finetune(model, *topics, settings)


def test_the_models_own_dropout_comes_back(model, topics):
    model.albert.embeddings.dropout.p = 0.3
    finetune(model, *topics, FinetuneSettings(steps=1, dropout=0.1))
    assert model.albert.embeddings.dropout.p == 0.3
    assert {block.attention_dropout for block in model.albert.encoder.attention} == {0.0}


def test_the_scores_are_those_of_scikit_learn():
    metrics, rng = pytest.importorskip("sklearn.metrics"), np.random.default_rng(0)
    for labels, predictions in [(rng.integers(0, 2, 50), rng.integers(0, 2, 50)) for _ in range(5)]:
        scores = label_scores(torch.from_numpy(predictions), torch.from_numpy(labels))
        assert scores == pytest.approx({
            "accuracy": metrics.accuracy_score(labels, predictions), "f1": metrics.f1_score(labels, predictions),
            "matthews": metrics.matthews_corrcoef(labels, predictions)})  # fmt: skip
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
    report = score_report({"accuracy": 0.25}, baseline, torch.tensor([0, 0, 0, 0]), ["bad", "good"])
    assert report.splitlines() == ["accuracy: 0.250 (majority baseline: 0.750)",
                                   "The model gives the same answer, bad, to all 4 test examples."]  # fmt: skip


@pytest.mark.parametrize(("answer", "gold", "score"), [
    ("the", ["...", "oven"], (0, 0)),  # the first gold answer normalises to nothing and does not count
    ("", ["the"], (1, 1)),  # then none is left, and the empty answer is wanted
    ("", [], (1, 1)),
    ("old oven", ["an oven."], (0, 2 / 3)),
])  # fmt: skip
def test_a_squad_answer_is_scored_as_by_the_official_script(answer, gold, score):
    assert squad_score(answer, gold) == pytest.approx(score)


def test_squad_scores_compare_texts_and_count_skipped_questions(story_text):
    context = "anna bought the oven. ben opened the door."
    examples = [SpanExample("a", "who", context, ("oven", "the oven"), context.index("oven")), SpanExample("b", "who", context, ())]
    spans = encode_spans(examples, story_text.tokenizer, 64)._replace(skipped=2)
    model = AlbertForSpan(Albert(AlbertConfig.named("albert-tiny", vocab_size=200)))
    model.predict = lambda batch: batch.labels
    assert squad_scores(model, spans) == {"exact_match": 0.5, "f1": 0.5}
    assert word_f1("", "") == 1 and word_f1("oven", "") == 0 and word_f1("old oven", "an oven.") == pytest.approx(2 / 3)


def test_a_span_model_learns_to_point(story_text):
    names = ("anna", "ben", "carla", "david")
    texts = [f"{a} bought the oven. {b} opened the door." for a in names for b in names]
    examples = [SpanExample("", "who opened", text, (text.split(". ")[1].split()[0],), text.index(". ") + 2) for text in texts]
    spans = encode_spans(examples, story_text.tokenizer, 32)
    model = AlbertForSpan(Albert(AlbertConfig.named("albert-tiny", vocab_size=200)))
    finetune(model, spans.data, spans.data, FinetuneSettings(steps=60, learning_rate=2e-3, batch_size=16))
    assert squad_scores(model, spans)["exact_match"] > 0.9


def test_the_recipe_is_table_14s():
    for task in TABLES["14"].column("task"):
        assert 0 < recipe(task).warmup_steps < recipe(task).steps
    assert (recipe("RACE").dropout, recipe("SST-2").batch_size) == (0.1, 32)


def test_the_command_line_fine_tunes_a_folder_on_a_file(tmp_path, story_text, tiny_model, capsys):
    from albert_edu.cli import main

    save_pretrained(tiny_model, story_text.tokenizer, tmp_path / "model")
    (tmp_path / "train.tsv").write_text("sentence\tlabel\n" + "anna praised the cake.\t1\nben moved the box.\t0\n" * 8)
    data = str(tmp_path / "train.tsv")
    command = ["finetune", "--model", str(tmp_path / "model"), "--steps", "3", "--batch-size", "4", "--task"]
    assert main([*command, "SST-2", "--data", data, data]) == 0
    assert "accuracy: " in capsys.readouterr().out
    assert main([*command, "story-gap", "--frozen"]) == 0
    question = {"id": "a", "question": "who", "answers": [{"text": "anna", "answer_start": 0}]}
    article = {"data": [{"paragraphs": [{"context": "anna praised the cake.", "qas": [question]}]}]}
    (tmp_path / "squad.json").write_text(json.dumps(article))
    assert main([*command, "SQuAD", "--data", *[str(tmp_path / "squad.json")] * 2]) == 0
    assert "exact_match: " in capsys.readouterr().out
    exam = {"article": "anna praised it.", "questions": ["who"], "options": [["anna", "ben", "ida", "leo"]], "answers": ["A"]}
    (tmp_path / "1.txt").write_text(json.dumps(exam))
    assert main([*command, "RACE", "--data", str(tmp_path), str(tmp_path)]) == 0
    for wrong, message in ((["SST-2"], "give --data TRAIN TEST"), (["story-gap", "--data", data, data], "needs no --data"),
                           (["MNLI", "--data", data, data], "has no column 'sentence1'"),
                           (["story-gap", "--sequence-length", "999"], "more than the 128 positions")):  # fmt: skip
        assert main([*command, *wrong]) == 2
        assert message in capsys.readouterr().err


def tsv(path, *labels) -> str:
    path.write_text("sentence\tlabel\n" + "".join(f"anna praised the cake.\t{label}\n" for label in labels))
    return str(path)


def test_training_examples_of_one_class_are_refused_and_a_missing_class_is_named(tmp_path, story_text, tiny_model):
    test = tsv(tmp_path / "test.tsv", 0, 1)
    with pytest.raises(ValueError, match="all 3 training examples of SST-2 have the label '0'"):
        make_ready(tiny_model, story_text.tokenizer, "SST-2", [tsv(tmp_path / "train.tsv", 0, 0, 0), test])
    lines = "".join(f"0\tx\t\t\t\t\t\t\ta\tb\tc\t{label}\n" for label in ("neutral", "entailment"))
    (tmp_path / "mnli.tsv").write_text("\t".join("abcdefgh") + "\tsentence1\tsentence2\tx\tgold_label\n" + lines)
    with pytest.warns(UserWarning, match="no training example of MNLI has the label contradiction"):
        ready = make_ready(tiny_model, story_text.tokenizer, "MNLI", [tmp_path / "mnli.tsv"] * 2)
    assert ready.model.head.out_features == 3


def test_a_fine_tuned_folder_keeps_everything_and_predicts(tmp_path, story_text, tiny_model, capsys):
    from albert_edu.cli import main

    save_pretrained(tiny_model, story_text.tokenizer, tmp_path / "model")
    data, out = tsv(tmp_path / "train.tsv", *[0, 1] * 10), tmp_path / "out"
    command = ["finetune", "--model", str(tmp_path / "model"), "--steps", "4", "--batch-size", "4", "--task", "SST-2",
               "--data", data, data, "--out", str(out), "--evaluate-every", "2", "--keep-best"]  # fmt: skip
    assert main(command) == 0 and "accuracy: 0.500 (majority baseline: 0.500)" in capsys.readouterr().out
    record = json.loads((out / "finetune.json").read_text())
    assert record["label_names"] == ["0", "1"] and record["scores"]["accuracy"] == 0.5 and record["settings"]["steps"] == 4
    predictions = json.loads((out / "predictions.json").read_text())
    (tmp_path / "lines.txt").write_text("anna praised the cake.\n" * 2)
    assert main(["predict", "--model", str(out), str(tmp_path / "lines.txt")]) == 0
    assert capsys.readouterr().out.split() == predictions[:2]
    before = (out / "model.safetensors").read_bytes()
    assert main(command) == 0 and (out / "model.safetensors").read_bytes() == before  # it has nothing left to do
    command[command.index("--out") + 1] = str(tmp_path / "model")
    assert main(command) == 2 and "holds a finished model" in capsys.readouterr().err
    assert main(["predict", "--model", str(tmp_path / "model"), str(tmp_path / "lines.txt")]) == 2
