"""What a model is given and what is right: the contract between text, model and training.

A label of IGNORE counts nowhere, neither in a loss nor in a score.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

IGNORE = -100  # of an unused masked position, a pair without order, a window without answer


def has_label(labels: Int[Tensor, "*N"]) -> Bool[Tensor, "*N"]:
    """Return where there is a label to be right about."""
    return labels != IGNORE


def count_labels(labels: Int[Tensor, "*N"]) -> Int[Tensor, ""]:
    """Return how many labels count; the number stays on the device of the labels."""
    return has_label(labels).sum()


class Inputs(NamedTuple):
    """Rows of text as an encoder reads them, with nothing masked and nothing to predict."""

    token_ids: Int[Tensor, "B S"]
    segment_ids: Int[Tensor, "B S"]
    attention_mask: Int[Tensor, "B S"]  # 1 on tokens, 0 on padding

    def first(self, rows: int) -> "Inputs":
        """Return the first rows."""
        return Inputs(
            token_ids=self.token_ids[:rows],
            segment_ids=self.segment_ids[:rows],
            attention_mask=self.attention_mask[:rows],
        )


@dataclass(frozen=True)
class PretrainingBatch:
    """What a pre-training step sees. Labels are IGNORE where there is nothing to predict."""

    token_ids: Int[Tensor, "B S"]
    segment_ids: Int[Tensor, "B S"]
    attention_mask: Int[Tensor, "B S"]  # 1 on tokens, 0 on padding
    masked_positions: Int[Tensor, "B K"]  # 0 where a slot is unused: its label is IGNORE
    masked_labels: Int[Tensor, "B K"]
    order_labels: Int[Tensor, "B"]  # 0 in order, 1 swapped (SOP) or from another document (NSP)

    def __len__(self) -> int:
        return len(self.token_ids)

    @property
    def masked_count(self) -> Int[Tensor, ""]:
        """How many tokens there are to predict, as a tensor on the batch's device."""
        return count_labels(self.masked_labels)

    @property
    def pair_count(self) -> Int[Tensor, ""]:
        """How many pairs have a label for their order, as a tensor on the batch's device."""
        return count_labels(self.order_labels)

    @property
    def num_masked(self) -> int:
        """How many tokens there are to predict, as a plain number."""
        return int(self.masked_count)

    def unmasked_ids(self) -> Int[Tensor, "B S"]:
        """Return the token ids as they were before masking."""
        shown = self.token_ids.gather(1, self.masked_positions)  # [CLS] where K is not used up
        original = torch.where(has_label(self.masked_labels), self.masked_labels, shown)
        return self.token_ids.scatter(1, self.masked_positions, original)

    def unmasked(self) -> Inputs:
        """Return the text of the batch as it was before masking."""
        return Inputs(self.unmasked_ids(), self.segment_ids, self.attention_mask)

    def rows(self, rows: slice) -> "PretrainingBatch":
        """Return some of the sequences; rank r of W takes ``slice(r, None, W)``."""
        return self._with_each(lambda tensor: tensor[rows])

    def to(self, device: torch.device | str) -> "PretrainingBatch":
        """Return the batch on another device.

        Only pinned memory is copied in the background, because other memory could change
        before the copy is complete.
        """
        return self._with_each(lambda tensor: tensor.to(device, non_blocking=tensor.is_pinned()))

    def pin_memory(self) -> "PretrainingBatch":
        """Return the batch in memory that a GPU can fetch from by itself."""
        return self._with_each(Tensor.pin_memory)

    def _with_each(self, change: Callable[[Tensor], Tensor]) -> "PretrainingBatch":
        """Return a batch of what ``change`` makes of each tensor."""
        return PretrainingBatch(**{name: change(tensor) for name, tensor in vars(self).items()})


@dataclass(frozen=True)
class TaskData:
    """N encoded examples; a batch is some of their rows. Choices have one more axis, [N,C,S]."""

    token_ids: Int[Tensor, "N *C S"]
    segment_ids: Int[Tensor, "N *C S"]
    attention_mask: Int[Tensor, "N *C S"]  # 1 on tokens, 0 on padding
    labels: Int[Tensor, "N *T"]  # class or choice: [N]; an answer's first and last: [N,2]

    def __len__(self) -> int:
        return len(self.token_ids)

    def rows(self, index: slice | list[int] | Tensor) -> "TaskData":
        """Return those examples, without the columns that are padding in all of them."""
        longest = int(self.attention_mask[index].sum(-1).max())
        return TaskData(
            token_ids=self.token_ids[index][..., :longest],
            segment_ids=self.segment_ids[index][..., :longest],
            attention_mask=self.attention_mask[index][..., :longest],
            labels=self.labels[index],
        )

    def to(self, device: torch.device | str) -> "TaskData":
        """Return the examples on another device."""
        return TaskData(**{name: tensor.to(device) for name, tensor in vars(self).items()})
