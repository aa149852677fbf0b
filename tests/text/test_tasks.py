"""Files of GLUE, SQuAD and RACE in their real formats, as tensors."""

import json

import numpy as np
import pandas as pd
import pytest

from albert_edu.text.glue import TaskFileError, read_glue, task_name
from albert_edu.text.masking import IGNORE
from albert_edu.text.task_files import (
    SpanExample,
    encode_spans,
    read_race,
    read_squad,
    tokens_with_offsets,
)
from albert_edu.text.tasks import ChoiceExample, Example, as_data, encode_choices, encode_pairs
from albert_edu.text.tokenizer import CLS, PAD, SEP, normalise

FILES = {  # task: file, and what it says
    "CoLA": (
        "gj04\t1\t\tThe sailors rode the breeze.\ngj04\t0\t*\tThe more does Bill smoke.\n",
        [("The sailors rode the breeze.", None, 1), ("The more does Bill smoke.", None, 0)],
    ),
    "SST-2": (
        'sentence\tlabel\n"open quote \t1\ndull \t0\n',
        [('"open quote ', None, 1), ("dull ", None, 0)],
    ),
    "MRPC": (
        "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n1\t7\t8\tHe came.\tHe arrived.\r\n",
        [("He came.", "He arrived.", 1)],
    ),
    "QQP": (
        "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n0\t1\t2\tWhy?\tHow?\t0\n",
        [("Why?", "How?", 0)],
    ),
    "STS": (
        "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"
        "0\tm\tf\t2012\t1\tn\tn\tA plane.\tAn air plane.\t4.500\n",
        [("A plane.", "An air plane.", 4.5)],
    ),
    "MNLI": (
        "index\tsentence1\tsentence2\tlabel1\tgold_label\n0\tIt rains.\tIt is wet.\tneutral\tentailment\n"
        "1\tA.\tB.\tneutral\tcontradiction\n2\tA.\tC.\tneutral\tneutral\n",
        [("It rains.", "It is wet.", 1), ("A.", "B.", 0), ("A.", "C.", 2)],
    ),
    "QNLI": (
        "index\tquestion\tsentence\tlabel\n0\tWho?\tShe did.\tnot_entailment\n",
        [("Who?", "She did.", 1)],
    ),
    "RTE": ("index\tsentence1\tsentence2\tlabel\n\n0\tA.\tB.\tentailment\n", [("A.", "B.", 0)]),
    "WNLI": ("index\tsentence1\tsentence2\tlabel\n0\tA.\tB.\t1\n", [("A.", "B.", 1)]),
}
CONTEXT = "The Senate met in 1859 (in the new chamber). The o\ufb03ce spoke of caf\u00e9s."


def written(folder, name: str, text: str):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def squad(folder, questions: list[dict]):
    data = {
        "version": "v2.0",
        "data": [{"title": "t", "paragraphs": [{"context": CONTEXT, "qas": questions}]}],
    }
    return written(folder, "dev.json", json.dumps(data))


@pytest.mark.parametrize("task", FILES)
def test_a_glue_file_is_read_as_it_is_published(tmp_path, task):
    text, wanted = FILES[task]
    examples = [Example(*example) for example in wanted]
    path = written(tmp_path, "dev.tsv", text)
    assert read_glue(task, path) == examples
    assert read_glue(task.upper(), str(path), labelled=False) == [
        example._replace(label=0) for example in examples
    ]


@pytest.mark.parametrize(
    ("kind", "options"),
    [("parquet", {}), ("csv", {}), ("json", {"orient": "records", "lines": True})],
)
def test_tables_of_the_hub_have_other_columns_and_number_the_classes_in_another_order(
    tmp_path, kind, options
):
    table = pd.DataFrame(
        {"premise": ['"A, b', "007", "A."], "hypothesis": ["1", "02", "3"], "label": [0, 1, 2.0]}
    )
    path = tmp_path / f"dev.{kind.replace('json', 'jsonl')}"
    getattr(table, f"to_{kind}")(path, **options)
    assert read_glue("mnli_matched", path) == [
        Example('"A, b', "1", 1),
        Example("007", "02", 2),
        Example("A.", "3", 0),
    ]


@pytest.mark.parametrize(
    "text", ["sentence\tlabel\nIt rains.\t1\nRains it it.\t0\n", "1\tIt rains.\n0\tRains it it.\n"]
)
def test_cola_may_have_a_header_or_two_columns(tmp_path, text):
    examples = read_glue("cola", written(tmp_path, "cola.tsv", text))
    assert examples == [Example("It rains.", None, 1), Example("Rains it it.", None, 0)]


@pytest.mark.parametrize(
    ("task", "text", "message"),
    [
        (
            "SST-2",
            "index\tsentence\n0\tfine\n",
            r"line 1 has no column 'label'.*SST-2 has the columns sentence, label\.",
        ),
        (
            "SST-2",
            "sentence\tlabel\nfine\t1\nfine\t2\n",
            "line 3: the label is '2', where SST-2 has 0 or 1",
        ),
        ("SST-2", "sentence\tlabel\n \t1\n", "line 2 has an empty cell"),
        ("SST-2", "sentence\tlabel\nfine\tly\t1\n", "Expected 2 fields in line 2, saw 3"),
        ("SST-2", "sentence\tlabel\n" + "x" * (1 << 20), "line 2 has an empty cell"),
        ("SST-2", "sentence\tlabel\n", "dev.tsv has no examples"),
        ("SST-2", "", "No columns.*SST-2 has the columns sentence, label"),
        (
            "STS",
            FILES["STS"][0].replace("4.500", "much"),
            "line 2: the label is 'much', where STS has a number",
        ),
        ("STS", FILES["STS"][0].replace("4.500", "nan"), "line 2: the label is 'nan'"),
        (
            "MRPC",
            FILES["RTE"][0],
            "MRPC has the columns #1 String or sentence1, #2 String or sentence2, Quality or label",
        ),
        ("RTE", FILES["RTE"][0].replace("entailment", "1.5"), "line 3: the label is '1.5'"),
        ("CoLA", "gj04\t1\t\n", "line 1 has no column 'sentence'"),
        ("SST", "", "there is no task 'SST'; there are CoLA, SST-2, .*SQuAD, RACE"),
    ],
)
def test_a_bad_glue_file_is_named_with_the_line_and_the_layout(tmp_path, task, text, message):
    with pytest.raises(TaskFileError, match=message):
        read_glue(task, written(tmp_path, "dev.tsv", text))
    with pytest.raises(TaskFileError, match="no regular file"):
        read_glue("RTE", tmp_path)


def test_a_cell_without_a_value_is_empty(tmp_path):
    pd.DataFrame({"sentence": ["fine", None], "label": [1, 0]}).to_parquet(tmp_path / "dev.parquet")
    with pytest.raises(TaskFileError, match="line 2 has an empty cell"):
        read_glue("SST-2", tmp_path / "dev.parquet")


def test_short_rows_of_qqp_are_left_out_aloud(tmp_path):
    with pytest.warns(UserWarning, match=r"train\.tsv: 1 rows are too short"):
        assert (
            len(
                read_glue(
                    "QQP", written(tmp_path, "train.tsv", FILES["QQP"][0] + "1\t3\t4\tWhat\n")
                )
            )
            == 1
        )
    assert [task_name(name) for name in ("squad_v2", "Race-high", "mine")] == [
        "SQuAD",
        "RACE",
        "mine",
    ]


def test_pairs_are_laid_out_and_what_does_not_fit_is_cut_from_the_longer_text(story_text):
    tokenizer, long, short = story_text.tokenizer, "anna bought the oven.", "ben"
    a, b = tokenizer.encode(long), tokenizer.encode(short)
    assert encode_pairs([Example(long, None, 1)], tokenizer, len(a) + 2).token_ids.tolist() == [
        [CLS, *a, SEP]
    ]
    for room, kept in ((len(a) + len(b), a), (len(a) + len(b) - 1, a[:-1])):
        data = encode_pairs([Example(long, short, 1), Example(short, long, 0)], tokenizer, room + 3)
        assert data.token_ids.tolist() == [[CLS, *kept, SEP, *b, SEP], [CLS, *b, SEP, *kept, SEP]]
        assert data.segment_ids[0].tolist() == [0] * (len(kept) + 2) + [1] * (len(b) + 1)
        assert data.labels.tolist() == [1, 0] and len(data) == 2
    even = encode_pairs([Example(long, long, 1)], tokenizer, 2 * len(a) + 2)
    assert even.token_ids.tolist() == [
        [CLS, *a, SEP, *a[:-1], SEP]
    ]  # of two that are as long it is the second, as in the original


def test_rows_lose_the_columns_that_are_padding_in_all_of_them_and_everything_moves_to_a_device(
    story_text,
):
    tokenizer, texts = story_text.tokenizer, ["anna", "anna bought the oven.", "ben bought"]
    data = encode_pairs([Example(text, None, 0) for text in texts], tokenizer, 32)
    assert (
        data.attention_mask[0].sum() == 2 + len(tokenizer.encode("anna"))
        and not data.segment_ids.any()
    )
    assert (data.token_ids[data.attention_mask == 0] == PAD).all()
    assert data.rows([0, 2]).token_ids.shape == (2, 2 + len(tokenizer.encode(texts[2])))
    choices = encode_choices([ChoiceExample("anna", ("ben", texts[1]), 1)] * 3, tokenizer, 32).rows(
        [0, 2]
    )
    assert choices.token_ids.shape == (
        2,
        2,
        4 + len(tokenizer.encode(texts[1])),
    ) and choices.labels.tolist() == [1, 1]
    assert {part.device.type for part in vars(choices.to("meta")).values()} == {"meta"}


def test_what_cannot_be_encoded_is_refused(story_text):
    with pytest.raises(ValueError, match="no example to encode"):
        encode_pairs([], story_text.tokenizer, 16)
    with pytest.raises(ValueError, match="as many choices, these have \\[1, 2\\]"):
        encode_choices(
            [ChoiceExample("a", ("b", "c"), 0), ChoiceExample("a", ("b",), 0)],
            story_text.tokenizer,
            16,
        )
    with pytest.raises(ValueError, match="sequence_length 4 is too short for 5 tokens"):
        as_data([([CLS, 7, SEP, 8, SEP], 3)], [0], 4)


def test_a_long_choice_keeps_its_end_up_to_half_of_the_window_and_the_passage_fills_the_rest(
    story_text,
):
    tokenizer, passage = story_text.tokenizer, "anna bought the flour. " * 9
    long, short = "ben bought the oven. " * 5 + "ella praised the cake.", "ella praised the cake."
    data = encode_choices([ChoiceExample(passage, (long, short), 1)], tokenizer, 24)
    choices = (tokenizer.encode(long)[-12:], tokenizer.encode(short))
    assert data.token_ids[0].tolist() == [
        [CLS, *tokenizer.encode(passage)[: 21 - len(c)], SEP, *c, SEP] for c in choices
    ]
    assert data.segment_ids[0].sum(1).tolist() == [len(c) + 1 for c in choices]


def test_characters_of_tokens_point_back_into_the_text(text):
    ids, characters = tokens_with_offsets(CONTEXT, text.tokenizer)
    assert ids == text.tokenizer.encode(CONTEXT)
    covered = {at for begin, end in characters for at in range(begin, end)}
    assert covered == {at for at, character in enumerate(CONTEXT) if not character.isspace()}
    parts, pieces = [CONTEXT[begin:end] for begin, end in characters], text.tokenizer.pieces(ids)
    assert (
        "o\ufb03ce" in parts
    )  # it becomes "office", which is longer: each of its tokens stands for the whole word
    matches = [
        normalise(part) == piece.replace("▁", "") for part, piece in zip(parts, pieces, strict=True)
    ]
    assert all(match or part == "o\ufb03ce" for part, match in zip(parts, matches, strict=True))


@pytest.mark.parametrize(
    "answer", ["Senate", "1859", "in the", "new chamber", "cafés", "The", "spoke of"]
)
def test_an_answer_becomes_positions_in_each_window_that_holds_all_of_it_and_comes_back(
    text, answer
):
    example = SpanExample("q", "What?", CONTEXT, (answer,), CONTEXT.index(answer))
    spans = encode_spans([example, example._replace(answers=(), start=-1)], text.tokenizer, 16)
    begin, end = example.start, example.start + len(answer)
    assert spans.unanswerable and (spans.data.labels != IGNORE).any()
    windows = zip(
        spans.question_of, spans.characters, spans.data.segment_ids, spans.data.labels, strict=True
    )
    for question, characters, segments, label in windows:
        holds_it = question == 0 and characters[0, 0] <= begin and end <= characters[-1, 1]
        assert (label != IGNORE).all() == holds_it == (label != IGNORE).any()
        if holds_it:
            (b, e), (b_last, e_last) = characters[label - segments.argmax()]
            assert (
                b <= begin < e and b_last < end <= e_last
            )  # the token with its first character, and with its last


@pytest.mark.parametrize(
    ("sequence_length", "kept", "stride"), [(48, 16, 14), (192, 64, 62), (400, 64, 128)]
)
def test_a_question_keeps_a_third_of_the_window_or_64_tokens_and_windows_overlap(
    text, sequence_length, kept, stride
):
    long, context = "Which of the two was it? " * 20, CONTEXT * 20
    examples = [SpanExample("q", long, context, ()), SpanExample("q", "Who?", "In 1859.", ())]
    spans = encode_spans(examples, text.tokenizer, sequence_length)
    question, (ids, places) = (
        text.tokenizer.encode(long)[:kept],
        tokens_with_offsets(context, text.tokenizer),
    )
    room, rows = sequence_length - 3 - kept, len(spans.question_of) - 1
    assert (
        (rows - 2) * stride + room < len(ids) <= (rows - 1) * stride + room
    )  # the last window is the first to reach the end
    assert spans.question_of.tolist() == [0] * rows + [1]
    for row in range(rows):
        window = slice(row * stride, row * stride + room)
        laid = [CLS, *question, SEP, *ids[window], SEP]
        assert spans.data.token_ids[row].tolist() == laid + [PAD] * (sequence_length - len(laid))
        assert np.array_equal(spans.characters[row], places[window])


def test_squad_files_of_both_versions(tmp_path):
    answers = [{"text": "1859", "answer_start": 18}, {"text": "in 1859", "answer_start": 15}]
    one, two = (
        {"id": "a", "question": "When?"},
        {"id": "b", "question": "Who?", "answers": answers, "is_impossible": True},
    )
    examples = [
        SpanExample("a", "When?", CONTEXT, ("1859", "in 1859"), 18),
        SpanExample("b", "Who?", CONTEXT, ()),
    ]
    assert read_squad(str(squad(tmp_path, [one | {"answers": answers}, two]))) == examples
    assert read_squad(squad(tmp_path, [one]), labelled=False) == [
        examples[0]._replace(answers=(), start=-1)
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"answers": [{"text": "1859", "answer_start": 17}]},
            "question b: the answer '1859' is not at character 17",
        ),
        ({"answers": [{"text": "", "answer_start": 18}]}, "question b: the answer '' is not at"),
        ({"answers": []}, "question b has no answer and is not marked impossible"),
        ({"id": "a"}, "two questions have the id a"),
        ({"question": " "}, "question b or its context is empty"),
        ({"id": None}, "question None or its context is empty"),
        (
            {"answers": [{"text": "1859"}]},
            r"KeyError\('answer_start'\)\)\. SQuAD is JSON with data",
        ),
        ({"answers": "1859"}, "SQuAD is JSON with data"),
    ],
)
def test_a_squad_file_that_contradicts_itself_is_refused_with_the_question(
    tmp_path, change, message
):
    one = {"id": "a", "question": "When?", "answers": [{"text": "1859", "answer_start": 18}]}
    with pytest.raises(TaskFileError, match=rf"dev\.json is damaged.*{message}"):
        read_squad(squad(tmp_path, [one, one | {"id": "b"} | change]))


def test_what_is_no_squad_file_is_refused(tmp_path):
    for text, message in (
        ('{"data":\n oh', "line 2"),
        ("{}", r"'data'\)\)\. SQuAD is JSON with"),
        ("[1]", "not an object"),
        ('{"data": []}', "has no examples"),
    ):
        with pytest.raises(TaskFileError, match=message):
            read_squad(written(tmp_path, "bad.json", text))


ARTICLE = {
    "article": "It rained.",
    "id": "1.txt",
    "answers": ["C", "D"],
    "questions": ["It _ .", "What fell?"],
    "options": [["snowed", "rained", "shone", "blew"], ["rain", "snow", "hail", "frogs"]],
}


def test_race_fills_the_blank_or_adds_the_option(tmp_path):
    path = written(tmp_path, "middle/1.txt", json.dumps(ARTICLE))
    examples = [
        ChoiceExample("It rained.", ("It snowed .", "It rained .", "It shone .", "It blew ."), 2),
        ChoiceExample(
            "It rained.",
            ("What fell? rain", "What fell? snow", "What fell? hail", "What fell? frogs"),
            3,
        ),
    ]
    assert read_race(str(tmp_path)) == read_race(path) == examples
    assert read_race(path, labelled=False)[0] == examples[0]._replace(label=0)
    written(
        tmp_path,
        "middle/1.txt",
        json.dumps(ARTICLE | {key: [] for key in ("questions", "options", "answers")}),
    )
    with pytest.raises(TaskFileError, match="has no examples"):
        read_race(tmp_path)
    path.unlink()
    with pytest.raises(ValueError, match=r"holds no \.txt file"):
        read_race(tmp_path)


def test_tables_of_the_hub_have_a_question_in_each_row(tmp_path):
    rows = [
        {
            "id": "a",
            "context": CONTEXT,
            "question": "When?",
            "answers": {"answer_start": [18], "text": ["1859"]},
        },
        {
            "id": "b",
            "context": CONTEXT,
            "question": "Who?",
            "answers": {"answer_start": [], "text": []},
        },
    ]
    pd.DataFrame(rows).to_parquet(tmp_path / "squad.parquet")
    examples = [
        SpanExample("a", "When?", CONTEXT, ("1859",), 18),
        SpanExample("b", "Who?", CONTEXT, ()),
    ]
    assert read_squad(tmp_path / "squad.parquet") == examples
    pd.DataFrame(ARTICLE).set_axis(
        ["article", "id", "answer", "question", "options"], axis=1
    ).to_parquet(tmp_path / "race.parquet")
    assert read_race(tmp_path / "race.parquet") == read_race(
        written(tmp_path, "middle/1.txt", json.dumps(ARTICLE))
    )
    with pytest.raises(TaskFileError, match=r"squad\.parquet is damaged.*KeyError\('article'\)"):
        read_race(tmp_path / "squad.parquet")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": ["E", "A"]}, r"'It _ \.' has the options .* and answer 'E'"),
        ({"answers": ["B"]}, "shorter"),
        ({"options": [ARTICLE["options"][0], "rain"]}, "has the options rain"),
        ({"options": None}, "TypeError"),
        ({"article": " "}, "the article is empty"),
        ({"questions": [1, 2]}, "TypeError"),
    ],
)
def test_a_bad_article_of_race_is_named_with_the_layout(tmp_path, change, message):
    written(tmp_path, "middle/1.txt", json.dumps(ARTICLE | change))
    with pytest.raises(
        TaskFileError, match=rf"1\.txt is damaged.*{message}.* RACE is JSON with an article"
    ):
        read_race(tmp_path)
