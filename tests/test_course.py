"""What readers and notebooks use: the record, the device, the described figure, questions."""

from pathlib import Path

import pytest
import torch

from albert_course import cells
from albert_course.cells import ask, begin, record, show
from albert_course.charts import lines
from albert_course.checks.cards.nb11 import with_verbs
from albert_edu.text.questions import (
    all_story_questions,
    from_the_old_place,
    of_its_kind,
    retold,
    story_questions,
)
from albert_edu.text.stories import NAMES, stories
from albert_edu.text.tasks import SpanExample
from albert_edu.training import finetune

ROOT = Path(__file__).resolve().parents[1]


def test_a_record_is_read_from_any_folder_and_an_unknown_one_names_those_that_there_are(
    tmp_path, monkeypatch
):
    for folder in (tmp_path, "."):
        monkeypatch.chdir(folder)
        assert record("figure1_gpu")
    with pytest.raises(ValueError, match=r"no record 'figure1'.*There are: .*figure1_gpu"):
        record("figure1")


def test_a_gpu_is_hidden_unless_it_is_asked_for_and_one_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="no GPU here"):
        begin(device="cuda")


def test_a_figure_is_shown_with_its_description_also_as_text(monkeypatch):
    shown = []
    monkeypatch.setattr(cells, "display", lambda *objects: shown.extend(objects))
    show(*lines([("cost", [0, 1], [0, 3])], "x", "y", "It rises"))
    image, text = shown
    assert image.alt and image.alt in text.data


def test_a_question_about_a_story_is_answered_by_the_one_sentence_that_it_names():
    asked_for, world = set(), stories(60, num_scripts=12)
    assert (
        story_questions(world, 8) == story_questions(world, 8, 0) != story_questions(world, 8, 99)
    )
    for example in story_questions(world, 300):
        (word,), sentences = example.answers, example.context.split(". ")
        assert example.context.startswith(word, example.start) and len(sentences) == 4
        assert any(" ".join(story["sentences"]).count(example.context) == 1 for story in world)
        named = [sentence for sentence in sentences if example.question in sentence]
        assert len(named) == 1 and word in named[0].split()
        asked_for.add((sentences.index(named[0]), named[0].split().index(word)))
    assert asked_for == {(sentence, place) for sentence in range(4) for place in (0, 3)}


def test_all_questions_about_a_context_follow_each_other_and_its_sentences_are_shuffled():
    world, orders = stories(60, num_scripts=12), set()
    told = {sentence: place for row in world for place, sentence in enumerate(row["sentences"])}
    examples = all_story_questions(world, 100, sentences=2)
    assert len(examples) == 400
    for row in range(0, 400, 4):
        same = examples[row : row + 4]
        assert len({example.context for example in same}) == 1
        assert len({example.question for example in same}) == 4
        for example in same:
            assert example.context.startswith(example.answers[0], example.start)
        first, second = example.context.removesuffix(".").split(". ")
        orders.add(told[f"{first}."] < told[f"{second}."])
    assert orders == {True, False}
    with pytest.raises(ValueError, match="sentences must be a whole number from 1 to 4, got 5"):
        all_story_questions(world, 1, sentences=5)


def test_the_four_sentences_of_a_question_can_be_shuffled():
    world = stories(60, num_scripts=12)
    told = {sentence: place for row in world for place, sentence in enumerate(row["sentences"])}
    rising = {True: [], False: []}
    for shuffled, seen in rising.items():
        for example in story_questions(world, 200, shuffled=shuffled):
            sentences = example.context.removesuffix(".").split(". ")
            places = [told[f"{sentence}."] for sentence in sentences]
            assert example.context.startswith(example.answers[0], example.start)
            seen.append(places == sorted(places))
    assert all(rising[False]) and sum(rising[True]) < 40


def test_the_candidates_of_a_question_are_the_four_names_or_the_four_things():
    for example in story_questions(stories(60, num_scripts=12), 100):
        place = 0 if example.answers[0] in NAMES else 3
        words = [sentence.split()[place] for sentence in example.context.split(". ")]
        assert of_its_kind(example) == [word.removesuffix(".") for word in words]


def test_an_answer_is_from_the_old_place_if_its_sentence_stands_where_the_right_one_stood():
    told = [
        "kate bought the moon in town",
        "leo opened the box at home",
        "ida tried the bag at last",
    ]
    before = SpanExample("opened the box", f"{'. '.join(told)}.", ("leo",))
    after = before._replace(context=f"{'. '.join([told[1], told[2], told[0]])}.")
    said = ["ida", "leo", "kate", "moon", ""]
    assert from_the_old_place([before] * 5, [after] * 5, said) == (1, 3)
    twice = before._replace(context=before.context.replace("kate", "leo"))
    assert from_the_old_place([twice], [after], ["ida"]) == (0, 0)


def test_a_retold_story_has_the_drawn_verbs_and_keeps_everything_else():
    world, verbs = stories(20, num_scripts=12), ["ate", "kept", "sold", "hid"]
    for before, after in zip(world, retold(world, lambda: verbs), strict=True):
        assert after["sentences"] == with_verbs(before["sentences"][:4], verbs)


class Echo:
    """Stands for a model: what it was asked is what matters."""


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("Who repaired the lens?", "repaired the lens"),
        ("What Kate bought", "kate bought"),
        ("kate bought what?", "kate bought"),
        ("repaired the lens", "repaired the lens"),
    ],
)
def test_a_question_is_put_to_the_model_without_who_and_what(question, plain, monkeypatch):
    asked = []
    monkeypatch.setattr(finetune, "answer", lambda *given: asked.append(given[2]) or "anna")
    assert ask(Echo(), None, question, "Anna repaired the lens. Kate bought a box.") == "anna"
    assert asked == [plain]


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("What did Kate buy?", "does not say 'did'"),
        ("who?", "a word is missing"),
        ("", "a word is missing"),
        ("Who cleaned the lens?", "does not say 'cleaned'"),
    ],
)
def test_a_question_in_other_words_than_the_story_is_refused_in_a_sentence(question, reason):
    said = ask(Echo(), None, question, "Anna repaired the lens. Kate bought a box.")
    assert reason in said and "who repaired the lens" in said
