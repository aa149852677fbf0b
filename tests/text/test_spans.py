"""Answers in a context: from characters to tokens, through windows, and back."""

import numpy as np
import pytest

from albert_edu.batch import IGNORE
from albert_edu.text.tasks import SpanExample, encode_spans
from albert_edu.text.tokenizer import CLS, PAD, SEP, normalise

CONTEXT = "The Senate met in 1859 (in the new chamber). The o\ufb03ce spoke of caf\u00e9s."
ODD = [
    CONTEXT,
    "  ``Caf\u00e9 Nord''   cost \u00bd ... ",
    "cafe\u0301 \u0301nord\u0301",
    "\u5317\u4eac\u5728\u4e2d\u56fd\u2026\u4eba\u53e3\u5f88\u591a",
    "\ud55c\uad6d\uc758 \uc218\ub3c4",
    "the <unk> of <unk><unk> seven<unk>",
    "\u03a3\u0391\u03a3 \u0130stanbul\u00b4s \ufdfa x\u200by a\x1cb\u2029c",
    "",
    " \u0301 ",
]


@pytest.mark.parametrize("context", ODD)
def test_characters_of_tokens_point_back_into_the_text(text, context):
    ids, characters = text.tokenizer.encode_with_offsets(context)
    assert ids == text.tokenizer.encode(context) and len(characters) == len(ids)
    assert all(0 <= start <= end <= len(context) for start, end in characters)
    starts = [start for start, end in characters if start < end]
    assert starts == sorted(starts)
    for piece, (start, end) in zip(text.tokenizer.pieces(ids), characters, strict=True):
        if piece.strip("\u2581").isalpha():
            assert piece.strip("\u2581") in normalise(context[start:end])
            assert not context[start].isspace()


def test_an_accent_of_its_own_belongs_to_the_letter_before_it_and_every_blank_divides(text):
    _, places = text.tokenizer.encode_with_offsets("cafe\u0301, cafe")
    assert {(3, 5), (5, 6)} <= {*places}, "the e with its accent, and the comma"
    assert text.tokenizer.encode_with_offsets("the <unk> the")[1] == [(0, 3), (4, 9), (10, 13)]
    for blank in "\t\x1c\u2029\xa0\u3000\x85":
        assert text.tokenizer.encode_with_offsets(f"the{blank}the")[1] == [(0, 3), (4, 7)]


def test_a_character_that_becomes_three_does_not_make_the_whole_context_an_answer(text):
    context = ODD[3] + " The Senate met in the new chamber."
    answer = SpanExample("?", context, (context[6:8],), 6)
    _, places = text.tokenizer.encode_with_offsets(context)
    dots = [place for place in places if place == (5, 6)]
    assert len(dots) == 3
    with pytest.warns(UserWarning, match=r"of the tokens of the rows are unknown"):
        spans = encode_spans([answer], text.tokenizer, 64)
    first, last = spans.data.labels[0] - spans.data.segment_ids[0].argmax()
    covered = spans.characters[0][first : last + 1]
    assert covered.max() <= len(context) and covered[0, 0] >= 6


ANSWERS = ["Senate", "1859", "in the", "new chamber", "cafés", "The", "spoke of"]


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_becomes_positions_in_each_window_that_holds_all_of_it_and_comes_back(
    text, answer
):
    example = SpanExample("What?", CONTEXT, (answer,), CONTEXT.index(answer))
    spans = encode_spans([example, example._replace(answers=(), start=-1)], text.tokenizer, 16)
    data, begin, end = spans.data, example.start, example.start + len(answer)
    assert spans.unanswerable and (data.labels != IGNORE).any()
    windows = (spans.question_of, spans.characters, data.segment_ids, data.labels)
    for question, characters, segments, label in zip(*windows, strict=True):
        holds_it = question == 0 and characters[0, 0] <= begin and end <= characters[-1, 1]
        assert (label != IGNORE).all() == holds_it == (label != IGNORE).any()
        if holds_it:
            # The token with its first character, and that with its last.
            (b, e), (b_last, e_last) = characters[label - segments.argmax()]
            assert b <= begin < e and b_last < end <= e_last


@pytest.mark.parametrize(
    ("sequence_length", "kept", "stride"), [(48, 16, 14), (192, 64, 62), (400, 64, 128)]
)
def test_a_question_keeps_a_third_of_the_window_or_64_tokens_and_windows_overlap(
    text, sequence_length, kept, stride
):
    long, context = "Which of the two was it? " * 20, CONTEXT * 20
    examples = [SpanExample(long, context, ()), SpanExample("Who?", "In 1859.", ())]
    spans = encode_spans(examples, text.tokenizer, sequence_length)
    question = text.tokenizer.encode(long)[:kept]
    ids, places = text.tokenizer.encode_with_offsets(context)
    room, rows = sequence_length - 3 - kept, len(spans.question_of) - 1
    # The last window is the first to reach the end.
    assert (rows - 2) * stride + room < len(ids) <= (rows - 1) * stride + room
    assert spans.question_of.tolist() == [0] * rows + [1]
    for row in range(rows):
        window = slice(row * stride, row * stride + room)
        laid = [CLS, *question, SEP, *ids[window], SEP]
        assert spans.data.token_ids[row].tolist() == laid + [PAD] * (sequence_length - len(laid))
        assert np.array_equal(spans.characters[row], places[window])
