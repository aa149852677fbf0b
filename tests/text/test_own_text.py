"""A person's own text: of any size, under any name, and whatever else is in the folder."""

from pathlib import Path

import pytest

from albert_edu.text.corpora import NAMED
from albert_edu.text.prepare import prepare
from albert_edu.text.sentences import CorpusError
from albert_edu.text.stories import stories
from albert_edu.text.tokenizer import TokenizerError


@pytest.fixture
def texts(tmp_path, monkeypatch) -> Path:
    """A folder of ten short documents, and a cache beside it."""
    monkeypatch.setenv("ALBERT_EDU_CACHE", str(tmp_path / "cache"))
    (tmp_path / "texts").mkdir()
    for number in range(10):
        text = f"The barn {number} was old. The boat {number} was turning. It was late."
        (tmp_path / "texts" / f"{number}.txt").write_text(text)
    return tmp_path / "texts"


def test_a_short_text_gets_a_vocabulary_that_fits_it_and_a_size_that_was_asked_for_is_not_changed(
    texts,
):
    with pytest.warns(
        UserWarning, match=r"is too short for 4,000 tokens, so .* has (\d+)\."
    ) as said:
        prepared = prepare(str(texts))
    size = len(prepared.tokenizer)
    assert f"has {size}." in str(said[0].message) and 20 < size < 200
    with pytest.raises(TokenizerError, match=rf"value <= {size}, .* --vocab-size {size}\.$"):
        prepare(str(texts), vocab_size=4000)


def test_a_text_of_many_characters_is_told_how_many_tokens_it_needs(texts):
    for number in range(10):
        letters = "".join(chr(0x4E00 + 600 * number + i) for i in range(600))
        (texts / f"{number}.txt").write_text(f"{letters}。{letters}。", "utf-8")
    with pytest.raises(TokenizerError, match=r"5,4\d\d characters: .* --vocab-size 5\d\d\d"):
        prepare(str(texts))


def test_a_name_of_the_course_is_the_courses_and_a_namesake_is_told(texts, monkeypatch):
    monkeypatch.chdir(texts.rename(texts.with_name("stories")).parent)
    monkeypatch.setitem(NAMED, "stories", lambda: stories(num_documents=40, num_scripts=5))
    for _ in range(2):  # also where it is prepared already
        with pytest.warns(
            UserWarning, match=r"stories is a corpus of the course.* is \./stories\."
        ):
            assert len(prepare("stories").train.document_offsets) - 1 == 36
    own = prepare("./stories", vocab_size=34)
    assert len(own.train.document_offsets) - 1 == 9


def test_without_a_home_the_variable_of_the_cache_is_named(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("ALBERT_EDU_CACHE", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(CorpusError, match=r"no home folder to keep.*ALBERT_EDU_CACHE"):
        prepare("stories")
