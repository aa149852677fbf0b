"""Examples as tensors: what the model sees of one text, of two, and of a choice."""

import pytest

from albert_edu.text.tasks import (
    Example,
    SpanExample,
    as_data,
    encode_pairs,
    encode_spans,
)
from albert_edu.text.tokenizer import CLS, PAD, SEP, TokenizerError


def test_pairs_are_laid_out_and_what_does_not_fit_is_cut_from_the_longer_text(story_text):
    tokenizer, long, short = story_text.tokenizer, "anna bought the oven.", "ben"
    a, b = tokenizer.encode(long), tokenizer.encode(short)
    for room, kept in ((len(a), a), (len(a) - 1, a[:-1])):
        data = encode_pairs([Example(long, None, 1)], tokenizer, room + 2)
        assert data.token_ids.tolist() == [[CLS, *kept, SEP]]
    for room, kept in ((len(a) + len(b), a), (len(a) + len(b) - 1, a[:-1])):
        data = encode_pairs([Example(long, short, 1), Example(short, long, 0)], tokenizer, room + 3)
        assert data.token_ids.tolist() == [[CLS, *kept, SEP, *b, SEP], [CLS, *b, SEP, *kept, SEP]]
        assert data.segment_ids[0].tolist() == [0] * (len(kept) + 2) + [1] * (len(b) + 1)
        assert data.labels.tolist() == [1, 0] and len(data) == 2
    # Of two that are as long it is the second, as in the original.
    for lost_a, lost_b in ((0, 1), (1, 1), (1, 2)):
        ids = [CLS, *a[: len(a) - lost_a], SEP, *a[: len(a) - lost_b], SEP]
        assert encode_pairs([Example(long, long, 1)], tokenizer, len(ids)).token_ids.tolist() == [
            ids
        ]


def test_rows_lose_the_columns_that_are_padding_in_all_of_them_and_everything_moves_to_a_device(
    story_text,
):
    tokenizer, texts = story_text.tokenizer, ["anna", "anna bought the oven.", "ben bought"]
    one, long, two = (len(tokenizer.encode(text)) for text in texts)
    data = encode_pairs([Example(text, None, 0) for text in texts], tokenizer, 32)
    assert data.attention_mask[0].sum() == 2 + one and not data.segment_ids.any()
    assert (data.token_ids[data.attention_mask == 0] == PAD).all()
    assert data.rows([0, 2]).token_ids.shape == (2, 2 + two)
    choices = encode_pairs([Example("anna", ("ben", texts[1]), 1)] * 3, tokenizer, 32)
    choices = choices.rows([0, 2])
    assert choices.token_ids.shape == (2, 2, 4 + long) and choices.labels.tolist() == [1, 1]
    assert {part.device.type for part in vars(choices.to("meta")).values()} == {"meta"}


def test_what_cannot_be_encoded_is_refused(story_text):
    with pytest.raises(ValueError, match="no example to encode"):
        encode_pairs([], story_text.tokenizer, 16)
    two, one = Example("a", ("b", "c"), 0), Example("a", ("b",), 0)
    with pytest.raises(ValueError, match="as many choices, these have \\[1, 2\\]"):
        encode_pairs([two, one], story_text.tokenizer, 16)
    with pytest.raises(ValueError, match="sequence_length 4 is too short: 5 tokens"):
        as_data([([7], [8])], [0], story_text.tokenizer, 4)


def test_a_long_choice_keeps_its_end_up_to_half_of_the_room_and_the_passage_fills_the_rest(
    story_text,
):
    tokenizer, passage = story_text.tokenizer, "anna bought the flour. " * 9
    long, short = "ben bought the oven. " * 5 + "ella praised the cake.", "ella praised the cake."
    data = encode_pairs([Example(passage, (long, short), 1)], tokenizer, 24)
    choices = (tokenizer.encode(long)[-10:], tokenizer.encode(short))
    assert data.token_ids[0].tolist() == [
        [CLS, *tokenizer.encode(passage)[: 21 - len(c)], SEP, *c, SEP] for c in choices
    ]
    assert data.segment_ids[0].sum(1).tolist() == [len(c) + 1 for c in choices]


def test_rows_in_another_script_are_refused_whatever_the_task(story_text):
    """test_unknown.py has the scripts."""
    tokenizer, text = story_text.tokenizer, "президент здесь"
    for encode, rows in (
        (encode_pairs, [Example(text, None, 0)]),
        (encode_pairs, [Example("anna opened the oven.", text, 0)]),
        (encode_pairs, [Example(text, ("a", "b"), 0)]),
        (encode_spans, [SpanExample("opened", text, (), -1)]),
        (encode_spans, [SpanExample(text, "anna opened the oven.", (), -1)]),
    ):
        with pytest.raises(TokenizerError, match="are unknown; most often"):
            encode(rows, tokenizer, 32)
    rows = [Example("anna opened the oven.", None, 0), *[Example(text, None, 0)] * 20]
    with pytest.raises(TokenizerError, match="are unknown; most often"):
        encode_pairs(rows, tokenizer, 32)  # the first row is not the only one that counts
