"""Files and data sets of others: documents of each kind, and one sentence for what is none."""

import json
import os
from pathlib import Path

import pytest
from datasets import Dataset, Value

from albert_edu.text import files as module
from albert_edu.text.corpora import load_corpus
from albert_edu.text.files import hub_rows, text_documents
from albert_edu.text.sentences import CorpusError

BERT = "The barn was old. So!\nIt was late.\n\nA boat turned.\nWas it new?\n\n\nThe end.\nReally.\n"


def written(folder: Path, name: str, content: str | bytes) -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / name


def test_a_folder_gives_one_document_per_txt_file_however_deep_and_whatever_its_line_ends(
    tmp_path,
):
    written(tmp_path, "deep/er/a.txt", "\ufeffFirst one. Second one.\r\n\r\nThird")
    written(tmp_path, "b.TXT", "Only é here.\n")
    written(tmp_path, "blank.txt", " \n\n ")
    written(tmp_path, "empty.txt", "")
    written(tmp_path, "rows.jsonl", '{"label": 3}')  # beside texts it is no text
    corpus = load_corpus(str(tmp_path))
    assert corpus.to_dict() == load_corpus(tmp_path).to_dict()
    assert dict(zip(corpus["id"], corpus["sentences"], strict=True)) == {
        "deep/er/a.txt": ["First one.", "Second one.", "Third"],
        "b.TXT": ["Only é here."],
    }


@pytest.mark.parametrize("name", ["all.txt", "wiki.train.tokens"])
def test_a_text_file_is_a_corpus_of_one_document(tmp_path, name):
    corpus = load_corpus(written(tmp_path, name, "One. Two."))
    assert corpus.to_list() == [{"id": name, "sentences": ["One.", "Two."]}]


def test_a_sentence_a_line_is_read_so_and_said(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(module, "PART_CHARACTERS", 120)  # which ends in the second document
    corpus = load_corpus(written(tmp_path, "bert.txt", "It is old.\n" * 9 + "\n" + BERT))
    assert corpus["sentences"][1:] == [
        ["The barn was old. So!", "It was late."],
        ["A boat turned.", "Was it new?"],
        ["The end.", "Really."],
    ]
    assert "bert.txt is read as BERT's format: a sentence a line." in capfd.readouterr().err


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "parquet"])
def test_rows_with_a_text_are_documents_and_those_without_are_named(tmp_path, suffix):
    texts = ["One. Two.", "  ", "Three, 'here'.", None, "Four."]
    rows = Dataset.from_list([{"text": text, "stars": 3} for text in texts])
    file = tmp_path / f"rows.{suffix}"
    write = rows.to_json if suffix.startswith("json") else getattr(rows, f"to_{suffix}")
    write(file)
    with pytest.warns(UserWarning, match=r"rows\.\w+ holds nothing in rows \[2, 4\] \(2 in all\)"):
        corpus = load_corpus(file)
    assert corpus["id"][:] == ["row-1", "row-3", "row-5"]
    assert corpus["sentences"][:] == [["One.", "Two."], ["Three, 'here'."], ["Four."]]


def test_rows_that_are_no_prose_are_warned_of(tmp_path):
    rows = "\n".join(json.dumps({"text": f"<p>It was {n}.</p><br />"}) for n in range(12))
    with pytest.warns(UserWarning, match=r"holds markup in rows \[1, 2, .*, 10\] \(12 in all\)"):
        load_corpus(written(tmp_path, "rows.jsonl", rows))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.txt", b"Caf\xe9", r"a\.txt is not text in UTF-8 \(byte 0xe9 is not\).*TIN1"),
        ("a.txt", b"\xef\xbb\xbfab\r\nc\xe9", "byte 0xe9"),
        ("a.txt", b"ab\n\0c", "the text has zero bytes, as UTF-16"),
        ("a.txt", "text".encode("utf-16"), "byte 0xff .* -f UTF-16 if"),
        ("a.txt", "text".encode("utf-16-le"), "zero bytes"),
        ("a.txt", b"abc \xed\xa0\xbd d", "byte 0xed"),  # half of a pair
        ("a.txt", b"", "empty"),
        ("a.txt", b" \n\n ", "empty"),
        ("a.txt", b'{"text": "One."}', r"a\.txt looks like JSON .*\.jsonl, \.csv or \.parquet"),
        ("a.html", b"<html><p>The barn.</p></html>", r"a\.html looks like markup and not"),
        ("a.txt", b"text\tstars\nOne.\t1\nTwo.\t2", "looks like a table"),
        ("a.jsonl", b'{"text": "One."}\n{"text": ', r"a\.jsonl cannot be used.*a field named text"),
        ("a.jsonl", b'{"text": "One \\ud83d."}', r"row 1 of .*a\.jsonl: .*surrogate"),
        ("a.jsonl", b'{"body": "One."}', r"needs one column 'text' and has body\."),
        ("a.jsonl", b'{"text": "Two."}\n{"text": 3}', r"row 2 of .*a\.jsonl: .* got 3\.$"),
        ("a.jsonl", b'{"text": "Two."}\n{"text": "a\\u0000b"}', "row 2 of .* zero bytes"),
        ("a.jsonl", '{"text": "One."}'.encode("utf-16"), "byte 0xff .* -f UTF-16 if"),
        ("a.jsonl", '{"text": "One."}'.encode("utf-16-le"), "it has zero bytes"),
        ("a.csv", b"n,text,text.1\n1,One.,Two.", r"one column 'text' and has n, text, text\.1\."),
        ("a.parquet", b"PAR1", r"a\.parquet cannot be used"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(tmp_path, name, content, says):
    place = written(tmp_path, f"texts/{name}", content)
    with pytest.raises(CorpusError, match=says):
        load_corpus(place, tmp_path)


def test_a_long_file_becomes_documents_that_hold_all_of_its_text(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PART_CHARACTERS", 50)
    text = "\n".join(f"Sentence {n} has an é in it." for n in range(20)) + "no_end " * 90
    place = written(tmp_path, "long.txt", text)
    parts = [document["text"] for document in text_documents(place, "")]
    assert "".join(parts) == text and max(map(len, parts)) <= 100
    assert all(part.endswith("\n") for part in parts[:7])
    written(tmp_path, "long.txt", b"A word.\n" * 30 + b"\xe9")
    with pytest.raises(CorpusError, match="byte 0xe9"):
        list(text_documents(tmp_path / "long.txt", ""))


def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    for name in (tmp_path, tmp_path / "pipe.txt"):
        with pytest.raises(CorpusError, match=r"pipe\.txt is no regular file"):
            load_corpus(name)


def test_a_folder_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    (tmp_path / "locked").mkdir()
    written(tmp_path, "a.txt", "One. Two.")
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


def test_a_set_of_the_hub_is_asked_for_by_its_name_and_what_stands_behind_a_colon(monkeypatch):
    rows = Dataset.from_list([{"text": "One.", "stars": 3}])
    rows = rows.cast_column("text", Value("large_string"))
    hub = {("wikitext", "wikitext-2-raw-v1", "train"): rows, ("nobody/plain", None, "train"): rows}
    monkeypatch.setattr("datasets.load_dataset", lambda *names, split: hub[*names, split])
    hub["imdb", None, "train"] = rows  # as the set of a task: NAME::SPLIT
    assert len(hub_rows("imdb:")) == 1
    for name in ("wikitext:wikitext-2-raw-v1", "nobody/plain"):
        assert load_corpus(name).to_list() == [{"id": "row-1", "sentences": ["One."]}]


def test_a_set_that_the_hub_does_not_give_is_told_with_the_cause(monkeypatch, capfd):
    monkeypatch.setattr("datasets.load_dataset", lambda *names, split: {}["no way"])
    with pytest.raises(CorpusError, match=r"no folder, .* give it: 'no way'$"):
        load_corpus(Path("nobody/has-this-set"))
    assert "asking the Hub for 'nobody/has-this-set'" in capfd.readouterr().err


def test_hidden_files_and_folders_are_no_text(tmp_path):
    """Such as JupyterLab's copies, which would put every held-out sentence into training."""
    written(tmp_path, "a.txt", "One. Two.")
    for copy in (".ipynb_checkpoints/a-checkpoint.txt", "b/.git/c.txt", ".d.txt", "e/._a.txt"):
        written(tmp_path, copy, "Three. Four.")
    assert load_corpus(tmp_path)["id"][:] == ["a.txt"]
    named = tmp_path / ".ipynb_checkpoints"  # unless one of them is what was named
    assert load_corpus(named)["id"][:] == ["a-checkpoint.txt"]
    (tmp_path / "a.txt").unlink()
    with pytest.raises(CorpusError, match=r"no folder that holds \.txt files"):
        load_corpus(tmp_path)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("words.txt", ""),
        ("texts.txt", "Did you mean texts1.txt?"),
        ("./texts", ""),
        ("sub/textz", "Did you mean texts?"),
        ("nowhere/at/all", ""),
        ("rows.parquet", ""),
        ("C:\\texts", ""),
        ("storys", "Did you mean stories?"),
    ],
)
def test_a_typo_in_a_path_is_told_before_the_hub_is_asked(tmp_path, monkeypatch, name, hint):
    written(tmp_path, "texts1.txt", "One.")
    written(tmp_path, "sub/texts/a.txt", "One.")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("datasets.load_dataset", lambda *_, **__: pytest.fail("the Hub is asked"))
    with pytest.raises(CorpusError, match="no file and no folder") as error:
        load_corpus(name)
    assert hint in str(error.value) and ("Did you mean" in str(error.value)) == bool(hint)


def test_rows_of_nothing_that_a_reader_sees_are_left_out(tmp_path):
    rows = [{"text": text} for text in ("One.", "\u200b", "\u0301", " \ufeff ")]
    file = written(tmp_path, "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    with pytest.warns(UserWarning, match=r"holds nothing in rows \[2, 3, 4\] \(3 in all\)"):
        assert load_corpus(file)["id"][:] == ["row-1"]
