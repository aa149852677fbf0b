"""The cards behind the checks: what each exercise asks, what is right, and its known mistakes.

Nothing here knows what a check is, so that a check can ask for its card.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from albert_course.checks.engine.asking import call


class Case(NamedTuple):
    """One property: ``ask(answer, *inputs)`` must give what it gives for the reference.

    Without ``ask`` the answer is called with copies of the inputs. Numbers may differ by ``atol``.
    """

    name: str
    inputs: tuple
    weight: float = 1.0
    ask: Callable = call
    atol: float = 1e-5


Cases = Iterator[Case]


class Draw:
    """Draws the inputs of cases; another seed draws others."""

    def __init__(self, seed: int):
        self.torch = torch.Generator().manual_seed(seed)
        self.numpy = np.random.default_rng(seed)

    def randn(self, *shape: int) -> torch.Tensor:
        """Normal numbers of this shape."""
        return torch.randn(*shape, generator=self.torch)

    def integers(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """Whole numbers from ``low`` to ``high`` - 1."""
        return torch.randint(low, high, shape, generator=self.torch)

    def integer(self, low: int, high: int) -> int:
        """One whole number from ``low`` to ``high`` - 1."""
        return int(self.integers(low, high))


@dataclass(frozen=True, eq=False)
class Card:
    """What a check asks, and what it knows."""

    reference: Callable
    cases: Callable[[Draw], Cases]
    mistakes: Mapping[str, Callable | str]  # by name: a wrong answer, or edits of the reference
    pure: bool  # whether the text forbids to change the inputs


# The card behind each check. It hangs on no attribute of the check, which a student holds.
_CARDS: dict[Hashable, Card] = {}


def set_card(check: Hashable, card: Card) -> None:
    """Keep the card of a check."""
    _CARDS[check] = card


def card_of(check: Hashable) -> Card:
    """Return the card behind a check."""
    return _CARDS[check]
