"""Fine-tuning: repeatable, able to learn, and scored as the benchmarks score."""

import copy
import json
import re

import numpy as np
import pytest
import torch
import transformers
from torch.optim.optimizer import register_optimizer_step_pre_hook

from albert_edu.batch import IGNORE, TaskData
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import Albert, AlbertForPretraining
from albert_edu.model.interchange import load_pretrained, save_pretrained
from albert_edu.model.task_heads import AlbertForClassification, AlbertForSpan
from albert_edu.text.corpora import hold_out, load_corpus
from albert_edu.text.stories import TOPICS
from albert_edu.text.task_rows import TaskRows
from albert_edu.text.tasks import Example, SpanExample, encode_pairs, encode_spans
from albert_edu.training.finetune import (
    answer,
    answers_to,
    batch_rows,
    finetune,
    majority,
    set_up_task,
    task_scores,
)
from albert_edu.training.settings import TrainSettings
from albert_edu.training.step import NonFiniteLoss
from tests.support import main, same_bits


@pytest.fixture(scope="module")
def topics(story_text):
    """What a sentence is about: one of twelve topics."""
    parts = []
    for stories in hold_out(load_corpus("stories:num_documents=1000")):
        stories = list(stories)[:600]
        texts = [(story["sentences"][0], sorted(TOPICS).index(story["topic"])) for story in stories]
        examples = [Example(text, None, label) for text, label in texts]
        parts.append(encode_pairs(examples, story_text.tokenizer, 32))
    return parts


@pytest.fixture
def encoder() -> Albert:
    return Albert(AlbertConfig.named("albert-tiny", vocab_size=200))


@pytest.fixture
def model(encoder) -> AlbertForClassification:
    return AlbertForClassification(encoder, 12)


@pytest.mark.slow
def test_it_learns_the_topic_of_a_sentence(model, topics):
    before = task_scores(model, topics[1])["accuracy"]
    finetune(model, topics[0], TrainSettings(120, 2e-3, warmup_steps=12))
    after = task_scores(model, topics[1])
    assert before < 0.3 < 0.6 < after["accuracy"] and set(after) == {"accuracy"}


def test_the_same_seed_gives_the_same_bits_and_the_callers_random_state_stays(model, topics):
    twin, other = copy.deepcopy(model), copy.deepcopy(model)
    before = torch.random.get_rng_state()
    finetune(model, topics[0], TrainSettings(steps=3))
    assert torch.equal(before, torch.random.get_rng_state())
    torch.rand(7)
    finetune(twin, topics[0], TrainSettings(steps=3))
    finetune(other, topics[0], TrainSettings(steps=3, seed=1))
    assert same_bits(model, twin)
    assert not torch.equal(model.head.weight, other.head.weight)


def test_no_step_sees_a_gradient_longer_than_1(model, topics):
    model.head.weight.data *= 1000
    norms = []

    def look(optimizer, *_):
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"]]
        norms.append(torch.nn.utils.get_total_norm(gradients).item())

    handle = register_optimizer_step_pre_hook(look)
    finetune(model, topics[0], TrainSettings(3))
    handle.remove()
    assert norms == pytest.approx([1] * 3, abs=1e-3)


def test_a_loss_that_explodes_is_told(model, topics):
    with pytest.raises(NonFiniteLoss, match=r"step 1\b.*gradient of .*a learning rate too high"):
        finetune(model, topics[0], TrainSettings(4, learning_rate=1e30))


def test_workers_of_torchrun_and_what_only_pretraining_does_are_refused(model, topics, monkeypatch):
    for wrong in ({"precision": "bfloat16"}, {"accumulate": 2}, {"compile": True}):
        with pytest.raises(ValueError, match=f"{min(wrong)} must be one of"):
            finetune(model, topics[0], TrainSettings(1, **wrong))
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(RuntimeError, match="start it without torchrun"):
        finetune(model, topics[0], TrainSettings(steps=1))


def test_a_model_that_learnt_only_questions_with_answers_answers_all_of_a_test():
    asked = SpanExample("opened the oven", "anna opened the oven.", ("anna",), 0)
    train, test = (TaskRows([one], [], "span") for one in (asked, asked._replace(answers=())))
    model, tokenizer = load_pretrained("laptop")
    for learnt, unanswerable in ((train, False), (test, True)):
        assert set_up_task(model, tokenizer, learnt, test, 32)[2].unanswerable == unanswerable


def test_the_model_says_how_many_classes_there_are_and_not_the_labels_of_the_test(encoder):
    two, blank = {"accuracy", "f1", "matthews"}, torch.ones(2, 4).long()
    for head, labels, names in (
        (AlbertForClassification(encoder, 2), [0, 1], two),
        (AlbertForClassification(encoder, 2), [0, 0], two),
        (AlbertForClassification(encoder, 3), [0, 1], {"accuracy"}),
        (AlbertForClassification(encoder, 1), [0, 1], {"accuracy"}),
    ):
        test = TaskData(blank, blank, blank, torch.tensor(labels))
        assert set(majority(head, test, test)) == names


def test_the_majority_baseline_is_the_commonest_answer_of_training(encoder):
    blank, head = torch.ones(4, 4).long(), AlbertForClassification(encoder, 2)
    train, test = (
        TaskData(blank, blank, blank, torch.tensor(labels))
        for labels in ([1, 1, 0, 1], [1, 0, 0, 0])
    )
    baseline = majority(head, train, test)
    assert baseline == pytest.approx({"accuracy": 1 / 4, "f1": 2 / 5, "matthews": 0})


def test_the_best_span_over_all_windows_answers_a_question(story_text, encoder):
    context = "anna bought the oven. ben opened the door. carla cut the cake. david sang. " * 2
    first, second = (
        SpanExample("who", context, (answer,), context.index(answer)) for answer in ("oven", "cake")
    )
    examples = [first, second, first._replace(answers=())]
    spans, model = encode_spans(examples, story_text.tokenizer, 24), AlbertForSpan(encoder)
    # A later window has the higher score, and those without the answer say so.
    holds_it = spans.data.labels != IGNORE
    places = spans.data.labels.where(holds_it, spans.data.segment_ids.argmax(1, keepdim=True))
    scores = torch.stack([torch.arange(len(places)), 0.5 - holds_it[:, 0].int()], 1)
    model.predict = lambda batch: torch.cat([places, scores], 1)
    assert len(places) > 6 and answers_to(model, spans) == ["oven", "cake", ""]
    assert task_scores(model, spans) == {"exact_match": 1, "f1": 1}
    # Where every question has an answer, the scores alone decide.
    start, end = spans.characters[-1][0]
    assert answers_to(model, spans._replace(unanswerable=False))[2] == context[start:end]


def test_a_span_model_learns_to_point(story_text, encoder):
    names = ("anna", "ben", "carla", "david")
    texts = {f"{a} bought the oven. {b} opened the door.": b for a in names for b in names}
    examples = [
        SpanExample("who opened", text, (name,), text.index(". ") + 2)
        for text, name in texts.items()
    ]
    spans = encode_spans(examples, story_text.tokenizer, 32)
    model = AlbertForSpan(encoder)
    finetune(model, spans, TrainSettings(60, 2e-3), 16)
    assert task_scores(model, spans)["exact_match"] > 0.9


def test_a_question_of_ones_own_is_answered_with_words_of_its_context(story_text, encoder):
    model = AlbertForSpan(encoder)
    torch.nn.init.constant_(model.head["none"].bias, 100.0)  # it would rather not
    context = "Anna  opened the oven. Ben sang \u2026 at home."
    said = answer(model, story_text.tokenizer, "opened the oven", context)
    assert said and said in context
    with pytest.warns(UserWarning, match="most often '!' 1"):
        said = answer(model, story_text.tokenizer, "opened the oven", "Ben!")
        assert said in ("Ben", "Ben!", "!")
    with pytest.raises(ValueError, match="no token in the context ' '"):
        answer(model, story_text.tokenizer, "opened the oven", " ")


TEXTS = ["anna praised the cake.", "ben moved the box."] * 4
SPAN = {
    "question": "praised the cake",
    "context": TEXTS[0] * 30,
    "answers": {"text": ["anna"], "answer_start": [0]},
}
EXAM = {"article": "anna sang.", "question": "who", "options": ["anna", "ben"], "answer": "A"}
KINDS = {
    "SequenceClassification": [{"text": text, "label": text[:2]} for text in TEXTS],
    "QuestionAnswering": [SPAN] * 3,
    "MultipleChoice": [EXAM] * 3,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_fine_tuned_folder_is_one_of_transformers(kind, story_text, tmp_path, capsys):
    out, data, last, model = (tmp_path / name for name in ("out", "a.jsonl", "b.jsonl", "model"))
    rows = [json.dumps(example) + "\n" for example in KINDS[kind]]
    data.write_text("".join(rows))
    last.write_text(rows[-1])  # of one class alone
    config = AlbertConfig.named("albert-tiny", vocab_size=len(story_text.tokenizer))
    save_pretrained(AlbertForPretraining(config), story_text.tokenizer, model)
    words = f"--model {model} --data {data} {last} --out {out}".split()
    assert main(["finetune", *words, "--steps", "3", "--batch-size", "4"]) == 0
    printed, record = capsys.readouterr().out, json.loads((out / "finetune.json").read_text())
    for name, score in record["scores"].items():
        guess = record["majority_baseline"][name]
        assert f"{name}: {score:.3f} (majority baseline: {guess:.3f})" in printed
    assert record["settings"].items() >= {"steps": 3, "warmup_steps": 0, "batch_size": 4}.items()
    theirs = getattr(transformers, f"AutoModelFor{kind}").from_pretrained(out)
    if kind == "SequenceClassification":
        assert theirs.config.id2label == {0: "an", 1: "be"} and "classes: an, be" in printed
    assert f'AutoModelFor{kind}.from_pretrained("{out}")' in printed


def test_f1_is_that_of_the_class_that_is_named(tmp_path, capsys):
    """As for MRPC, whose classes are in this order; test_classes.py has labels of other names."""
    no, yes = "not_equivalent", "equivalent"
    rows = [
        {"sentence1": f"the senate met {n}.", "sentence2": "so it was.", "label": label}
        for n, label in enumerate([yes, yes, no, yes, yes, no])
    ]
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = f"finetune --model laptop --data {data} {data} --out {tmp_path}/out --steps 1"
    assert main([*words.split(), "--sequence-length", "16"]) == 0
    record = json.loads((tmp_path / "out" / "finetune.json").read_text())
    assert record["majority_baseline"]["f1"] == pytest.approx(0.8)
    assert record["f1_class"] == yes
    printed = re.search(r"f1: .*", capsys.readouterr().out)[0]
    assert printed.endswith(f"(majority baseline: 0.800), of the class {yes}")


def test_the_rows_of_a_step_are_those_of_a_slow_loop():
    """Orders of epochs, ends of epochs inside a batch, and a batch larger than the data."""
    for count, batch_size in ((10, 4), (3, 8), (7, 7)):
        for step in range(6):
            places = range(step * batch_size, (step + 1) * batch_size)
            orders = [np.random.default_rng([5, p // count]).permutation(count) for p in places]
            slow = [int(order[p % count]) for p, order in zip(places, orders, strict=True)]
            assert batch_rows(count, batch_size, seed=5, step=step).tolist() == slow
