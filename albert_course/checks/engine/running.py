"""Asks an answer one question: within limits, from a known state of the random generators."""

import random
from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
import torch
from torch.utils._pytree import tree_flatten

from albert_course.checks.engine import limits
from albert_course.checks.engine.comparing import Raised, same
from albert_course.checks.engine.limits import TookTooLong
from albert_edu.errors import lacks_memory


def ask(question: Callable, answer: Callable, inputs: tuple, seed: int, limited: bool = True):
    """What ``question(answer, *inputs)`` gives, or Raised; the caller's generators stay as is."""
    state = np.random.get_state(), random.getstate()
    np.random.seed(seed % 2**32)
    random.seed(seed)
    limit = limits.limits if limited else nullcontext
    try:
        with torch.random.fork_rng(devices=()), torch.enable_grad(), limit():
            torch.manual_seed(seed)
            return question(answer, *inputs)
    except TookTooLong as error:
        return Raised(error)
    except (Exception, SystemExit) as error:
        # Torch and numpy have errors of their own for a lack of memory: all become MemoryError.
        if isinstance(error, Exception) and lacks_memory(error):
            return Raised(MemoryError(str(error)))
        return Raised(error)
    finally:
        np.random.set_state(state[0])
        random.setstate(state[1])


def stops(outcome) -> bool:
    """Whether nothing more is asked after this: too slow, too large, or not begun."""
    ends = (TookTooLong, MemoryError, NotImplementedError)
    return isinstance(outcome, Raised) and isinstance(outcome.error, ends)


def changed(before, after) -> bool:
    """Whether numbers or texts in ``before`` are others in ``after``; other objects do not count.

    >>> changed(([1, [2]], len), ([1, [2]], max)), changed([1, [2]], [1, [3]])
    (False, True)
    """
    (old, shape), (new, now) = tree_flatten(before), tree_flatten(after)
    data = int | float | str | torch.Tensor | np.ndarray
    pairs = ((a, b) for a, b in zip(old, new, strict=False) if isinstance(a, data))
    return shape != now or any(not same(b, a, 0.0) for a, b in pairs)
