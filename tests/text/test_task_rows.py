"""Rows of tasks: what is read, and what each kind of bad row is told."""

import json

import datasets
import pytest

from albert_edu.text.sentences import CorpusError
from albert_edu.text.task_rows import read_rows
from albert_edu.text.tasks import Example, SpanExample

SPAN = {
    "id": "q7",
    "question": "where?",
    "context": "ab cd",
    "answers": {"text": ["cd"], "answer_start": [3]},
}
EXAM = {"article": "It rained.", "question": "Why _?", "options": ["a", "b", "c"], "answer": "C"}


def written(folder, name: str, content: str):
    path = folder / name
    path.write_text(content, encoding="utf-8", newline="")
    return path


def lines(folder, *rows: dict):
    return written(folder, "rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def labelled(folder, *labels):
    return lines(folder, *({"text": f"text {n}", "label": label} for n, label in enumerate(labels)))


def classes_and_labels(path, like=None) -> tuple[list[str], list]:
    rows = read_rows(path, like)
    return rows.class_names, [example.label for example in rows.examples]


def test_the_rows_of_a_test_have_the_classes_that_were_learnt(tmp_path):
    train = read_rows(labelled(tmp_path, "b", "c", "a"))
    assert classes_and_labels(labelled(tmp_path, "c", "b"), train) == (["a", "b", "c"], [2, 1])
    assert classes_and_labels(labelled(tmp_path, "c"), train) == (["a", "b", "c"], [2])
    said = r"row 2: the label is not one of a, b, c in \{'label': 'd'\}"
    with pytest.raises(CorpusError, match=said):
        read_rows(labelled(tmp_path, "a", "d"), train)
    said = r"1 of 3 rows cannot be used: row 2: the label is not one of 1, 3 in \{'label': 0\.5\}"
    with pytest.raises(CorpusError, match=said):
        read_rows(labelled(tmp_path, 3.0, 0.5, 1.0))
    for row in (SPAN, {"sentence1": "a", "sentence2": "b", "label": "c"}):
        with pytest.raises(CorpusError, match="is another kind of task"):
            read_rows(lines(tmp_path, row), train)


@pytest.mark.parametrize(
    "pair", [("sentence1", "sentence2"), ("premise", "hypothesis"), ("question", "sentence")]
)
def test_two_texts_are_known_by_their_names_on_the_hub(tmp_path, pair):
    rows = [dict(zip(pair, ("one", "two"), strict=True), label=label, idx=7) for label in (0, 1)]
    wanted = [Example("one", "two", label) for label in (0, 1)]
    assert read_rows(lines(tmp_path, *rows)).examples == wanted


def test_a_csv_has_quoted_cells_and_perhaps_the_marks_of_windows(tmp_path):
    table = ',sentence,label\n0,"007, ""x""\nnext",yes\n1,NA,no\n'
    for content in (table, "\ufeff" + table.replace("\n", "\r\n").replace('x""\r\n', 'x""\n')):
        wanted = [Example('007, "x"\nnext', None, 1), Example("NA", None, 0)]
        assert read_rows(written(tmp_path, "a.csv", content)).examples == wanted


def test_a_table_of_the_hub_numbers_its_classes_itself(tmp_path):
    kind = datasets.ClassLabel(names=["same", "other"])  # not in the order of the alphabet
    features = {"premise": datasets.Value("string"), "hypothesis": datasets.Value("string")}
    columns = {"premise": ["a", "b"], "hypothesis": ["c", "d"], "label": [0, 1]}
    path = str(tmp_path / "rows.parquet")
    features = datasets.Features(features | {"label": kind})
    datasets.Dataset.from_dict(columns, features=features).to_parquet(path)
    assert classes_and_labels(path) == (["same", "other"], [0, 1])
    unlabelled = datasets.Dataset.from_dict(columns | {"label": [0, -1]}, features=features)
    unlabelled.to_parquet(path)
    said = r"row 2: the label is not one of same, other in \{'label': -1\}"
    with pytest.raises(CorpusError, match=said):
        read_rows(path)


def test_questions_have_answers_or_none_and_exams_fill_the_blank_or_add_the_option(tmp_path):
    none = SPAN | {"answers": {"text": [], "answer_start": []}}
    assert read_rows(lines(tmp_path, SPAN, none)).examples == [
        SpanExample("where?", "ab cd", ("cd",), 3),
        SpanExample("where?", "ab cd", ()),
    ]
    assert read_rows(lines(tmp_path, EXAM, EXAM | {"question": "Why?"})).examples == [
        Example("It rained.", ("Why a?", "Why b?", "Why c?"), 2),
        Example("It rained.", ("Why? a", "Why? b", "Why? c"), 2),
    ]


def squad(folder, *questions: dict):
    paragraphs = [{"context": "ab cd", "qas": list(questions)}]
    return written(folder, "dev.json", json.dumps({"data": [{"paragraphs": paragraphs}]}))


def test_the_published_json_of_squad_is_flattened(tmp_path):
    answer = {"text": "cd", "answer_start": 3}
    asked = {"id": "1", "question": "where?", "answers": [answer, {"text": "d", "answer_start": 4}]}
    open_ended = {"id": "2", "question": "who?", "answers": [], "is_impossible": True}
    assert read_rows(squad(tmp_path, asked, open_ended)).examples == [
        SpanExample("where?", "ab cd", ("cd", "d"), 3),
        SpanExample("who?", "ab cd", ()),
    ]
    wrong = {  # what the error says: what is wrong
        "is_impossible is 'False'": {"is_impossible": "False"},
        r"'answer_start': '3'": {"answers": [answer | {"answer_start": "3"}]},
        r"in \{'answers': \['cd'\]\}": {"answers": ["cd"]},
        "not True": {"answers": []},
    }
    with pytest.raises(CorpusError, match="4 of 5 rows") as error:
        read_rows(squad(tmp_path, asked, *(asked | change for change in wrong.values())))
    for number, words in enumerate(wrong, 2):
        assert error.match(rf"row {number}, question 1: [^;]*{words}")
    for content in ("[]", "{", '{"data": [{}]}'):
        with pytest.raises(CorpusError, match=r"dev\.json cannot be used"):
            read_rows(written(tmp_path, "dev.json", content))


def answers(text, *starts) -> dict:
    return {"answers": {"text": text, "answer_start": [*starts]}}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (answers(["cd"], 3, 4), "an answer does not stand where it says in .*4"),
        ({"answers": {"text": ["cd"]}}, ".*in .*'text': .'cd'"),
        (answers("cd", 3, 4), "an answer does not stand where it says in .*'cd'"),
        (answers([""], 3), "an answer does not stand where"),
        ({"answers": ["cd"]}, r".* in \{'answers': \['cd'\]\}"),
        ({"answers": None}, r".* in \{'answers': None\}"),
        (answers(["cd"], 2), "an answer does not stand where .*2"),
        (answers(["ab"], -5), "an answer does not stand where .*-5"),
        ({"is_impossible": "False"}, "is_impossible is 'False', not False"),
        ({"is_impossible": True}, "is_impossible is True, not False"),
        ({"question": 3}, "a text must be a str, got 3"),
        ({"context": ["ab cd"]}, r"a text must be a str, got \['ab"),
        ({"answer": "D"}, r"'D' is not in list in \{'options': \['a', 'b', 'c'\], 'answer': 'D'\}"),
        ({"answer": "AB"}, "'AB' is not"),
        ({"answer": ""}, "'' is not"),
        ({"answer": 2}, "2 is not"),
        ({"options": "abc"}, r"the options are no texts in \{'options': 'abc'"),
        ({"options": ["a", "", "c"]}, r"the options are no texts in \{'options': \['a', '', 'c'\]"),
        ({"options": ["a", 3, "c"]}, r".* in \{'options': \['a', 3"),
        ({"article": None, "answer": "D"}, "'D' is not"),
    ],
)
def test_a_bad_question_or_exam_is_named_with_what_is_wrong(tmp_path, row, message):
    whole, name = (EXAM, "") if {"answer", "options"} & row.keys() else (SPAN, ", question q7")
    with pytest.raises(CorpusError, match=f"1 of 2 rows cannot be used: row 2{name}: {message}"):
        read_rows(lines(tmp_path, whole, whole | row))


def test_the_first_ten_bad_rows_are_named_and_all_are_counted(tmp_path):
    with pytest.raises(CorpusError, match="12 of 14 rows cannot be used: row 2: ") as error:
        read_rows(labelled(tmp_path, "a", *[None, " ", ""] * 4, "b"))
    assert error.match("row 11: the label") and "row 12" not in str(error.value)


def test_rows_without_text_are_left_out_and_named(tmp_path):
    rows = [{"text": text, "label": label} for text, label in zip("a b ", "0010", strict=True)]
    with pytest.warns(UserWarning, match=r"2 of 4 rows have no text .* row 2; row 4$"):
        examples = read_rows(lines(tmp_path, *rows)).examples
    assert examples == [Example("a", None, 0), Example("b", None, 1)]
    with pytest.raises(CorpusError, match="2 of 2 rows have no text"):
        read_rows(lines(tmp_path, {"text": None, "label": 0}, {"text": "\n", "label": 1}))


def test_half_a_character_is_no_text(tmp_path):
    asked = [{"question": "?", "answers": []}]
    data = {"data": [{"paragraphs": [{"context": "\ud800", "qas": asked}]}]}
    with pytest.raises(CorpusError, match=r"row 1: .* surrogates not allowed"):
        read_rows(written(tmp_path, "dev.json", json.dumps(data)))


@pytest.mark.parametrize("blank", ["\u0301", "\u200b \ufeff", "\xad"])
def test_a_question_about_nothing_that_a_reader_sees_is_left_out_before_training(tmp_path, blank):
    none = {"answers": {"text": [], "answer_start": []}}
    for column in ("context", "question"):
        with pytest.warns(UserWarning, match=r"1 of 2 rows have no text .*: row 2, question q7$"):
            rows = read_rows(lines(tmp_path, SPAN, SPAN | none | {column: blank}))
        assert len(rows.examples) == 1
