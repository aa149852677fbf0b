"""One line of a report: a property that an answer must have, and what is known where it fails."""

from dataclasses import dataclass

NOT_BEGUN = "this exercise is still to do"  # the reason when an answer raises NotImplementedError


@dataclass(frozen=True)
class Property:
    """One thing that an answer must do, and whether it does."""

    name: str
    passed: bool
    weight: float = 1.0
    asked: bool = True  # nothing is asked after a time-out, nor of an exercise that is not begun
    mistake: str = ""  # the known mistake that gives the same results
    reason: str = ""  # where no known mistake does: an error, no tensor
    expected: str = ""
    got: str = ""
    given: str = ""  # the inputs, where they are short
    differs: str = ""  # how the result differs, where there is neither mistake nor reason

    @property
    def why(self) -> str:
        """What explains the failure."""
        return self.mistake or self.reason or self.differs

    @property
    def facts(self) -> dict[str, str]:
        """What was asked for, and what came, by what a report calls it."""
        rows = {"given": self.given, "expected": self.expected, "got": self.got}
        return {label: text for label, text in rows.items() if text}

    @property
    def lines(self) -> list[str]:
        """What a report says below the name, the reason last."""
        reasons = {"differs": self.differs, "likely:": self.mistake, "why:": self.reason}
        rows = self.facts | {label: text for label, text in reasons.items() if text}
        return [f"        {label:8} {text}" for label, text in rows.items()]
