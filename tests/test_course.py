"""What notebooks use: the record, the device, the described figure."""

import pytest
import torch

from albert_course import cells
from albert_course.cells import begin, record, show, story_questions
from albert_course.charts import lines
from albert_edu.text.stories import stories


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
