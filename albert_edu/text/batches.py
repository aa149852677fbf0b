"""From a tokenised corpus to batches of tensors. A batch is a pure function of (corpus, settings, seed, step)."""

import dataclasses
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from albert_edu.text.masking import IGNORE, MASK_RATE, MAX_NGRAM, choose_masked, max_predictions, mlm_targets, replace_masked
from albert_edu.text.segments import SPECIALS, Objective, PairSampler
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import CLS, PAD, SEP, AlbertTokenizer

EVAL_SEED_OFFSET = 1_000_000  # what is measured on held-out text is drawn with the run's seed plus this


@dataclass(frozen=True)
class PretrainingBatch:
    """What a pre-training step sees. Labels are -100 where there is nothing to predict."""

    token_ids: Int[Tensor, "B S"]
    segment_ids: Int[Tensor, "B S"]
    attention_mask: Int[Tensor, "B S"]  # 1 on pieces, 0 on padding
    masked_positions: Int[Tensor, "B K"]
    masked_labels: Int[Tensor, "B K"]
    order_labels: Int[Tensor, "B"]  # 0 in order, 1 swapped (SOP) or from another document (NSP)

    def _map(self, function) -> "PretrainingBatch":
        return PretrainingBatch(*(function(getattr(self, field.name)) for field in dataclasses.fields(self)))

    def to(self, device) -> "PretrainingBatch":
        return self._map(lambda tensor: tensor.to(device, non_blocking=tensor.is_pinned()))  # else it could be read unfinished

    def pinned(self) -> "PretrainingBatch":
        """In memory that a card fetches from by itself."""
        return self._map(Tensor.pin_memory)

    def rows(self, rows: slice) -> "PretrainingBatch":
        """The same batch with some of its sequences; rank r of W takes ``slice(r, None, W)``."""
        return self._map(lambda tensor: tensor[rows])

    def unmasked_ids(self) -> Int[Tensor, "B S"]:
        """The token ids before masking."""
        used = self.masked_labels != IGNORE
        rows = torch.arange(len(self), device=used.device)[:, None].expand_as(used)
        ids = self.token_ids.clone()
        ids[rows[used], self.masked_positions[used]] = self.masked_labels[used]
        return ids

    def __len__(self) -> int:
        return len(self.token_ids)

    @property
    def num_masked(self) -> int:
        return int((self.masked_labels != IGNORE).sum())


class PretrainingStream:
    """Batches of masked, paired segments; ``stream.batch(step)`` depends on nothing but its arguments and the seed.

    ``objective`` is "sop", "nsp" or "none" (pairs in order, no label). ``negatives="topic"`` draws NSP's false second
    segments from documents of another topic only. ``skip`` leaves out the first batches: for what goes on where a run ended.
    """

    def __init__(
        self, corpus: TokenizedCorpus, tokenizer: AlbertTokenizer, objective: Objective = "sop", batch_size: int = 32,
        sequence_length: int = 128, seed: int = 0, *, short_probability: float = 0.1, max_ngram: int = MAX_NGRAM,
        mask_rate: float = MASK_RATE, negatives: str = "document", skip: int = 0,
    ):  # fmt: skip
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, got {batch_size}.")
        if batch_size < 2 and objective != "none":
            raise ValueError("batch_size must be at least 2: half of the pairs are in order and half are not.")
        if len(corpus.tokens) and int(corpus.tokens.max()) >= len(tokenizer):
            raise ValueError(
                f"the corpus has piece {int(corpus.tokens.max())}, but the tokenizer only {len(tokenizer)} pieces: they do not "
                f"belong together."
            )
        self.corpus, self.tokenizer, self.objective = corpus, tokenizer, objective
        self.batch_size, self.sequence_length, self.seed = batch_size, sequence_length, seed
        self.short_probability, self.max_ngram, self.mask_rate = short_probability, max_ngram, mask_rate
        self.negatives, self.skip = negatives, skip
        self.sampler = PairSampler(corpus, objective, sequence_length, negatives)

    @property
    def settings(self) -> dict:
        """Everything a batch depends on, as plain values: what a checkpoint compares before it goes on.

        ``skip`` only where there is one, so that checkpoints from before it stay valid.
        """
        names = ("objective", "batch_size", "sequence_length", "seed", "short_probability", "max_ngram", "mask_rate", "negatives")
        return {name: getattr(self, name) for name in names} | {
            "corpus": self.corpus.fingerprint, "tokenizer": self.tokenizer.fingerprint,
        } | ({"skip": self.skip} if self.skip else {})  # fmt: skip

    def batch(self, step: int) -> PretrainingBatch:
        """The batch of that step."""
        rng = np.random.default_rng([self.seed, self.skip + step])
        pairs = self.sampler.draw(rng, self.batch_size, self.short_probability)
        token_ids, segment_ids, attention_mask = assemble(self.corpus, pairs.first, pairs.last, self.sequence_length)
        maskable = token_ids > SEP
        masked = choose_masked(rng, maskable, self.tokenizer.starts_word[token_ids], self.max_ngram, self.mask_rate)
        positions, labels = mlm_targets(token_ids, masked, max_predictions(self.sequence_length, self.mask_rate))
        token_ids = replace_masked(rng, token_ids, masked, len(self.tokenizer))
        order = np.full(self.batch_size, IGNORE) if self.objective == "none" else pairs.labels
        arrays = (token_ids, segment_ids, attention_mask, positions, labels, order)
        return PretrainingBatch(*(torch.from_numpy(array.astype(np.int64)) for array in arrays))


def assemble(corpus: TokenizedCorpus, first: Int[np.ndarray, "B 2"], last: Int[np.ndarray, "B 2"], sequence_length: int):
    """Lay out [CLS] A [SEP] B [SEP] and padding: token ids, segment ids, attention mask, each [B,S]."""
    begin, end = corpus.sentences[first], corpus.sentences[last]  # B 2
    length_a, length_b = (end - begin).T[:, :, None]  # B 1
    position = np.arange(sequence_length)[None]  # 1 S
    in_a = (position >= 1) & (position <= length_a)
    in_b = (position >= length_a + 2) & (position <= length_a + length_b + 1)
    source = np.where(in_a, begin[:, :1] + position - 1, begin[:, 1:] + position - length_a - 2)
    token_ids = np.where(in_a | in_b, corpus.tokens[np.where(in_a | in_b, source, 0)].astype(np.int64), PAD)
    is_separator = (position == length_a + 1) | (position == length_a + length_b + 2)
    token_ids = np.where(is_separator, SEP, token_ids)
    token_ids[:, 0] = CLS
    attention_mask = position < length_a + length_b + SPECIALS
    return token_ids, (position > length_a + 1) & attention_mask, attention_mask
