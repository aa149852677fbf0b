"""A report as a notebook shows it: the reason on top, in colour, and the rest to unfold.

Colours are tints behind text of the page's own colour, or white on a strong colour, so that they
are read on white and on black. All styles stand in the tags, because an output brings no sheet.
"""

from html import escape
from typing import TYPE_CHECKING

from albert_course.checks.engine.properties import Property

if TYPE_CHECKING:
    from albert_course.checks.engine.report import Report

RED = "#b42335"
GREEN = "#1a7f37"
# A page may break lines inside words, as JupyterLab does in text; these rules forbid it.
WHOLE_WORDS = "white-space:normal;word-break:normal;overflow-wrap:normal"
CODE = f"font-family:monospace;font-size:0.92em;overflow-x:auto;{WHOLE_WORDS}"


def page_of(report: "Report") -> str:
    """Return the HTML of a report: its first line, then the reasons, then what holds."""
    parts = [f"<div><b>{escape(report.called)}</b>{escape(report.summary)}</div>"]
    reasons = [_reason(group) for group in report.groups]
    parts += reasons[:1]
    more = "1 more reason" if len(reasons) == 2 else f"{len(reasons) - 1} more reasons"
    parts += _folded(more, reasons[1:])
    parts += _folded(f"not asked: {len(report.unasked)}", map(_name, report.unasked))
    parts += _folded(f"right: {len(report.held)}", map(_name, report.held))
    colour = GREEN if report.passed else RED
    style = f"max-width:50em;line-height:1.5;border-left:4px solid {colour};padding:0 0 0 0.8em"
    return f'<div style="{style};{WHOLE_WORDS}">{"".join(parts)}</div>'


def _reason(group: list[Property]) -> str:
    """Why the properties of a group fail, and what was asked, expected and given back."""
    first = group[0]
    label = "likely" if first.mistake else "why" if first.reason else "differs"
    badge = (
        f'<span style="background-color:{RED};color:#ffffff;border-radius:3px;'
        f'padding:0.1em 0.5em">{label if first.why else "wrong"}</span>'
    )
    why = f"<b>{escape(first.why or first.name)}</b>"
    box = (
        "background-color:rgba(229,72,77,0.16);border-radius:4px;padding:0.5em 0.7em;margin:0.5em 0"
    )
    names = "; ".join(escape(one.name) for one in group)
    fails = f'<div style="margin-top:0.3em">fails: {names}</div>'
    rows = [
        f'<div style="{CODE}"><b>{name}</b> {escape(text)}</div>'
        for name, text in first.facts.items()
    ]
    return f'<div style="{box}">{badge} {why}{fails}{"".join(_folded("look closer", rows))}</div>'


def _name(one: Property) -> str:
    return f"<div>{escape(one.name)}</div>"


def _folded(title: str, parts) -> list[str]:
    """The parts under a title that unfolds them; nothing where there are none."""
    text = "".join(parts)
    summary = f'<summary style="cursor:pointer">{escape(title)}</summary>'
    inner = f'<div style="padding-left:1.2em">{text}</div>'
    return [f"<details>{summary}{inner}</details>"] if text else []
