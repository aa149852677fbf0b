"""Rows of files: the file that was named is read, and every value is what stands there."""

import json
import os
from datetime import date
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from albert_edu.text.corpora import load_corpus
from albert_edu.text.rows import READERS, file_rows
from albert_edu.text.sentences import CorpusError
from albert_edu.text.task_rows import read_rows


def rows_of(folder: Path, name: str, content: str) -> list[dict]:
    (folder / name).write_text(content, encoding="utf-8", newline="")
    return list(file_rows(folder / name, ""))


def write(file: Path, text: str) -> Path:
    """One row with this text, as the end of the file's name asks for."""
    file.parent.mkdir(exist_ok=True)
    row = {"text": text, "label": "a"}
    if file.suffix == ".csv":
        file.write_text(f"text,label\n{text},a\nx,b\n")
    elif file.suffix == ".parquet":
        parquet.write_table(pyarrow.Table.from_pylist([row, {"text": "x", "label": "b"}]), file)
    else:
        file.write_text(json.dumps(row) + '\n{"text": "x", "label": "b"}\n')
    return file


NAMES = ["train[1]", "da?a", "all*", "{a,b}", "a::b%20c#d", ".hidden"]


@pytest.mark.parametrize("suffix", READERS)
@pytest.mark.parametrize("name", NAMES)
def test_the_file_that_was_named_is_read_and_no_neighbour(tmp_path, name, suffix):
    for neighbour in ("train1", "data", "allx", "a", "y", "b"):
        write(tmp_path / f"{neighbour}{suffix}", "wrong")
        write(tmp_path / f"my p/{neighbour}{suffix}", "wrong")
    for file in (tmp_path / f"{name}{suffix}", tmp_path / "my [p]" / f"{name}{suffix}"):
        write(file, "right")
        assert load_corpus(file)["sentences"][0] == ["right"]
        if suffix != ".json":
            assert read_rows(file).examples[0].first == "right"


@pytest.mark.parametrize("first", ["true", "01", ""])
def test_a_column_has_one_type_however_long_its_beginning_looks_like_another(tmp_path, first):
    cells = [first] * 12_000 + ["maybe", "True"]
    file = tmp_path / "rows.csv"
    file.write_text("text,label\n" + "".join(f"a,{cell}\n" for cell in cells))
    assert [row["label"] for row in file_rows(file, "")] == cells
    if first:
        names = read_rows(file).class_names
        assert names == sorted([first, "maybe", "True"]), "each class is there once"


def test_values_of_json_and_parquet_are_what_they_are(tmp_path):
    rows = [{"a": True}, {"a": "2020-01-01"}, {"a": 1.0, "b": None}, {"a": [1]}]
    lines = "".join(json.dumps(row) + "\n\n" for row in rows)
    assert rows_of(tmp_path, "a.jsonl", "\ufeff" + lines) == rows
    assert rows_of(tmp_path, "a.json", lines) == rows
    assert rows_of(tmp_path, "a.json", json.dumps(rows, indent=2)) == rows
    assert rows_of(tmp_path, "b.json", json.dumps(rows[2], indent=2)) == [rows[2]]
    days = [{"label": date(2020, 1, day), "text": "x"} for day in (1, 2)]
    parquet.write_table(pyarrow.Table.from_pylist(days), tmp_path / "a.parquet")
    assert read_rows(tmp_path / "a.parquet").class_names == ["2020-01-01", "2020-01-02"]


def test_a_csv_may_have_quotes_long_cells_short_rows_and_any_line_ends(tmp_path):
    table = ' text , label\r\n"a, ""b""\r\nc",1\r\n\r\nd\r\n'
    expected = [{"text": 'a, "b"\r\nc', "label": "1"}, {"text": "d", "label": ""}]
    assert rows_of(tmp_path, "a.csv", table) == expected
    assert rows_of(tmp_path, "c.csv", "\n\ntext,label\na,1\n") == [{"text": "a", "label": "1"}]
    blanks = [{"text": "a, b", "label": "1"}]
    assert rows_of(tmp_path, "d.csv", 'label, text\n1, "a, b"\n') == blanks
    assert rows_of(tmp_path, "b.csv", f"text\n{'x' * 200_000}\n") == [{"text": "x" * 200_000}]


@pytest.mark.parametrize("word", ["true", "True", "TRUE"])
def test_true_in_a_csv_is_true_in_a_jsonl(tmp_path, word):
    (tmp_path / "a.csv").write_text(f"text,label\na,{word}\nb,false\n")
    rows = '{"text": "a", "label": true}\n{"text": "b", "label": "False"}\n'
    (tmp_path / "b.jsonl").write_text(rows)
    for train, test in (("a.csv", "b.jsonl"), ("b.jsonl", "a.csv")):
        learnt = read_rows(tmp_path / train)
        unseen = read_rows(tmp_path / test, like=learnt)
        assert learnt.class_names == ["false", "true"]
        assert [example.label for example in unseen.examples] == [1, 0]


def test_what_is_no_file_or_empty_is_told_apart(tmp_path):
    file = tmp_path / "rows.csv"
    for make, message in (
        (lambda: None, "does not exist"),
        (file.touch, "is empty"),
        (lambda: (file.unlink(), os.mkfifo(file)), "is no regular file"),
    ):
        make()
        with pytest.raises(CorpusError, match=rf"rows\.csv {message}\.$"):
            list(file_rows(file, ""))
