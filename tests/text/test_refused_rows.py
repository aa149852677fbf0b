"""Files that hold no rows of a task: one sentence for each, with its cause and the nearest columns."""

import pytest

from albert_edu.text.sentences import CorpusError
from albert_edu.text.task_rows import read_rows
from tests.text.test_task_rows import written


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "sentence,label,label\na,1,2\n", "the column 'label' is there twice"),
        (
            "a.csv",
            "sentence,label,label.1\na,1,2\n",
            r"has label, label\.1, sentence\. .* each once",
        ),
        ("a.tsv", "text\tlabel\na\t1\n", r"a\.tsv is no \.jsonl, \.json, \.csv, "),
        ("a.jsonl", '{"text": "a", "text": "b", "label": 1}\n', "twice"),
        (
            "a.csv",
            "text,label\na,1\nb,1,2\n",
            "cannot be used .line 3 has 3 cells, and the header names 2: .* needs quotes",
        ),
        ("a.csv", "text,label\na,1\nc\n", r"1 of 2 rows .*: row 2: .* one of 1 in \{'label': ''\}"),
        ("a.csv", "text;label\na;1\n", "divided by semicolons: save it with commas"),
        (
            "a.csv",
            'text,label\na,1\n"b,2\nc,3\n',
            "the row that begins in line 3: unexpected end of data",
        ),
        ("a.csv", "text\tlabel\na\t1\n", "divided by tabs: save it with commas"),
        (
            "a.csv",
            "Satz,Etikett\na,1\nb,2\n",
            "has Etikett, Satz. The first line has to name .*follows. Expected are the columns text, label, each once.$",
        ),
        (
            "a.csv",
            "premise,hypo,label\na,b,1\n",
            "has hypo, label, premise. Expected are the columns premise, hypothesis, label, each once.$",
        ),
        (
            "a.jsonl",
            '{"question": "a", "context": "b"}\n',
            "Expected are the columns question, context, answers, each once. Answers are",
        ),
        (
            "a.jsonl",
            '{"text": "a", "label": 1}\n<<<<<<< HEAD\n',
            "line 2 is the mark of a merge: '<<<<<<< HEAD'",
        ),
        (
            "a.jsonl",
            '{"text": "a", "label": 1}\n{"text" "b"}\n',
            "line 2 is no JSON: Expecting ':'",
        ),
        ("a.json", "", r"a\.json is empty"),
        ("a.json", "<<<<<<< HEAD\n{}\n", "line 1 is the mark of a merge"),
        (
            "a.csv",
            "text,label\na,0.5\nb,1\n",
            r"1 of 2 rows .*: row 1: .* one of 1 in \{'label': '0\.5'\}",
        ),
        ("a.csv", "text,label\n", "has no row. Expected are the columns"),
        (
            "a.csv",
            "text,sentence,label\na,b,1\n",
            "has label, sentence, text. Expected are the columns text, label, each once, without sentence.",
        ),
        ("a.csv", '"text","label"\n"a "b" c",1\n', "cannot be used .*expected after"),
        ("a.csv", 'text,label\n"a,1\n', "cannot be used .*unexpected end of data"),
        ("a.jsonl", '{"text": "a", "label": 1}\n[3]\n', "cannot be used"),
        ("a.txt", "a\n", "is no .jsonl, .*, .parquet, no NAME:SUBSET:SPLIT of the Hub"),
        ("a.jsonl", '{"text": "a", "label": 1}\n' * 2, "all 2 rows have the same label"),
    ],
)
def test_what_holds_no_rows_of_a_task_is_refused(tmp_path, name, content, message):
    with pytest.raises(CorpusError, match=message):
        read_rows(written(tmp_path, name, content))


def test_a_cell_may_be_long_and_an_array_is_no_squad(tmp_path):
    cells = "text,label\n" + f"{'x' * 200_000},a\ny,b\n"
    assert len(read_rows(written(tmp_path, "long.csv", cells)).examples) == 2
    for content in ("[]", '[{"text": "a", "label": 1}]', "3"):
        with pytest.raises(CorpusError, match=r"cannot be used.* other rows go into a \.jsonl"):
            read_rows(written(tmp_path, "rows.json", content))


def test_a_source_that_is_not_there_is_said_so():
    for source, message in (
        ("a/no-such-set:x:train", "'a/no-such-set:x' is no corpus of ours .* Hub does not give it"),
        ("glue", "NAME:SUBSET:SPLIT"),
        ("", "NAME:SUBSET:SPLIT"),
    ):
        with pytest.raises(CorpusError, match=message):
            read_rows(source)
