"""Files of GLUE, SQuAD and RACE in their real formats, as tensors."""

import json

import pandas as pd
import pytest
import torch

from albert_edu.text.glue import glue_name
from albert_edu.text.masking import IGNORE
from albert_edu.text.task_files import (
    SpanExample,
    TaskFileError,
    encode_spans,
    read_glue,
    read_race,
    read_squad,
    tokens_with_offsets,
)
from albert_edu.text.tasks import (
    ChoiceExample,
    Example,
    as_data,
    encode_choices,
    encode_pairs,
)
from albert_edu.text.tokenizer import CLS, PAD, SEP, normalise

FILES = {  # task: file, and what it says
    "CoLA": ("gj04\t1\t\tThe sailors rode the breeze.\ngj04\t0\t*\tThe more does Bill smoke.\n",
             [("The sailors rode the breeze.", None, 1), ("The more does Bill smoke.", None, 0)]),
    "SST-2": ("sentence\tlabel\n\"open quote \t1\ndull \t0\n", [('"open quote ', None, 1), ("dull ", None, 0)]),
    "MRPC": ("\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n1\t7\t8\tHe came.\tHe arrived.\r\n",
             [("He came.", "He arrived.", 1)]),
    "QQP": ("id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n0\t1\t2\tWhy?\tHow?\t0\n", [("Why?", "How?", 0)]),
    "STS": ("index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"
            "0\tm\tf\t2012\t1\tn\tn\tA plane.\tAn air plane.\t4.500\n", [("A plane.", "An air plane.", 4.5)]),
    "MNLI": ("index\tsentence1\tsentence2\tlabel1\tgold_label\n0\tIt rains.\tIt is wet.\tneutral\tentailment\n"
             "1\tA.\tB.\tneutral\tcontradiction\n2\tA.\tC.\tneutral\tneutral\n",
             [("It rains.", "It is wet.", 0), ("A.", "B.", 2), ("A.", "C.", 1)]),
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
        ("STS", FILES["STS"][0].replace("4.500", "nan"), "line 2: the label is 'nan', where STS has a number"),
        ("CoLA", "gj04\t1\t\n", "line 1 has no column 'sentence'.*CoLA has columns 'sentence', 'label'"),
        ("RTE", FILES["RTE"][0] + "1\tA.\n", "line 3 is too short: RTE has columns 'sentence1', 'sentence2', 'label'"),
        ("SST-2", "sentence\tlabel\nfine\t-1\n", "line 2: the label is '-1'"),
        ("SST-2", "", "cannot be read as a table: No columns"),
        ("SST", "", "there is no GLUE task 'SST'"),
    ],
)
def test_a_bad_glue_file_is_named_with_the_line(tmp_path, task, text, message):
    with pytest.raises(TaskFileError, match=message):
        read_glue(task, written(tmp_path, "dev.tsv", text))


@pytest.mark.parametrize(
    ("name", "task"),
    [("sst2", "SST-2"), ("SST-2", "SST-2"), ("sst_2", "SST-2"), ("STS-B", "STS"), ("stsb", "STS"), ("MNLI-m", "MNLI"),
     ("mnli_mismatched", "MNLI"), ("cola", "CoLA"), ("WNLI", "WNLI")],
)  # fmt: skip
def test_tasks_are_known_by_the_names_that_people_write(name, task):
    assert glue_name(name) == task


def test_tables_of_the_hub_have_other_columns_and_numbers_for_labels(tmp_path):
    mnli = pd.DataFrame({"premise": ["A.", "A.", "A."], "hypothesis": ["B.", "C.", "D."], "label": [0, 1, 2], "idx": [0, 1, 2]})
    mnli.to_parquet(tmp_path / "dev.parquet")
    mnli.to_csv(tmp_path / "dev.csv", index=False)
    by_name = written(tmp_path, "dev.tsv", "sentence1\tsentence2\tgold_label\nA.\tB.\tentailment\nA.\tC.\tneutral\n"
                      "A.\tD.\tcontradiction\n")  # fmt: skip
    for task, path in (("mnli", "dev.parquet"), ("MNLI-m", "dev.csv")):
        assert read_glue(task, tmp_path / path) == read_glue("MNLI", by_name)
    stsb = written(tmp_path, "stsb.csv", 'sentence1,sentence2,label,idx\n"A plane, red.",An air plane.,4.5,0\n')
    assert read_glue("stsb", stsb) == [Example("A plane, red.", "An air plane.", 4.5)]
    for text in ("sentence\tlabel\nIt rains.\t1\nRains it it.\t0\n", "1\tIt rains.\n0\tRains it it.\n"):
        assert read_glue("cola", written(tmp_path, "cola.tsv", text)) == [
            Example("It rains.", None, 1), Example("Rains it it.", None, 0),
        ]  # fmt: skip


def test_short_rows_of_qqp_are_left_out_aloud(tmp_path):
    path = written(tmp_path, "train.tsv", FILES["QQP"][0] + "1\t3\t4\tWhat\n")
    with pytest.warns(UserWarning, match=r"train\.tsv: 1 rows are too short"):
        assert len(read_glue("QQP", str(path))) == 1


def test_pairs_are_laid_out_and_the_longer_text_is_cut(story_text):
    tokenizer = story_text.tokenizer
    data = encode_pairs([Example("anna bought the oven.", "ben", 1), Example("anna", None, 0)], tokenizer, 7)
    a, b = tokenizer.encode("anna bought the oven."), tokenizer.encode("ben")
    assert data.token_ids[0].tolist() == [CLS, *a[: 4 - len(b)], SEP, *b, SEP]
    assert data.segment_ids[0].tolist() == [0] * (6 - len(b)) + [1] * (len(b) + 1)
    assert data.attention_mask[1].sum() == 2 + len(tokenizer.encode("anna")) and data.segment_ids[1].sum() == 0
    assert data.rows(torch.tensor([1])).token_ids.shape[1] == data.attention_mask[1].sum()  # padding is dropped
    assert data.token_ids[1, -1] == PAD


def test_a_text_that_just_fits_loses_nothing_and_a_pair_that_does_not_loses_one_piece_of_the_longer(story_text):
    tokenizer, long, short = story_text.tokenizer, "anna bought the oven.", "ben"
    a, b = tokenizer.encode(long), tokenizer.encode(short)
    assert encode_pairs([Example(long, None, 1)], tokenizer, len(a) + 2).token_ids.tolist() == [[CLS, *a, SEP]]
    for room, kept in ((len(a) + len(b), a), (len(a) + len(b) - 1, a[:-1])):
        data = encode_pairs([Example(long, short, 1), Example(short, long, 0)], tokenizer, room + 3)
        assert data.token_ids.tolist() == [[CLS, *kept, SEP, *b, SEP], [CLS, *b, SEP, *kept, SEP]]
        assert data.labels.tolist() == [1, 0] and len(data) == 2
    even = encode_pairs([Example(long, long, 1)], tokenizer, 2 * len(a) + 2)
    assert even.token_ids.tolist() == [[CLS, *a, SEP, *a[:-1], SEP]]  # of two that are as long it is the second, as in the original


def test_rows_lose_the_columns_that_are_padding_in_all_of_them_and_everything_moves_to_a_device(story_text):
    tokenizer, texts = story_text.tokenizer, ["anna", "anna bought the oven.", "ben bought"]
    data = encode_pairs([Example(text, None, 0) for text in texts], tokenizer, 32)
    assert data.rows([0, 2]).token_ids.shape == (2, 2 + len(tokenizer.encode(texts[2])))
    choices = encode_choices([ChoiceExample("anna", ("ben", texts[1]), 1)] * 3, tokenizer, 32).rows([0, 2])
    assert choices.token_ids.shape == (2, 2, 4 + len(tokenizer.encode(texts[1]))) and choices.labels.tolist() == [1, 1]
    for part in vars(choices.to("meta")).values():
        assert part.device.type == "meta"


def test_what_cannot_be_encoded_is_refused(story_text):
    with pytest.raises(ValueError, match="no example to encode"):
        encode_pairs([], story_text.tokenizer, 16)
    with pytest.raises(ValueError, match="same number of choices, these have \\[1, 2\\]"):
        encode_choices([ChoiceExample("a", ("b", "c"), 0), ChoiceExample("a", ("b",), 0)], story_text.tokenizer, 16)
    with pytest.raises(ValueError, match="sequence_length 4 is too short: an example has 5 pieces"):
        as_data([([CLS, 7, SEP, 8, SEP], 3)], [0], 4)


def test_a_long_choice_keeps_its_end_up_to_half_of_the_window_and_the_passage_fills_the_rest(story_text):
    tokenizer, passage = story_text.tokenizer, "anna bought the flour. " * 9
    long, short = "ben bought the oven. " * 5 + "ella praised the cake.", "ella praised the cake."
    data = encode_choices([ChoiceExample(passage, (long, short), 1)], tokenizer, 24)
    choices = (tokenizer.encode(long)[-12:], tokenizer.encode(short))
    assert data.token_ids[0].tolist() == [[CLS, *tokenizer.encode(passage)[: 21 - len(c)], SEP, *c, SEP] for c in choices]


def test_a_wide_passage_is_cut_and_the_choices_are_not(story_text):
    tokenizer = story_text.tokenizer
    choices = ("ben bought the oven.", "ella praised the cake.")
    data = encode_choices([ChoiceExample("anna bought the flour. " * 9, choices, 1)], tokenizer, 32)
    assert data.token_ids.shape == (1, 2, 32) and data.labels.tolist() == [1]
    for row, segments, choice in zip(data.token_ids[0], data.segment_ids[0], choices, strict=True):
        assert row[segments.bool()].tolist() == [*tokenizer.encode(choice), SEP]


def test_characters_of_pieces_point_back_into_the_text(text):
    ids, characters = tokens_with_offsets(CONTEXT, text.tokenizer)
    assert ids == text.tokenizer.encode(CONTEXT)
    covered = {at for begin, end in characters for at in range(begin, end)}
    assert covered == {at for at, character in enumerate(CONTEXT) if not character.isspace()}
    said, pieces = [CONTEXT[begin:end] for begin, end in characters], text.tokenizer.pieces(ids)
    assert "o\ufb03ce" in said  # it becomes "office", which is longer: each of its pieces stands for the whole word
    assert [normalise(part) for part in said if part != "o\ufb03ce"] == [
        piece.replace("▁", "") for piece, part in zip(pieces, said, strict=True) if part != "o\ufb03ce"
    ]


@pytest.mark.parametrize("answer", ["Senate", "1859", "in the", "new chamber", "cafés", "The"])
def test_an_answer_becomes_positions_and_comes_back(text, answer):
    example = SpanExample("q", "What?", CONTEXT, (answer,), CONTEXT.index(answer))
    spans = encode_spans([example], text.tokenizer, 64)
    first, last = spans.data.labels[0].tolist()
    begin, end = example.start, example.start + len(answer)
    (b, e), (b_last, e_last) = spans.characters[0, [first, last]].tolist()
    assert b <= begin < e and b_last < end <= e_last  # the piece with its first character, and the one with its last
    assert spans.data.segment_ids[0, first] == 1 and spans.skipped == 0


@pytest.mark.parametrize(("sequence_length", "kept"), [(48, 16), (192, 64), (300, 64)])
def test_a_question_keeps_a_third_of_the_window_or_64_pieces_and_the_context_takes_the_rest(text, sequence_length, kept):
    long, short = "Which of the two was it? " * 20, "Who?"
    questions = [SpanExample("q", question, context, ()) for question, context in ((long, CONTEXT * 20), (short, "In 1859."))]
    data, examples, characters, skipped = encode_spans(questions, text.tokenizer, sequence_length)
    assert examples == questions and skipped == 0
    for row, example, keep in zip(range(2), examples, (kept, 99), strict=True):
        question = text.tokenizer.encode(example.question)[:keep]
        ids, places = tokens_with_offsets(example.context, text.tokenizer)
        room = sequence_length - 3 - len(question)
        laid, outside = [CLS, *question, SEP, *ids[:room], SEP], [(0, 0)] * (len(question) + 2)
        empty = sequence_length - len(laid)
        assert data.token_ids[row].tolist() == laid + [PAD] * empty
        assert list(map(tuple, characters[row].tolist())) == outside + places[:room] + [(0, 0)] * (1 + empty)


def test_answers_outside_the_window_are_skipped_and_counted(text):
    end = SpanExample("q", "What?", CONTEXT, ("cafés",), CONTEXT.index("cafés"))
    none = SpanExample("q", "What?", CONTEXT, ())
    spans = encode_spans([end, none], text.tokenizer, 16)
    assert spans.skipped == 1 and spans.data.labels.tolist() == [[IGNORE, IGNORE]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": [{"text": "1859", "answer_start": 17}]}, "question b: the answer '1859' is not at character 17"),
        ({"answers": [{"text": "", "answer_start": 18}]}, "question b: the answer '' is not at"),
        ({"id": "a"}, "two questions have the id a"),
        ({"question": " "}, "question b or its context is empty"),
        ({"answers": [{"text": "1859"}]}, r"not laid out like SQuAD .*KeyError\('answer_start'\)"),
        ({"answers": "1859"}, "not laid out like SQuAD"),
    ],
)
def test_a_squad_file_that_contradicts_itself_is_refused_with_the_question(tmp_path, change, message):
    one = {"id": "a", "question": "When?", "answers": [{"text": "1859", "answer_start": 18}]}
    with pytest.raises(TaskFileError, match=message):
        read_squad(squad(tmp_path, [one, one | {"id": "b"} | change]))


def test_squad_files_of_both_versions(tmp_path):
    one = {"id": "a", "question": "When?", "answers": [{"text": "1859", "answer_start": 18}]}
    two = {"id": "b", "question": "Who?", "plausible_answers": one["answers"], "is_impossible": True}
    found = read_squad(str(squad(tmp_path, [one, two])))
    assert found == [SpanExample("a", "When?", CONTEXT, ("1859",), 18), SpanExample("b", "Who?", CONTEXT, ())]
    with pytest.raises(TaskFileError, match="question b has no answer"):
        read_squad(squad(tmp_path, [two | {"answers": [], "is_impossible": False}]))
    with pytest.raises(TaskFileError, match="line 2 is not JSON"):
        read_squad(written(tmp_path, "bad.json", '{"data":\n oh'))
    for other in ('{"version": 2}', '["data"]'):
        with pytest.raises(TaskFileError, match=r"other\.json has no 'data'\. Is it another"):
            read_squad(written(tmp_path, "other.json", other))


def test_race_fills_the_blank_or_adds_the_option(tmp_path):
    article = {"article": "It rained.", "id": "1.txt", "answers": ["B", "A"], "questions": ["It _ .", "What fell?"],
               "options": [["snowed", "rained", "shone", "blew"], ["rain", "snow", "hail", "frogs"]]}  # fmt: skip
    written(tmp_path, "middle/1.txt", json.dumps(article))
    assert read_race(str(tmp_path)) == [
        ChoiceExample("It rained.", ("It snowed .", "It rained .", "It shone .", "It blew ."), 1),
        ChoiceExample("It rained.", ("What fell? rain", "What fell? snow", "What fell? hail", "What fell? frogs"), 0),
    ]
    written(tmp_path, "middle/1.txt", json.dumps(article | {"answers": ["E", "A"]}))
    with pytest.raises(TaskFileError, match=r"1\.txt: 'It _ \.' needs 4 options and an answer A to D"):
        read_race(tmp_path)
    written(tmp_path, "middle/1.txt", json.dumps(article | {"answers": ["B"]}))
    with pytest.raises(TaskFileError, match=r"1\.txt: its questions, options and answers do not match"):
        read_race(tmp_path)
    with pytest.raises(TaskFileError, match=r"holds no \.txt file"):
        read_race(tmp_path / "high")
