"""What a check says: which property fails, what came instead, and the likely mistake."""

import math
import textwrap
from dataclasses import dataclass, field
from html import escape

import numpy as np
import torch
from IPython.display import display

from albert_course.checks.engine.page import page_of
from albert_course.checks.engine.properties import NOT_BEGUN, Property
from albert_edu.errors import CourseError

LINES = 15  # of a report, at most


class CheckFailed(CourseError, AssertionError):
    """Raised by ``Report.raise_if_failed``; its message is the report."""

    def __init__(self, report: "Report"):
        super().__init__(str(report))
        self.report = report

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the report as a notebook shows it, and one line instead of ours."""
        display(self.report)
        return [f"CheckFailed: {self.report.called}{self.report.summary}"]


@dataclass(frozen=True)
class Report:
    """The outcome of a check. ``score`` is the share of the weights whose properties hold.

    Printed it has at most 15 lines: what fails for the same reason stands together, and only the
    first failures are shown with what was expected.

    >>> doubled = Property("gives 2", False, 3.0, expected="2", got="4", mistake="you doubled it")
    >>> report = Report("half", [Property("gives 1", True), doubled])
    >>> report.passed, report.score, report.reasons
    (False, 0.25, ['you doubled it'])
    >>> print(report)
    half: 1 of 2 properties holds (score 0.25)
      FAIL  gives 2
            expected 2
            got      4
            likely:  you doubled it
      ok    gives 1
    """

    exercise: str
    properties: list[Property] = field(default_factory=list)
    place: str = ""  # its number, and whether it is of a notebook or of an assignment
    answer: str = ""  # what the student calls it

    @property
    def held(self) -> list[Property]:
        """The properties that hold."""
        return [one for one in self.properties if one.passed]

    @property
    def unasked(self) -> list[Property]:
        """The properties that were not asked for."""
        return [one for one in self.properties if not one.asked]

    @property
    def passed(self) -> bool:
        """Whether all properties hold, and there is one."""
        return bool(self.properties) and all(one.passed for one in self.properties)

    @property
    def score(self) -> float:
        """The weights of the properties that hold, as a share of all."""
        total = math.fsum(one.weight for one in self.properties)
        held = math.fsum(one.weight for one in self.held)
        return held / total if total else 0.0

    @property
    def reasons(self) -> list[str]:
        """Why properties fail, each reason once, the first one first."""
        firsts = (group[0] for group in self.groups)
        return [one.why or f"not so: {one.name}" for one in firsts]

    def raise_if_failed(self) -> None:
        """Raise CheckFailed with this report, unless every property holds."""
        if not self.passed:
            raise CheckFailed(self)

    @property
    def begun(self) -> bool:
        """Whether there is an answer at all."""
        return self.reasons != [NOT_BEGUN]

    @property
    def called(self) -> str:
        """What the student calls the answer, or else the title of the exercise."""
        return self.exercise if self.answer in ("", "<lambda>") else self.answer

    @property
    def summary(self) -> str:
        """The end of the first line: the place of the exercise, how much holds, the score."""
        if not self.begun:
            return f": not answered yet, properties to check: {len(self.properties)}"
        place = f", {self.place}" if self.place and not self.passed else ""
        ok = len(self.held)
        hold = "holds" if ok == 1 else "hold"
        number = f"{ok} of {len(self.properties)} properties {hold}"
        return f"{place}: {number} (score {self.score:.2f})"

    @property
    def groups(self) -> list[list[Property]]:
        """What was asked and fails, together where it fails for the same reason."""
        groups: dict[str, list[Property]] = {}
        for one in self.properties:
            if one.asked and not one.passed:
                groups.setdefault(one.why or one.name, []).append(one)
        return list(groups.values())

    def __str__(self) -> str:
        lines = [self.called + self.summary]
        if not self.begun:
            return lines[0]
        ends = [f"  ----  not asked: {_joined(self.unasked)}"] if self.unasked else []
        ends += [f"  ok    {_joined(self.held)}"] if self.held else []
        for k, group in enumerate(self.groups):
            later = self.groups[k + 1 :]
            left = LINES - len(lines) - len(ends)
            if left == 1 and later:
                rest = [one for group in self.groups[k:] for one in group]
                lines.append(f"  FAIL  {_joined(rest)}")
                break
            block = _block(group)
            fits = len(block) <= left - min(len(later), 3)
            lines += block if fits else [_in_one_line(group[0])]
        return "\n".join(lines + ends)

    __repr__ = __str__  # a terminal that evaluates the check shows the report

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        if not self.begun:
            return f"<pre>{escape(str(self))}</pre>"
        return page_of(self)


def _block(group: list[Property]) -> list[str]:
    """The first failure with all that is known of it, and the names of those like it."""
    first, *others = group
    also = [f"        also     {_joined(others)}"] if others else []
    return [f"  FAIL  {first.name}", *first.lines, *also]


def _in_one_line(one: Property) -> str:
    return f"  FAIL  {one.name}: {one.why}" if one.why else f"  FAIL  {one.name}"


def _joined(properties: list[Property]) -> str:
    """Their names in one line, cut short where they are many."""
    cut = f" ... ({len(properties)} in all)"
    return textwrap.shorten("; ".join(one.name for one in properties), 200, placeholder=cut)


def brief(value: object) -> str:
    """A value as a student should see it: shape, type, and the numbers when there are few.

    >>> brief([0.1 + 0.2, {"all": np.True_}, np.arange(9)])
    "[0.3, {'all': True}, int64 array of shape (9,)]"
    """
    try:
        text = _brief(value)
    except Exception:  # meta tensors, integers of 5,000 digits, objects whose repr fails
        text = f"an object of type {type(value).__name__} that cannot be shown"
    return text if len(text) <= 120 else text[:117] + "..."


def _brief(value: object) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, torch.Tensor | np.ndarray):
        kind = "tensor" if torch.is_tensor(value) else "array"
        label = f"{str(value.dtype).removeprefix('torch.')} {kind} of shape {tuple(value.shape)}"
        return f"{label}: {_brief(value.tolist())}" if math.prod(value.shape) <= 8 else label
    if type(value) is list or type(value) is tuple:
        ends = "[]" if isinstance(value, list) else "()"
        return ends[0] + ", ".join(map(_brief, value[:60])) + ends[1]
    if type(value) is dict:
        return "{" + ", ".join(f"{key!r}: {_brief(one)}" for key, one in value.items()) + "}"
    if isinstance(value, float):
        return f"{value:.6g}"
    first, *more = repr(value).splitlines()
    return f"{first}...)" if more else first  # a module has a line for each of its parts
