"""From tokenised text to batches: functions of corpus, settings, seed and step (notebook 06)."""

import dataclasses
from dataclasses import KW_ONLY, dataclass

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from albert_edu.batch import IGNORE, PretrainingBatch
from albert_edu.config import check_between, check_one_of, check_whole, make_plain
from albert_edu.errors import InputError
from albert_edu.text import masking
from albert_edu.text.hub_tokenizer import check_is_albert
from albert_edu.text.segments import SPECIALS, Objective, Pairs, PairSampler
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import CLS, PAD, SEP, AlbertTokenizer

EVAL_SEED_OFFSET = 1_000_000  # held-out batches are drawn with the run's seed plus this number


@dataclass(eq=False)
class PretrainingStream:
    """Batches of masked pairs of segments; ``stream.batch(step)`` depends on these fields only.

    ``objective`` is "sop", "nsp" or "none" (pairs in order, no order label). Lengths are in
    tokens, special tokens included. ``negatives="topic"`` draws the random segments of NSP from
    documents of another topic only. ``skip`` is the number of batches that an earlier run has
    used: batch ``step`` of this stream is batch ``skip + step`` of the one without. ``mask_rate``
    of the tokens, one a row at least, are masked, in runs of up to ``max_ngram`` words; the
    defaults are the paper's.
    Raises ValueError for settings that cannot work and CorpusError for text that gives no pair.
    """

    corpus: TokenizedCorpus
    tokenizer: AlbertTokenizer
    objective: Objective = "sop"
    batch_size: int = 32
    sequence_length: int = 128
    seed: int = 0
    _: KW_ONLY
    short_probability: float = 0.1
    negatives: str = "document"
    skip: int = 0
    mask_rate: float = masking.MASK_RATE
    max_ngram: int = masking.MAX_NGRAM

    def __post_init__(self):
        check_one_of("objective", self.objective, ("sop", "nsp", "none"))
        check_one_of("negatives", self.negatives, ("document", "topic"))
        # Half of the pairs are in order and half are not, so there are at least two.
        smallest = 1 if self.objective == "none" else 2
        check_whole("batch_size", self.batch_size, smallest, 1_000_000)
        check_whole("sequence_length", self.sequence_length, 1, 8192)  # the paper's is 512
        check_whole("seed", self.seed, 0, 2**40)
        check_whole("skip", self.skip, 0, 2**40)
        check_between("short_probability", self.short_probability, 0.0, 1.0)
        check_between("mask_rate", self.mask_rate, 0.0, 1.0)
        check_whole("max_ngram", self.max_ngram, 1, 100)
        make_plain(self)
        check_is_albert(self.tokenizer)
        largest = int(self.corpus.tokens.max())
        size = len(self.tokenizer)
        if largest >= size:
            raise InputError(f"the corpus is another tokenizer's: it has id {largest} of {size}.")
        self.sampler = PairSampler(
            self.corpus, self.objective, self.sequence_length, self.negatives
        )

    @property
    def settings(self) -> dict:
        """Everything a batch depends on, as plain values: what a checkpoint compares on resume."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        values["corpus"] = self.corpus.fingerprint
        values["tokenizer"] = self.tokenizer.fingerprint
        return values

    def batch(self, step: int) -> PretrainingBatch:
        """Return the batch of that step: B sequences of S tokens, K masked positions each."""
        check_whole("step", step, 0, 2**40)
        rng = np.random.default_rng([self.seed, self.skip + step])
        pairs = self.sampler.draw(rng, self.batch_size, self.short_probability)
        token_ids, segment_ids, attention_mask = assemble(self.corpus, pairs, self.sequence_length)
        maskable = token_ids > SEP  # ids up to there are padding, unknown, [CLS] and [SEP]
        starts_word = self.tokenizer.starts_word[token_ids]
        masked = masking.choose_masked(rng, maskable, starts_word, self.max_ngram, self.mask_rate)
        K = masking.max_predictions(self.sequence_length, self.mask_rate)
        positions, labels = masking.mlm_targets(token_ids, masked, K)
        shown = masking.replace_masked(rng, token_ids, masked, len(self.tokenizer))
        no_order = np.full(self.batch_size, IGNORE)
        return PretrainingBatch(
            token_ids=as_tensor(shown),
            segment_ids=as_tensor(segment_ids),
            attention_mask=as_tensor(attention_mask),
            masked_positions=as_tensor(positions),
            masked_labels=as_tensor(labels),
            order_labels=as_tensor(no_order if self.objective == "none" else pairs.labels),
        )


def as_tensor(array: np.ndarray) -> Int[Tensor, "..."]:
    """Return an array of whole numbers, or of truth values, as a tensor of int64."""
    return torch.from_numpy(array.astype(np.int64))


def assemble(
    corpus: TokenizedCorpus, pairs: Pairs, sequence_length: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lay out [CLS] A [SEP] B [SEP] and padding: token ids, segment ids, attention mask, [B,S].

    Segment A of row i is sentences ``start[i, 0]`` to ``end[i, 0]`` (exclusive) of the corpus,
    segment B is ``start[i, 1]`` to ``end[i, 1]``. Built in notebook 06.
    """
    first_token = corpus.sentence_offsets[pairs.start]  # B 2, of A and of B
    length = corpus.sentence_offsets[pairs.end] - first_token
    length_a = length[:, :1]  # B 1
    length_b = length[:, 1:]
    position = np.arange(sequence_length)[None]  # 1 S
    attention_mask = position < length_a + length_b + SPECIALS
    segment_ids = attention_mask & (position > length_a + 1)
    in_a = (position >= 1) & (position <= length_a)
    in_b = segment_ids & (position < length_a + length_b + 2)
    from_a = first_token[:, :1] + position - 1  # places in the corpus, where in_a
    from_b = first_token[:, 1:] + position - (length_a + 2)
    place = np.where(in_a, from_a, np.where(in_b, from_b, 0))
    token_ids = np.where(attention_mask, SEP, PAD)
    token_ids = np.where(in_a | in_b, corpus.tokens[place].astype(np.int64), token_ids)
    token_ids[:, 0] = CLS
    return token_ids, segment_ids, attention_mask
