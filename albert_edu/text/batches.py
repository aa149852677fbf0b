"""From tokenised text to batches: functions of corpus, settings, seed and step (notebook 06)."""

import dataclasses
from dataclasses import KW_ONLY, dataclass

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from albert_edu.config import check_choices, check_numbers
from albert_edu.text import masking
from albert_edu.text.masking import IGNORE
from albert_edu.text.segments import SPECIALS, Objective, Pairs, PairSampler
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import CLS, PAD, SEP, AlbertTokenizer

EVAL_SEED_OFFSET = 1_000_000  # held-out batches are drawn with the run's seed plus this number


@dataclass(frozen=True)
class PretrainingBatch:
    """What a pre-training step sees. Labels are IGNORE where there is nothing to predict."""

    token_ids: Int[Tensor, "B S"]
    segment_ids: Int[Tensor, "B S"]
    attention_mask: Int[Tensor, "B S"]  # 1 on tokens, 0 on padding
    masked_positions: Int[Tensor, "B K"]
    masked_labels: Int[Tensor, "B K"]
    order_labels: Int[Tensor, "B"]  # 0 in order, 1 swapped (SOP) or from another document (NSP)

    def _map(self, function) -> "PretrainingBatch":
        return PretrainingBatch(*map(function, vars(self).values()))

    def to(self, device) -> "PretrainingBatch":
        """Return the batch on another device.

        Only pinned memory is copied in the background, because other memory could change
        before the copy is complete.
        """
        return self._map(lambda tensor: tensor.to(device, non_blocking=tensor.is_pinned()))

    def pin_memory(self) -> "PretrainingBatch":
        """Return the batch in memory that a GPU can fetch from by itself."""
        return self._map(Tensor.pin_memory)

    def rows(self, rows: slice) -> "PretrainingBatch":
        """Return some of the sequences; rank r of W takes ``slice(r, None, W)``."""
        return self._map(lambda tensor: tensor[rows])

    def unmasked_ids(self) -> Int[Tensor, "B S"]:
        """Return the token ids as they were before masking."""
        shown = self.token_ids.gather(1, self.masked_positions)  # [CLS] in slots without a label
        labels = self.masked_labels.where(self.masked_labels != IGNORE, shown)
        return self.token_ids.scatter(1, self.masked_positions, labels)

    def __len__(self) -> int:
        return len(self.token_ids)

    @property
    def num_masked(self) -> int:
        """How many tokens the model has to predict in this batch."""
        return int((self.masked_labels != IGNORE).sum())


@dataclass(eq=False)
class PretrainingStream:
    """Batches of masked pairs of segments; ``stream.batch(step)`` depends on these fields only.

    ``objective`` is "sop", "nsp" or "none" (pairs in order, no order label). Lengths are in
    tokens, special tokens included. ``negatives="topic"`` draws the random segments of NSP from
    documents of another topic only. ``skip`` is the number of batches that an earlier run has
    used: batch ``step`` of this stream is batch ``skip + step`` of the one without. Raises
    ValueError for settings that cannot work and CorpusError for text that gives no pair.
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

    def __post_init__(self):
        check_choices(self, objective=Objective.__args__, negatives=("document", "topic"))
        # Half of the pairs are in order and half are not, so there are at least two.
        check_numbers(self, 1 if self.objective == "none" else 2, 1_000_000, "batch_size")
        check_numbers(self, 1, 8192, "sequence_length")  # the paper's is 512
        check_numbers(self, 0, 2**40, "seed", "skip")
        check_numbers(self, 0.0, 1.0, "short_probability")
        largest, size = int(self.corpus.tokens.max()), len(self.tokenizer)
        if largest >= size:
            raise ValueError(f"the corpus is another tokenizer's: it has id {largest} of {size}.")
        pair_settings = (self.objective, self.sequence_length, self.negatives)
        self.sampler = PairSampler(self.corpus, *pair_settings)

    @property
    def settings(self) -> dict:
        """Everything a batch depends on, as plain values: what a checkpoint compares on resume."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return values | {name: values[name].fingerprint for name in ("corpus", "tokenizer")}

    def batch(self, step: int) -> PretrainingBatch:
        """Return the batch of that step: B sequences of S tokens, K masked positions each."""
        check_numbers(locals(), 0, 2**40, "step")
        rng = np.random.default_rng([self.seed, self.skip + step])
        pairs = self.sampler.draw(rng, self.batch_size, self.short_probability)
        token_ids, *layout = assemble(self.corpus, pairs, self.sequence_length)
        maskable = token_ids > SEP  # neither special nor unknown
        masked = masking.choose_masked(rng, maskable, self.tokenizer.starts_word[token_ids])
        max_targets = masking.max_predictions(self.sequence_length)
        positions, labels = masking.mlm_targets(token_ids, masked, max_targets)
        token_ids = masking.replace_masked(rng, token_ids, masked, len(self.tokenizer))
        order = pairs.labels if self.objective != "none" else np.full(self.batch_size, IGNORE)
        arrays = (token_ids, *layout, positions, labels, order)
        return PretrainingBatch(*(torch.from_numpy(array.astype(np.int64)) for array in arrays))


def assemble(
    corpus: TokenizedCorpus, pairs: Pairs, sequence_length: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lay out [CLS] A [SEP] B [SEP] and padding: token ids, segment ids, attention mask, [B,S].

    Segment A of row i is sentences ``start[i, 0]`` to ``end[i, 0]`` (exclusive) of the corpus,
    segment B is ``start[i, 1]`` to ``end[i, 1]``. Built in notebook 06.
    """
    first, stop = corpus.sentences[pairs.start], corpus.sentences[pairs.end]  # B 2, in tokens
    length_a, length_b = (stop - first).T[:, :, None]  # B 1
    position = np.arange(sequence_length)[None]  # 1 S
    attention_mask = position < length_a + length_b + SPECIALS
    segment_ids = attention_mask & (position > length_a + 1)
    in_a = (position >= 1) & (position <= length_a)
    in_text = in_a | (segment_ids & (position < length_a + length_b + 2))
    source = np.where(in_a, first[:, :1] + position - 1, first[:, 1:] + position - length_a - 2)
    tokens = corpus.tokens[np.where(in_text, source, 0)].astype(np.int64)
    token_ids = np.where(in_text, tokens, np.where(attention_mask, SEP, PAD))
    token_ids[:, 0] = CLS
    return token_ids, segment_ids, attention_mask
