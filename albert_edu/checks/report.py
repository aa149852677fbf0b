"""What a check says: which property failed, what came instead, and which known mistake gives that very value."""

import html
import json
import math
from dataclasses import asdict, dataclass, field

import torch


class CheckFailed(AssertionError):
    """Raised by ``Report.raise_if_failed``; its message is the report."""


@dataclass(frozen=True)
class Property:
    """One thing that an answer must do, and whether it does."""

    name: str
    passed: bool
    weight: float = 1.0
    expected: str = ""
    got: str = ""
    reason: str = ""  # the likely mistake


@dataclass
class Report:
    """The outcome of a check. ``score`` is the share of the weights whose properties hold.

    >>> report = Report("half", [Property("gives 1", True), Property("gives 2", False, 3.0, "2", "4", "you doubled it")])
    >>> report.passed, report.score
    (False, 0.25)
    >>> print(report)
    half: 1 of 2 properties hold (score 0.25)
      ok    gives 1
      FAIL  gives 2
            expected 2
            got      4
            likely:  you doubled it
    """

    exercise: str
    properties: list[Property] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return bool(self.properties) and all(one.passed for one in self.properties)

    @property
    def score(self) -> float:
        total = math.fsum(one.weight for one in self.properties)
        return math.fsum(one.weight for one in self.properties if one.passed) / total if total else 0.0

    @property
    def reasons(self) -> list[str]:
        """The likely mistakes, the first one first."""
        return [one.reason for one in self.properties if one.reason and not one.passed]

    def to_json(self) -> str:
        return json.dumps({"exercise": self.exercise, "passed": self.passed, "score": self.score,
                           "properties": [asdict(one) for one in self.properties]})  # fmt: skip

    def raise_if_failed(self) -> None:
        if not self.passed:
            raise CheckFailed(str(self))

    def __str__(self) -> str:
        held = sum(one.passed for one in self.properties)
        told = [f"{self.exercise}: {held} of {len(self.properties)} properties hold (score {self.score:.2f})"]
        for one in self.properties:
            told.append(f"  {'ok  ' if one.passed else 'FAIL'}  {one.name}")
            if not one.passed:
                rest = (("expected", one.expected), ("got     ", one.got), ("likely: ", one.reason))
                told += [f"        {label} {text}" for label, text in rest if text]
        return "\n".join(told)

    def __repr__(self) -> str:  # a notebook that ends a cell with the check shows the report
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def brief(value: object) -> str:
    """A value as a student should see it: shape, type, and the numbers when there are few.

    >>> brief([0.1 + 0.2, 1.0])
    '[0.3, 1.0]'
    """
    if isinstance(value, torch.Tensor):
        kind = str(value.dtype).removeprefix("torch.")
        if value.numel() > 8 or value.is_complex():
            return f"{kind} tensor of shape {tuple(value.shape)}"
        value, shape = value.detach().cpu(), f"{kind} tensor of shape {tuple(value.shape)}: " if value.ndim else ""
        return shape + str([round(x, 4) for x in value.flatten().tolist()] if value.ndim else round(value.item(), 4))
    if isinstance(value, float):
        return f"{value:.6g}"
    if type(value) in (list, tuple) and all(isinstance(one, float) for one in value):
        value = type(value)(float(f"{one:.6g}") for one in value)
    told = repr(value)
    return told if len(told) <= 120 else told[:117] + "..."
