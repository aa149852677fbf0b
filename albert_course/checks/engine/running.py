"""Asks an answer one question: within limits, from a known state of the random generators."""

import random
from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
import torch

from albert_course.checks.engine import limits
from albert_course.checks.engine.comparing import Raised, same
from albert_course.checks.engine.limits import TookTooLong


def ask(question: Callable, answer: Callable, inputs: tuple, seed: int, limited: bool = True):
    """What ``question(answer, *inputs)`` gives, or Raised; the caller's generators stay as is."""
    state = torch.random.get_rng_state(), np.random.get_state(), random.getstate()
    torch.manual_seed(seed)
    np.random.seed(seed % 2**32)
    random.seed(seed)
    try:
        with torch.enable_grad(), limits.limits() if limited else nullcontext():
            return question(answer, *inputs)
    except TookTooLong:
        return Raised(TookTooLong(f"no answer within {limits.SECONDS} seconds"))
    except (Exception, SystemExit) as error:
        lacks_memory = isinstance(error, RuntimeError) and "t allocate memory" in str(error)
        return Raised(MemoryError(str(error)) if lacks_memory else error)
    finally:
        torch.random.set_rng_state(state[0])
        np.random.set_state(state[1])
        random.setstate(state[2])


def stops(outcome) -> bool:
    """Whether nothing more is asked after this: too slow, too large, or not begun."""
    ends = (TookTooLong, MemoryError, NotImplementedError)
    return isinstance(outcome, Raised) and isinstance(outcome.error, ends)


def changed(before, after) -> bool:
    """Whether numbers or texts in ``before`` are others in ``after``; other objects do not count.

    >>> changed(([1, [2]], len), ([1, [2]], max)), changed([1, [2]], [1, [3]])
    (False, True)
    """
    if type(before) in (list, tuple, dict):
        if len(before) != len(after):
            return True
        keys = before if isinstance(before, dict) else range(len(before))
        return any(changed(before[key], after[key]) for key in keys)
    data = int | float | str | torch.Tensor | np.ndarray
    return isinstance(before, data) and not same(after, before, 0.0)
