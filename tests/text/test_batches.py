"""Batches: a pure function of corpus, settings, seed and step, laid out as [CLS] A [SEP] B [SEP] padding."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from albert_edu.text.batches import PretrainingBatch, PretrainingStream
from albert_edu.text.masking import max_predictions
from albert_edu.text.sentences import CorpusError
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import CLS, MASK, PAD, SEP

FIELDS = [field.name for field in dataclasses.fields(PretrainingBatch)]


def stream(
    text, objective="sop", batch_size=6, sequence_length=64, seed=0, **options
) -> PretrainingStream:
    return PretrainingStream(
        text.train, text.tokenizer, objective, batch_size, sequence_length, seed, **options
    )


def same(a: PretrainingBatch, b: PretrainingBatch) -> bool:
    return all(torch.equal(getattr(a, name), getattr(b, name)) for name in FIELDS)


def laid_out(corpus: TokenizedCorpus, pairs, sequence_length: int):
    """Token ids, segment ids and attention mask, one sequence after another."""
    rows = []
    for first, last in zip(pairs.start, pairs.end, strict=True):
        a, b = (
            corpus.tokens[corpus.sentences[i] : corpus.sentences[j]].tolist()
            for i, j in zip(first, last, strict=True)
        )
        ids = [CLS, *a, SEP, *b, SEP]
        padding = sequence_length - len(ids)
        segments, attention = [0] * (len(a) + 2) + [1] * (len(b) + 1), [1] * len(ids)
        rows.append((ids + [PAD] * padding, segments + [0] * padding, attention + [0] * padding))
    return map(torch.tensor, zip(*rows, strict=True))


@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    objective=st.sampled_from(["sop", "nsp", "none"]),
    batch_size=st.integers(2, 9),
    length=st.integers(24, 128),
    seed=st.integers(0, 99),
    step=st.integers(0, 10_000),
)
def test_a_batch_is_what_a_slow_loop_lays_out_with_some_tokens_masked(
    text, objective, batch_size, length, seed, step
):
    source = stream(text, objective, batch_size, length, seed)
    pairs = source.sampler.draw(
        np.random.default_rng([seed, step]), batch_size, source.short_probability
    )
    token_ids, segment_ids, attention_mask = laid_out(text.train, pairs, length)
    batch = source.batch(step)
    assert torch.equal(batch.unmasked_ids(), token_ids)
    assert torch.equal(batch.segment_ids, segment_ids) and torch.equal(
        batch.attention_mask, attention_mask
    )
    expected = (
        torch.full((batch_size,), -100) if objective == "none" else torch.from_numpy(pairs.labels)
    )
    assert torch.equal(batch.order_labels, expected)


def test_masked_positions_hold_ordinary_tokens_in_order_and_all_that_changed(text):
    batch = stream(text, batch_size=64).batch(3)
    assert batch.masked_positions.shape == batch.masked_labels.shape == (64, max_predictions(64))
    text_ids, changed = batch.unmasked_ids(), batch.token_ids != batch.unmasked_ids()
    assert changed.any()  # looking at the text before masking leaves the batch masked
    for row in range(64):
        used = batch.masked_labels[row] != -100
        positions = batch.masked_positions[row][used].tolist()
        assert (
            positions == sorted(set(positions)) and (batch.masked_positions[row][~used] == 0).all()
        )
        assert (text_ids[row, positions] > MASK).all()
        assert torch.equal(batch.masked_labels[row][used], text_ids[row, positions])
        assert set(changed[row].nonzero().flatten().tolist()) <= set(positions)
    assert batch.num_masked == (batch.masked_labels != -100).sum() > 64 * 5
    assert len(batch) == 64 and all(getattr(batch, name).dtype == torch.int64 for name in FIELDS)


def test_a_batch_depends_on_nothing_but_settings_seed_and_step(text):
    first = stream(text).batch(5)
    again = stream(text)
    for step in (9, 0, 5, 5):
        np.random.seed(step), torch.manual_seed(step)
        batch = again.batch(step)
    states = np.random.get_state()[1].copy(), torch.get_rng_state()
    assert same(first, batch) and same(first, again.batch(5))
    assert (np.random.get_state()[1] == states[0]).all() and torch.equal(
        torch.get_rng_state(), states[1]
    )
    assert not same(first, again.batch(6)) and not same(first, stream(text, seed=1).batch(5))


def test_a_seed_and_a_step_are_not_added_up(text):
    batches = [
        stream(text, seed=seed).batch(step) for seed, step in ((0, 1), (1, 0), (0, 0), (1, 1))
    ]
    assert not any(same(a, b) for i, a in enumerate(batches) for b in batches[:i])


def test_a_corpus_mapped_from_disk_gives_the_same_batches_as_one_in_memory(text):
    in_memory = TokenizedCorpus(
        *(np.array(getattr(text.train, name)) for name in ("tokens", *TokenizedCorpus.OFFSETS))
    )
    assert isinstance(text.train.tokens, np.memmap) and not isinstance(in_memory.tokens, np.memmap)
    sources = [PretrainingStream(corpus, text.tokenizer) for corpus in (in_memory, text.train)]
    assert sources[0].settings == sources[1].settings and same(
        sources[0].batch(2), sources[1].batch(2)
    )


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_the_rows_of_all_ranks_make_up_the_batch(text, workers):
    batch = stream(text, batch_size=7).batch(0)
    parts = [batch.rows(slice(rank, None, workers)) for rank in range(workers)]
    assert sum(map(len, parts)) == 7 and sum(part.num_masked for part in parts) == batch.num_masked
    for rank, part in enumerate(parts):
        for name in FIELDS:
            assert torch.equal(getattr(part, name), getattr(batch, name)[rank::workers])


def test_moving_a_batch_keeps_every_field(text):
    batch = stream(text).batch(0)
    assert same(batch, batch.to("cpu")) and batch.to("meta").token_ids.device.type == "meta"


def test_without_an_objective_there_is_no_order_to_predict_and_one_row_is_enough(text):
    batch = stream(text, "none", batch_size=1).batch(0)
    assert batch.order_labels.tolist() == [-100] and batch.num_masked > 0


def test_a_corpus_may_hold_the_last_token_of_the_tokenizer_and_none_beyond_it(text):
    def numbered(token_id: int) -> TokenizedCorpus:
        tokens = np.full(20, token_id, dtype=np.uint16)
        return TokenizedCorpus(tokens, np.arange(0, 21, 5), np.array([0, 2, 4]), np.array([-1, -1]))

    size = len(text.tokenizer)
    assert PretrainingStream(numbered(size - 1), text.tokenizer).batch(0).num_masked > 0
    with pytest.raises(
        ValueError, match=f"corpus is another tokenizer's: it has id {size} of {size}"
    ):
        PretrainingStream(numbered(size), text.tokenizer)


def test_a_sequence_too_short_for_any_pair_is_refused_when_the_stream_is_made(text):
    with pytest.raises(
        CorpusError,
        match=r"no two neighbouring sentences fit 4 tokens; the shortest pair needs \d+",
    ):
        stream(text, sequence_length=4)


def test_settings_tell_any_two_different_streams_apart_and_equal_ones_not(text):
    base = stream(text).settings
    assert base == stream(text).settings
    changes = [
        {"objective": "nsp"},
        {"batch_size": 8},
        {"sequence_length": 32},
        {"seed": 1},
        {"short_probability": 0.2},
        {"max_ngram": 1},
        {"mask_rate": 0.2},
        {"negatives": "document", "objective": "none"},
    ]
    others = [stream(text, **change).settings for change in changes]
    others.append(
        PretrainingStream(text.held_out, text.tokenizer, batch_size=6, sequence_length=64).settings
    )
    assert all(other != base for other in others)
    assert all(
        isinstance(value, str | int | float) for value in base.values()
    )  # they go into a JSON file


def test_settings_of_a_stream_that_was_told_nothing(text):
    assert PretrainingStream(text.train, text.tokenizer).settings == {
        "objective": "sop",
        "batch_size": 32,
        "sequence_length": 128,
        "seed": 0,
        "short_probability": 0.1,
        "max_ngram": 3,
        "mask_rate": 0.15,
        "negatives": "document",
        "corpus": text.train.fingerprint,
        "tokenizer": text.tokenizer.fingerprint,
    }


def test_the_knobs_reach_the_masking_and_the_pairs(text):
    few, many = (
        stream(text, batch_size=32, mask_rate=rate).batch(0).num_masked for rate in (0.05, 0.3)
    )
    assert many > 4 * few
    long, short = (
        stream(text, batch_size=64, short_probability=p).batch(0).attention_mask.sum()
        for p in (0.0, 1.0)
    )
    assert short < 0.95 * long
    assert not same(stream(text, max_ngram=1).batch(0), stream(text, max_ngram=3).batch(0))


def test_stories_can_draw_their_false_segments_from_another_topic(story_text):
    source = PretrainingStream(
        story_text.train, story_text.tokenizer, "nsp", 32, 64, negatives="topic"
    )
    pairs = source.sampler.draw(np.random.default_rng([0, 0]), 32)
    topic = story_text.train.topics[story_text.train.document_of[pairs.start]]
    assert ((topic[:, 0] != topic[:, 1]) == (source.batch(0).order_labels.numpy() == 1)).all()
