"""Fine-tuning: repeatable, frozen where it says so, able to learn, and scored as the benchmarks score."""

import copy
import json

import numpy as np
import pytest
import torch

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import Albert
from albert_edu.model.interchange import save_pretrained
from albert_edu.model.task_heads import AlbertForClassification, AlbertForSpan
from albert_edu.paper.published import TABLES
from albert_edu.paper.recipes import recipe
from albert_edu.text.task_files import SpanExample, encode_spans
from albert_edu.text.tasks import encode_pairs, story_topic
from albert_edu.training.finetune import FinetuneSettings, batch_rows, finetune, squad_scores, task_scores, word_f1


@pytest.fixture(scope="module")
def topics(story_text):
    return [encode_pairs(part, story_text.tokenizer, 32) for part in story_topic(examples=800)]


@pytest.fixture
def model() -> AlbertForClassification:
    return AlbertForClassification(Albert(AlbertConfig.named("albert-tiny", vocab_size=200)), 12)


def test_it_learns_the_topic_of_a_sentence(model, topics):
    before = task_scores(model, topics[1])["accuracy"]
    after = finetune(model, *topics, FinetuneSettings(steps=120, learning_rate=2e-3, warmup_steps=12))
    assert before < 0.3 < 0.6 < after["accuracy"] and "correlation" not in after


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
    with pytest.raises((ValueError, RuntimeError), match=r"batch_size|warmup_steps|not finite"):
        finetune(model, *topics, FinetuneSettings(**{"steps": 4} | wrong))


def test_the_correlation_of_two_classes_is_matthews(model, topics):
    binary = topics[1].rows(topics[1].labels < 2)
    two = AlbertForClassification(model.albert, 2)
    torch.nn.init.normal_(two.head.weight, std=3.0)
    guess, truth = two.eval().predict(binary).numpy(), binary.labels.numpy()
    tp, tn, fp, fn = (np.sum((guess == g) & (truth == t)) for g, t in ((1, 1), (0, 0), (1, 0), (0, 1)))
    root = np.sqrt(float((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))
    assert task_scores(two, binary)["correlation"] == pytest.approx((tp * tn - fp * fn) / root if root else 0.0)


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
