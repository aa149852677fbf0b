"""Batches: a pure function of corpus, settings, seed and step, laid out as [CLS] A [SEP] B [SEP] padding."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from albert_edu.errors import InputError
from albert_edu.text.batches import PretrainingBatch, PretrainingStream
from albert_edu.text.masking import max_predictions
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import CLS, MASK, PAD, SEP

FIELDS = [field.name for field in dataclasses.fields(PretrainingBatch)]


def stream(text, objective="sop", batch_size=6, length=64, seed=0, **more) -> PretrainingStream:
    sizes = (batch_size, length, seed)
    return PretrainingStream(text.train, text.tokenizer, objective, *sizes, **more)


def same(a: PretrainingBatch, b: PretrainingBatch) -> bool:
    return all(torch.equal(getattr(a, name), getattr(b, name)) for name in FIELDS)


def laid_out(corpus: TokenizedCorpus, pairs, sequence_length: int):
    """Token ids, segment ids and attention mask, one sequence after another."""
    rows = []
    for first, last in zip(pairs.start, pairs.end, strict=True):
        a, b = (
            corpus.tokens[corpus.sentence_offsets[i] : corpus.sentence_offsets[j]].tolist()
            for i, j in zip(first, last, strict=True)
        )
        ids = [CLS, *a, SEP, *b, SEP]
        padding = sequence_length - len(ids)
        segments, attention = [0] * (len(a) + 2) + [1] * (len(b) + 1), [1] * len(ids)
        rows.append((ids + [PAD] * padding, segments + [0] * padding, attention + [0] * padding))
    return map(torch.tensor, zip(*rows, strict=True))


@settings(max_examples=15)
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
    source = stream(text, objective, batch_size, length, seed, short_probability=0.6)
    pairs = source.sampler.draw(np.random.default_rng([seed, step]), batch_size, 0.6)
    order = pairs.labels if objective != "none" else np.full(batch_size, -100)
    expected = (*laid_out(text.train, pairs, length), torch.from_numpy(order))
    batch = source.batch(step)
    made = (batch.unmasked_ids(), batch.segment_ids, batch.attention_mask, batch.order_labels)
    assert all(map(torch.equal, made, expected))


def test_masked_positions_hold_ordinary_tokens_in_order_and_all_that_changed(text):
    batch = stream(text, batch_size=64).batch(3)
    assert batch.masked_positions.shape == batch.masked_labels.shape == (64, max_predictions(64))
    changed = batch.token_ids != batch.unmasked_ids()
    assert changed.any()  # looking at the text before masking leaves the batch masked
    for row in range(64):
        used = batch.masked_labels[row] != -100
        positions = batch.masked_positions[row][used].tolist()
        assert positions == sorted(set(positions))
        assert (batch.masked_positions[row][~used] == 0).all()
        assert (batch.masked_labels[row][used] > MASK).all()
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
    assert (np.random.get_state()[1] == states[0]).all()
    assert torch.equal(torch.get_rng_state(), states[1])


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
    said = f"corpus is another tokenizer's: it has id {size} of {size}"
    with pytest.raises(ValueError, match=said):
        PretrainingStream(numbered(size), text.tokenizer)


def test_settings_are_every_field_and_what_stands_for_the_corpus_and_the_tokenizer(text):
    default = {"objective": "sop", "batch_size": 32, "sequence_length": 128, "seed": 0}
    default |= {"short_probability": 0.1, "negatives": "document", "skip": 0}
    default |= {"mask_rate": 0.15, "max_ngram": 3}
    told = {"objective": "none", "batch_size": 1, "sequence_length": 64, "seed": 7, "skip": 5}
    told |= {"short_probability": 0.2, "negatives": "topic", "mask_rate": 0.3, "max_ngram": 1}
    for options, corpus in ((told, text.held_out), ({}, text.train)):
        made = PretrainingStream(corpus, text.tokenizer, **options).settings
        prints = {"corpus": corpus.fingerprint, "tokenizer": text.tokenizer.fingerprint}
        assert made == default | options | prints


def test_more_tokens_are_masked_when_a_stream_is_told_so(text):
    usual = PretrainingStream(text.train, text.tokenizer, batch_size=64, sequence_length=64)
    words = dataclasses.replace(usual, mask_rate=0.3, max_ngram=1)
    few = usual.batch(0)
    many = words.batch(0)
    assert many.masked_positions.shape[1] == max_predictions(64, 0.3)
    assert 1.8 < many.masked_count / few.masked_count < 2.2
    assert torch.equal(many.segment_ids, few.segment_ids), "the same rows"
    assert words.settings != usual.settings, "a run does not resume with other masks"


@pytest.mark.parametrize("wrong", [{"mask_rate": 1.5}, {"mask_rate": -0.1}, {"max_ngram": 0}])
def test_a_stream_refuses_masks_that_cannot_be(text, wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        PretrainingStream(text.train, text.tokenizer, **wrong)


def test_runs_of_words_are_as_long_as_a_stream_is_told(story_text):
    usual = PretrainingStream(story_text.train, story_text.tokenizer, batch_size=8)
    words = dataclasses.replace(usual, max_ngram=1)
    assert not torch.equal(words.batch(0).masked_positions, usual.batch(0).masked_positions)
