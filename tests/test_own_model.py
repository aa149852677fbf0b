"""The reader's own model: what notebook 00 keeps comes back, and one is made where there is none."""

import re
from pathlib import Path

import nbformat
import pytest
import torch

from albert_course import own_model
from albert_course.own_model import (
    LENGTH,
    RATE,
    SPLIT,
    STEPS,
    VOCABULARY,
    keep_model,
    model_place,
    my_model,
)
from albert_edu.analysis.health import masked_loss
from albert_edu.text.corpora import hold_out, load_corpus
from tests.support import randomised, same_bits, tiny

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("ALBERT_EDU_CACHE", str(tmp_path))
    monkeypatch.setattr(own_model, "STEPS", 6)


def test_a_model_that_was_kept_comes_back_with_its_vocabulary_and_text_that_it_can_read(
    story_text, capsys
):
    kept = randomised(tiny(vocab_size=len(story_text.tokenizer)))
    keep_model(kept, story_text.tokenizer)
    mine = my_model()
    assert same_bits(mine.model, kept) and not mine.model.training
    assert mine.tokenizer.fingerprint == story_text.tokenizer.fingerprint
    batch = mine.unseen.batch(0)
    assert batch.token_ids.shape == (64, 32)
    assert masked_loss(mine.model, [batch]) > 0
    assert capsys.readouterr().out == ""


def test_a_later_model_replaces_an_earlier_one(story_text):
    for seed in (0, 1):
        keep_model(tiny(seed, vocab_size=len(story_text.tokenizer)), story_text.tokenizer)
    assert same_bits(my_model().model, tiny(1, vocab_size=len(story_text.tokenizer)))


def test_where_there_is_none_one_is_trained_said_and_kept(capsys):
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first = my_model()
    assert torch.equal(torch.rand(1), expected), "the random numbers of a notebook stay its own"
    assert "one is trained now" in capsys.readouterr().out
    assert masked_loss(first.model, [first.unseen.batch(0)]) < 5.2
    assert same_bits(my_model().model, first.model)
    assert capsys.readouterr().out == ""


def test_a_folder_that_cannot_be_read_is_said_and_replaced(monkeypatch):
    monkeypatch.setattr(own_model, "STEPS", 1)
    model_place().mkdir(parents=True)
    (model_place() / "config.json").write_text("{}")
    with pytest.warns(UserWarning, match="cannot be read"):
        mine = my_model()
    assert same_bits(my_model().model, mine.model)


def test_the_recipe_is_that_of_notebook_00():
    notebook = nbformat.read(ROOT / "notebooks/00_start_here.ipynb", as_version=4)
    source = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    (settings,) = re.findall(
        r"TrainSettings\((\d+), learning_rate=([\d.e-]+), warmup_steps=(\d+)", source
    )
    assert [float(each) for each in settings] == [STEPS, RATE, STEPS // 10]
    assert re.findall(r"vocab_size=(\d+)", source) == [str(VOCABULARY)]
    assert re.findall(r"max_positions=(\d+)", source) == [str(LENGTH)]
    assert 'AlbertConfig.named("albert-tiny"' in source
    assert 'hold_out(corpus, fraction=0.2, by="script")' in source
    assert SPLIT == {"fraction": 0.2, "by": "script"}


def test_it_learns_from_some_stories_and_is_shown_others(story_text, monkeypatch, tmp_path):
    monkeypatch.setenv("ALBERT_EDU_CACHE", str(tmp_path))
    own_model.keep_model(tiny(vocab_size=190), story_text.tokenizer)
    learnt, unseen = hold_out(load_corpus("stories"), **own_model.SPLIT)
    lessons = own_model.my_lessons(story_text.tokenizer)
    for batches, part in ((lessons, learnt), (own_model.my_model().unseen, unseen)):
        assert len(batches.corpus.document_offsets) - 1 == len(part)
    assert len(learnt) > len(unseen)
