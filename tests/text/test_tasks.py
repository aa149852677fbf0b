"""Files of GLUE, SQuAD and RACE in their real formats, and the course's own tasks, as tensors."""

import json

import pytest
import torch

from albert_edu.text.masking import IGNORE
from albert_edu.text.task_files import (
    SpanExample,
    TaskFileError,
    encode_spans,
    pieces_with_characters,
    read_glue,
    read_race,
    read_squad,
)
from albert_edu.text.tasks import (
    ChoiceExample,
    Example,
    encode_choices,
    encode_pairs,
    same_address,
    sentiment,
    story_gap,
    story_topic,
)
from albert_edu.text.tokenizer import CLS, PAD, SEP

FILES = {  # task: file, and what it says
    "CoLA": ("gj04\t1\t\tThe sailors rode the breeze.\ngj04\t0\t*\tThe more does Bill smoke.\n",
             [("The sailors rode the breeze.", None, 1), ("The more does Bill smoke.", None, 0)]),
    "SST-2": ("sentence\tlabel\nan \"open quote \t1\ndull \t0\n", [('an "open quote ', None, 1), ("dull ", None, 0)]),
    "MRPC": ("\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n1\t7\t8\tHe came.\tHe arrived.\r\n",
             [("He came.", "He arrived.", 1)]),
    "QQP": ("id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n0\t1\t2\tWhy?\tHow?\t0\n", [("Why?", "How?", 0)]),
    "STS": ("index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"
            "0\tm\tf\t2012\t1\tn\tn\tA plane.\tAn air plane.\t4.500\n", [("A plane.", "An air plane.", 4.5)]),
    "MNLI": ("index\tsentence1\tsentence2\tlabel1\tgold_label\n0\tIt rains.\tIt is wet.\tneutral\tentailment\n",
             [("It rains.", "It is wet.", 1)]),
    "QNLI": ("index\tquestion\tsentence\tlabel\n0\tWho?\tShe did.\tnot_entailment\n", [("Who?", "She did.", 1)]),
    "RTE": ("index\tsentence1\tsentence2\tlabel\n0\tA.\tB.\tentailment\n", [("A.", "B.", 0)]),
    "WNLI": ("index\tsentence1\tsentence2\tlabel\n0\tA.\tB.\t1\n", [("A.", "B.", 1)]),
}  # fmt: skip
CONTEXT = "The Senate met in 1859 (in the new chamber). The o\ufb03ce spoke of caf\u00e9s."


def written(folder, name: str, text: str):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def squad(folder, questions: list[dict]):
    data = {"version": "v2.0", "data": [{"title": "t", "paragraphs": [{"context": CONTEXT, "qas": questions}]}]}
    return written(folder, "dev.json", json.dumps(data))


@pytest.mark.parametrize("task", FILES)
def test_a_glue_file_is_read_as_it_is_published(tmp_path, task):
    text, wanted = FILES[task]
    assert read_glue(task, written(tmp_path, "dev.tsv", text)) == [Example(*example) for example in wanted]


@pytest.mark.parametrize(
    ("task", "text", "message"),
    [
        ("SST-2", "index\tsentence\n0\tfine\n", "line 1 has no column 'label'"),
        ("SST-2", "sentence\tlabel\nfine\t1\nfine\t2\n", "line 3: the label is '2', where SST-2 has 0 or 1"),
        ("STS", FILES["STS"][0].replace("4.500", "much"), "line 2: the label is 'much', where STS has a number"),
        ("CoLA", FILES["SST-2"][0], "line 1 has only 2 columns"),
        ("SST", "", "there is no GLUE task 'SST'"),
    ],
)
def test_a_bad_glue_file_is_named_with_the_line(tmp_path, task, text, message):
    with pytest.raises(TaskFileError, match=message):
        read_glue(task, written(tmp_path, "dev.tsv", text))


def test_short_rows_of_qqp_are_left_out_aloud(tmp_path):
    path = written(tmp_path, "train.tsv", FILES["QQP"][0] + "1\t3\t4\tWhat\n")
    with pytest.warns(UserWarning, match="1 rows are too short"):
        assert len(read_glue("QQP", path)) == 1


def test_pairs_are_laid_out_and_the_longer_text_is_cut(story_text):
    tokenizer = story_text.tokenizer
    data = encode_pairs([Example("anna bought the oven.", "ben", 1), Example("anna", None, 0)], tokenizer, 7)
    a, b = tokenizer.encode("anna bought the oven."), tokenizer.encode("ben")
    assert data.token_ids[0].tolist() == [CLS, *a[: 4 - len(b)], SEP, *b, SEP]
    assert data.segment_ids[0].tolist() == [0] * (6 - len(b)) + [1] * (len(b) + 1)
    assert data.attention_mask[1].sum() == 2 + len(tokenizer.encode("anna")) and data.segment_ids[1].sum() == 0
    assert data.rows(torch.tensor([1])).token_ids.shape[1] == data.attention_mask[1].sum()  # padding is dropped
    assert data.token_ids[1, -1] == PAD


def test_a_wide_passage_is_cut_and_the_choices_are_not(story_text):
    tokenizer = story_text.tokenizer
    choices = ("ben bought the oven.", "ella praised the cake.")
    data = encode_choices([ChoiceExample("anna bought the flour. " * 9, choices, 1)], tokenizer, 32)
    assert data.token_ids.shape == (1, 2, 32) and data.labels.tolist() == [1]
    for row, segments, choice in zip(data.token_ids[0], data.segment_ids[0], choices, strict=True):
        assert row[segments.bool()].tolist() == [*tokenizer.encode(choice), SEP]


def test_characters_of_pieces_point_back_into_the_text(text):
    ids, characters = pieces_with_characters(CONTEXT, text.tokenizer)
    assert ids == text.tokenizer.encode(CONTEXT)
    covered = {at for begin, end in characters for at in range(begin, end)}
    assert covered == {at for at, character in enumerate(CONTEXT) if not character.isspace()}
    senate = [CONTEXT[begin:end] for begin, end in characters if 4 <= begin < 10]
    assert "".join(senate) == "Senate"
    ligature = CONTEXT.index("o\ufb03ce")  # it becomes "office", which is longer: each piece stands for the whole word
    assert {CONTEXT[begin:end] for begin, end in characters if begin >= ligature and end <= ligature + 4} == {"o\ufb03ce"}


@pytest.mark.parametrize("answer", ["Senate", "1859", "new chamber", "cafés"])
def test_an_answer_becomes_positions_and_comes_back(text, answer):
    example = SpanExample("q", "What?", CONTEXT, (answer,), CONTEXT.index(answer))
    spans = encode_spans([example], text.tokenizer, 64)
    first, last = spans.data.labels[0].tolist()
    found = CONTEXT[spans.characters[0, first, 0] : spans.characters[0, last, 1]]
    assert answer in found and len(found) <= len(answer) + 2
    assert spans.data.segment_ids[0, first] == 1 and spans.skipped == 0


def test_answers_outside_the_window_or_misplaced_are_skipped_and_counted(text):
    end = SpanExample("q", "What?", CONTEXT, ("cafés",), CONTEXT.index("cafés"))
    misplaced = SpanExample("q", "What?", CONTEXT, ("Senate",), 5)
    none = SpanExample("q", "What?", CONTEXT, ())
    spans = encode_spans([end, misplaced, none], text.tokenizer, 16)
    assert spans.skipped == 2 and spans.data.labels.tolist() == [[IGNORE, IGNORE]]


def test_squad_files_of_both_versions(tmp_path):
    one = {"id": "a", "question": "When?", "answers": [{"text": "1859", "answer_start": 18}]}
    two = {"id": "b", "question": "Who?", "answers": [], "plausible_answers": [], "is_impossible": True}
    found = read_squad(squad(tmp_path, [one, two]))
    assert found == [SpanExample("a", "When?", CONTEXT, ("1859",), 18), SpanExample("b", "Who?", CONTEXT, ())]
    with pytest.raises(TaskFileError, match="question b has no answer"):
        read_squad(squad(tmp_path, [two | {"is_impossible": False}]))
    with pytest.raises(TaskFileError, match="line 2 is not JSON"):
        read_squad(written(tmp_path, "bad.json", '{"data":\n oh'))


def test_race_fills_the_blank_or_adds_the_option(tmp_path):
    article = {"article": "It rained.", "id": "1.txt", "answers": ["B", "A"], "questions": ["It _ .", "What fell?"],
               "options": [["snowed", "rained", "shone", "blew"], ["rain", "snow", "hail", "frogs"]]}  # fmt: skip
    written(tmp_path, "middle/1.txt", json.dumps(article))
    first, second = read_race(tmp_path)
    assert (first.choices[1], first.label) == ("It rained .", 1) and second.choices[0] == "What fell? rain"
    written(tmp_path, "middle/1.txt", json.dumps(article | {"answers": ["E", "A"]}))
    with pytest.raises(TaskFileError, match=r"1\.txt: 'It _ \.' needs 4 options and an answer A to D"):
        read_race(tmp_path)
    with pytest.raises(TaskFileError, match=r"holds no \.txt file"):
        read_race(tmp_path / "high")


def test_course_tasks_are_repeatable_and_balanced():
    for made in (lambda s: story_topic(examples=400, seed=s), lambda s: story_gap(examples=400, seed=s),
                 lambda s: sentiment("review", 80, seed=s), lambda s: same_address(80, seed=s)):  # fmt: skip
        split = made(0)
        assert split == made(0) and split != made(1)
        assert len(split.test) * 3 == len(split.train)
        if max(example.label for example in split.train) == 1:
            assert 0.4 < sum(example.label for example in split.train) / len(split.train) < 0.6


def test_a_sentence_of_a_review_comes_from_the_same_review():
    one, all_of_it = sentiment("sentence", 40).train, sentiment("review", 40).train
    assert all(a.first in b.first and a.label == b.label for a, b in zip(one, all_of_it, strict=True))


def test_the_gap_is_what_the_label_says():
    from albert_edu.text.stories import STAGES

    for first, second, label in story_gap(examples=200).train:
        stages = [next(i for i, verbs in enumerate(STAGES) if set(verbs) & set(text.split())) for text in (first, second)]
        assert (stages[1] - stages[0] > 1) == label and stages[1] > stages[0]
