"""What a check says: which property fails, what came instead, and the likely mistake."""

import html
import json
import math
from dataclasses import asdict, dataclass, field

import torch

NOT_BEGUN = "this exercise is still to do"  # the reason when an answer raises NotImplementedError


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
    given: str = ""  # the inputs, where they are short
    differs: str = ""  # how the result differs, where no known mistake gives it


@dataclass
class Report:
    """The outcome of a check. ``score`` is the share of the weights whose properties hold.

    >>> doubled = Property("gives 2", False, 3.0, "2", "4", "you doubled it")
    >>> report = Report("half", [Property("gives 1", True), doubled])
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
    place: str = ""  # its number, and whether it is of a notebook or of an assignment

    @property
    def passed(self) -> bool:
        """Whether all properties hold, and there is one."""
        return bool(self.properties) and all(one.passed for one in self.properties)

    @property
    def score(self) -> float:
        """The weights of the properties that hold, as a share of all."""
        total = math.fsum(one.weight for one in self.properties)
        held = math.fsum(one.weight for one in self.properties if one.passed)
        return held / total if total else 0.0

    @property
    def reasons(self) -> list[str]:
        """The likely mistakes, each once, the first one first; else how the results differ."""
        failed = [one for one in self.properties if not one.passed]
        texts = [one.reason or one.differs for one in failed]
        return list(dict.fromkeys(filter(None, texts))) or [f"not so: {one.name}" for one in failed]

    def to_json(self) -> str:
        """The report as JSON: exercise, passed, score and the fields of each property."""
        return json.dumps(
            {
                "exercise": self.exercise,
                "passed": self.passed,
                "score": self.score,
                "properties": [asdict(one) for one in self.properties],
            }
        )

    def raise_if_failed(self) -> None:
        """Raise CheckFailed with this report, unless every property holds."""
        if not self.passed:
            raise CheckFailed(str(self))

    def __str__(self) -> str:
        if self.reasons == [NOT_BEGUN]:
            return f"{self.exercise}: not answered yet, properties to check: {len(self.properties)}"
        held, explained = sum(one.passed for one in self.properties), set()
        place = f", {self.place}" if self.place and not self.passed else ""
        lines = [
            f"{self.exercise}{place}: {held} of {len(self.properties)} properties hold "
            f"(score {self.score:.2f})"
        ]
        for one in self.properties:
            again = " (see above)" if (one.got, one.reason) in explained and not one.passed else ""
            lines.append(f"  {'ok  ' if one.passed else 'FAIL'}  {one.name}{again}")
            if not one.passed and not again:
                explained.add((one.got, one.reason))
                rows = (
                    ("given   ", one.given),
                    ("expected", one.expected),
                    ("got     ", one.got),
                    ("differs ", one.differs),
                    ("likely: ", one.reason),
                )
                lines += [f"        {label} {text}" for label, text in rows if text]
        return "\n".join(lines)

    __repr__ = __str__  # a notebook that ends a cell with the check shows the report

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def brief(value: object) -> str:
    """A value as a student should see it: shape, type, and the numbers when there are few.

    >>> brief([0.1 + 0.2, 1.0])
    '[0.3, 1]'
    """
    try:
        text = _brief(value)
    except Exception:  # meta tensors, integers of 5,000 digits, objects whose repr fails
        text = f"an object of type {type(value).__name__} that cannot be shown"
    return text if len(text) <= 120 else text[:117] + "..."


def _brief(value: object) -> str:
    if isinstance(value, torch.Tensor):
        label = f"{str(value.dtype).removeprefix('torch.')} tensor of shape {tuple(value.shape)}"
        return f"{label}: {_brief(value.tolist())}" if value.numel() <= 8 else label
    if type(value) in (list, tuple):
        ends = "[]" if isinstance(value, list) else "()"
        return ends[0] + ", ".join(map(_brief, value[:60])) + ends[1]
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
