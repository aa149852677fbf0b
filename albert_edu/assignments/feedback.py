"""What a student reads after grading, and what an instructor sees of the class."""

import json
from collections import Counter
from pathlib import Path

from albert_edu.assignments.grade import Grade
from albert_edu.assignments.sandbox import ISOLATION_SAYS


def page(grade: Grade) -> str:
    """One student's feedback for one assignment, as Markdown."""
    told = [f"# {grade.assignment}: {grade.student}", ""]
    if grade.status != "graded":
        return "\n".join([*told, f"**{grade.status.capitalize()}.** {grade.note}", ""])
    told += [f"**{grade.points:g} of {grade.out_of:g} points.**"]
    if grade.to_read:
        told[-1] += f" A person reads the open question for up to {grade.to_read:g} more."
    if grade.note:
        told += ["", f"Your notebook did not run to its end: {grade.note}. What came later counts as not answered."]
    if grade.errors:
        told += ["", "These cells ended in an error:", ""] + [f"- {name}: `{_line(error)}`" for name, error in grade.errors]
    for mark in grade.marks:
        worth = f"{mark.points:g} of {mark.out_of:g}" if mark.out_of else "no points: the test you saw"
        told += ["", f"## {mark.test} ({worth})", ""]
        told += _fence("\n\n".join(part["says"] for part in mark.parts) or "There was nothing to judge.")
    for name, points, written, _ in grade.open:
        told += ["", f"## {name} (up to {points:g}, read by a person)", "", *_fence(written or "(no answer)")]
    return "\n".join([*told, ""])


def overview(out: Path) -> str:
    """The class as ``grade`` left it in ``out``: a table, each exercise's mean, the commonest mistakes, and what to look at."""
    path = out / "grades.json"
    if not path.exists():
        raise ValueError(f"there is no {path}: grade a folder first")
    found = json.loads(path.read_text(encoding="utf-8"))
    settings, grades = found["settings"], found["grades"]
    told = [f"Submissions ran with: {ISOLATION_SAYS[settings['isolation']]}.", f"The hidden tests' key: {settings['key']}.", ""]
    for name in sorted({one["assignment"] for one in grades}):
        rows = [one for one in grades if one["assignment"] == name]
        graded = [one for one in rows if one["status"] == "graded"]
        told += [f"{name}: {len(graded)} graded, {sum(one['status'] == 'missing' for one in rows)} missing, "
                 f"{sum(one['status'] == 'not graded' for one in rows)} not graded"]  # fmt: skip
        for one in rows:
            points = f"{one['points']:g} of {one['out_of']:g}" if one["status"] == "graded" else one["status"]
            told.append(f"  {one['student']:24} {points:14} {_line(one['note'])}".rstrip())
            told += [f"    look: {_line(flag)}" for flag in one["flags"][:8]]
            told += [f"    look: {len(one['flags']) - 8} more, in grades.json"] if len(one["flags"]) > 8 else []
        shares: dict[str, list[float]] = {}
        reasons: Counter = Counter()
        for one in graded:
            for mark in one["marks"]:
                if mark["out_of"]:
                    shares.setdefault(mark["test"], []).append(mark["points"] / mark["out_of"])
            reasons.update({reason for mark in one["marks"] for part in mark["parts"] for reason in part["reasons"]})
        told += ["", "  mean share of the points, exercise by exercise:"]
        told += [f"    {test:36} {sum(all_of) / len(all_of):.2f}" for test, all_of in shares.items()]
        commonest = [f"    {count:3} {_line(reason)}" for reason, count in reasons.most_common(5)]
        told += ["  commonest mistakes (students):", *commonest, ""]
    return "\n".join(told)


def _line(text: str) -> str:
    """In one line, without what would move the cursor of a terminal."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split()).replace("`", "'")[:300]


def _fence(text: str) -> list[str]:
    return ["````text", text.replace("````", "'```"), "````"]
