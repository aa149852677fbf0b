"""How a check questions an answer: inputs from a seed, calls that cannot hang, comparisons that know the usual mistakes."""

import functools
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from contextlib import contextmanager

import numpy as np
import torch

from albert_edu.checks.report import Property, Report, brief

SECONDS, BYTES = 10, 2 << 30  # what one call of an answer may take


class Stop(Exception):
    """The rest of the check makes no sense after what has failed."""


class TookTooLong(BaseException):
    """Not an Exception, so that an answer's own ``except Exception`` cannot swallow it."""


class Trial:
    """One run of a check. ``generator`` and ``numpy`` draw its inputs; another seed draws others.

    What is expected is computed after the answer was given, from copies of the inputs that the answer never held.
    """

    def __init__(self, exercise: str, seed: int):
        self.report = Report(exercise)
        self.generator = torch.Generator().manual_seed(seed)
        self.numpy = np.random.default_rng(seed)

    def randn(self, *shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=self.generator)

    def randint(self, low: int, high: int, *shape: int) -> torch.Tensor:
        return torch.randint(low, high, shape, generator=self.generator)

    def call(self, answer: Callable, *arguments, name: str = "runs without an error", **named):
        """What the answer returns for copies of the arguments; an error or a hang becomes a failed property and ends the check."""
        given, named = [_copy(value) for value in arguments], {key: _copy(value) for key, value in named.items()}
        try:
            with limits():
                return answer(*given, **named)
        except TookTooLong:
            self.add(name, False, got=f"no answer within {SECONDS} seconds", reason="a loop that does not end?")
        except MemoryError:
            self.add(name, False, got=f"more than {BYTES >> 30} GiB of memory", reason="a tensor far larger than it need be?")
        except NotImplementedError:
            self.add(name, False, got="NotImplementedError", reason="this exercise is still to do")
        except Exception as error:
            self.add(name, False, got=f"{type(error).__name__}: {error}", reason=_where(error, answer))
        raise Stop

    def refuses(self, answer: Callable, *arguments, name: str = "can be asked for too much", error: type = ValueError) -> bool:
        """Whether the answer raises a ValueError (or another ``error``) for copies of the arguments; only a hang ends the check."""

        def ask(*given) -> bool:
            try:
                answer(*given)
            except Exception as raised:
                return isinstance(raised, error)
            return False

        return self.call(ask, *arguments, name=name)

    def equal(
        self, name: str, got, expected, mistakes: Mapping[str, object] | None = None, weight: float = 1.0, atol: float = 1e-5,
        reason: str = "",
    ) -> bool:  # fmt: skip
        """The property that ``got`` is ``expected``. ``mistakes`` maps a known mistake to the value it gives here.

        A mistake whose value happens to be the expected one cannot be told apart from it and is passed over.
        """
        if same(got, expected, atol):
            return self.add(name, True, weight)
        for mistake, value in (mistakes or {}).items():
            if same(got, value, atol):
                reason = f"equal to the value you get when {mistake}"
                break
        else:
            reason = reason or _shape_reason(got, expected)
        return self.add(name, False, weight, brief(expected), brief(got) + _gap(got, expected), reason)

    def true(self, name: str, holds: bool, reason: str = "", weight: float = 1.0, expected: str = "", got: str = "") -> bool:
        """The property that something holds; ``reason`` says what usually breaks it."""
        return self.add(name, bool(holds), weight, *(("", "", "") if holds else (expected, got, reason)))

    def need(self, *arguments, **named) -> None:
        """Like ``true``, and the check ends if it does not hold."""
        if not self.true(*arguments, **named):
            raise Stop

    def add(self, name: str, passed: bool, weight: float = 1.0, expected: str = "", got: str = "", reason: str = "") -> bool:
        self.report.properties.append(Property(name, passed, weight, expected, got, reason))
        return passed


def exercise(number: str) -> Callable:
    """Make ``check_NAME(answer, trial)`` a check: called with the answer and perhaps a seed, it returns a Report.

    ``number`` is the exercise's, such as "03.1". Everything in a check runs under it: an error of our own is not hidden, one of
    the answer's becomes a property.
    """

    def decorate(questions: Callable[[object, Trial], None]) -> Callable[..., Report]:
        @functools.wraps(questions)
        def check(answer, seed: int | None = None) -> Report:
            trial = Trial(questions.__name__.removeprefix("check_"), 0 if seed is None else seed)
            state = torch.random.get_rng_state()  # an answer that draws from the global generator draws the same each time
            torch.manual_seed(trial.generator.initial_seed())
            try:
                questions(answer, trial)
            except Stop:
                # What was not asked any more counts as not held: an answer that dies early must not look half right.
                trial.report.properties.append(Property("everything after that", False, weight=2.0))
            finally:
                torch.random.set_rng_state(state)
            return trial.report

        check.number = number
        return check

    return decorate


@contextmanager
def limits(seconds: float = SECONDS):
    """Stop Python code that runs too long, where signals allow (the main thread, not on Windows), or takes too much memory."""
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    import resource

    def ring(*_):
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = _address_space()
    if used:
        resource.setrlimit(resource.RLIMIT_AS, (used + BYTES if hard == -1 else min(used + BYTES, hard), hard))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except RuntimeError as error:
        if "memory" in str(error):  # torch's way of saying it
            raise MemoryError from error
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def same(got: object, expected: object, atol: float = 1e-5) -> bool:
    """Equality for answers: numbers and tensors within ``atol`` (relative 1e-4) and of one shape, the rest exactly."""
    if isinstance(got, torch.Tensor) or isinstance(expected, torch.Tensor):
        try:
            got, expected = torch.as_tensor(got).detach().cpu(), torch.as_tensor(expected).detach().cpu()
        except (TypeError, ValueError, RuntimeError):
            return False
        if got.shape != expected.shape or got.is_complex():
            return False
        return torch.allclose(got.double(), expected.double(), rtol=1e-4, atol=atol, equal_nan=False)
    if isinstance(got, int | float | np.number) and isinstance(expected, int | float | np.number):
        if isinstance(expected, int) and not isinstance(expected, bool):
            return got == expected
        return got == expected or abs(float(got) - float(expected)) <= atol + 1e-4 * abs(float(expected))
    if isinstance(expected, np.ndarray) or isinstance(got, np.ndarray):
        try:
            return np.shape(got) == np.shape(expected) and bool(np.allclose(got, expected, rtol=1e-4, atol=atol))
        except (TypeError, ValueError):
            return False
    if isinstance(expected, list | tuple) and isinstance(got, list | tuple):
        return len(got) == len(expected) and all(same(a, b, atol) for a, b in zip(got, expected, strict=True))
    try:
        return bool(got == expected)
    except (TypeError, ValueError, RuntimeError):
        return False


def _gap(got: object, expected: object) -> str:
    """For what is too long to show: where lists part, how far apart tensors are.

    >>> _gap([*range(98), 0], [*range(99)])
    ', first different at [98]'
    """
    if isinstance(got, list) and isinstance(expected, list) and len(repr(expected)) > 120:
        first = next((i for i, (a, b) in enumerate(zip(got, expected, strict=False)) if not same(a, b)), None)
        return ", of another length" if first is None else f", first different at [{first}]"
    if not (isinstance(got, torch.Tensor) and isinstance(expected, torch.Tensor)):
        return ""
    if got.shape != expected.shape or expected.numel() <= 8 or got.is_complex():
        return ""
    return f", off by up to {(got.detach().cpu().double() - expected.detach().cpu().double()).abs().max():.3g}"


def _shape_reason(got: object, expected: object) -> str:
    if got is None and expected is not None:
        return "you return NoneType, not a tensor; is the return missing?" if isinstance(expected, torch.Tensor) else "no return?"
    if not isinstance(expected, torch.Tensor):
        return ""
    if not isinstance(got, torch.Tensor):
        return "" if isinstance(got, list | tuple | float | np.ndarray) else f"you return {type(got).__name__}, not a tensor"
    if got.shape != expected.shape:
        return f"the shape is {tuple(got.shape)}, not {tuple(expected.shape)}"
    return "there are NaNs in it" if got.isnan().any() else ""


def _where(error: Exception, answer: Callable) -> str:
    """The last line of the answer's own code on the way to the error, never ours."""
    ours = os.path.dirname(os.path.dirname(__file__))
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(ours)]
    theirs = [frame for frame in frames if "site-packages" not in frame.filename and not frame.filename.endswith((".pyx", ".pxd"))]
    if not theirs:
        return "it cannot be called like this; look at the arguments in the exercise" if isinstance(error, TypeError) else ""
    return f"in {theirs[-1].name}, line {theirs[-1].lineno}: {theirs[-1].line}"


def _copy(value):
    if isinstance(value, torch.Tensor):
        return value.clone()  # of a leaf that wants a gradient: a copy through which the gradient flows back
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list):
        return [_copy(inner) for inner in value]
    return dict(value) if type(value) is dict else value


def _address_space() -> int:
    try:
        with open("/proc/self/statm") as status:
            return int(status.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
