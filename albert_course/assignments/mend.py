"""Mends a submission, so that a lost cell costs its own exercise at most.

nbgrader finds an answer by the metadata of its cell. Students copy, split, delete and move cells,
and some programs drop the metadata. Here each cell that matters is found again, or put back.
"""

import json
from functools import lru_cache
from pathlib import Path

from albert_course.assignments.answers import is_answer, plain_cell, same_text
from albert_course.assignments.build import release
from albert_edu.errors import CourseError, errors_about


class Unreadable(CourseError, ValueError):
    """Why a submission cannot be given to nbgrader."""


def mend(submitted: Path, source: Path) -> tuple[str, str]:
    """Return a submission as nbgrader can grade it, and what was mended, "" for nothing.

    Unreadable for a file that is no notebook.
    """
    with errors_about(source.name, Unreadable, "There is no notebook that can be read."):
        notebook = json.loads(submitted.read_text(encoding="utf-8-sig"))
        cells = [plain_cell(cell) for cell in notebook["cells"]]
    mended = Submission(cells, handed_out(source, source.stat().st_mtime_ns))
    mended.mend()
    return mended.text(), "; ".join(mended.notes)


@lru_cache(16)
def handed_out(source: Path, modified: int) -> list[dict]:
    """Return the cells that students get for a source notebook, as it was when ``modified``.

    Each is as ``plain_cell`` makes it, with nbgrader's ``mark`` beside.
    """
    cells = json.loads(release(source))["cells"]
    return [plain_cell(cell) | {"mark": cell["metadata"].get("nbgrader")} for cell in cells]


class Submission:
    """The cells of a submission, and what was done to them."""

    def __init__(self, cells: list[dict], handed_out: list[dict]):
        self.cells = cells
        self.handed_out = handed_out
        self.wanted = {cell["name"]: cell for cell in handed_out if cell["mark"]}
        self.stubs = {name: cell for name, cell in self.wanted.items() if cell["mark"]["solution"]}
        self.notes: list[str] = []

    def mend(self) -> None:
        """Bring every cell that nbgrader knows to its place. Unreadable where there are none."""
        self._drop_untouched_copies()
        self._keep_last_copies()
        self._recognise_texts()
        known = self._named()
        gone = self._find_answers()
        if gone and not known:  # what was found has the name of an answer by chance
            raise Unreadable("it has none of the answer cells: is it the lesson of this name?")
        self._drop_what_is_on_the_wrong_side()
        self._put_back_what_is_given()

    def text(self) -> str:
        """Return the notebook as JSON."""
        cells = [self._whole(cell, place) for place, cell in enumerate(self.cells)]
        notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        return json.dumps(notebook, indent=1)

    def _whole(self, cell: dict, place: int) -> dict:
        """A cell as nbformat wants it."""
        whole = {key: value for key, value in cell.items() if key not in ("name", "mark", "copy")}
        whole["id"] = f"cell-{place}"
        name = cell["name"]
        whole["metadata"] = {"nbgrader": self.wanted[name]["mark"]} if name else {}
        if cell["cell_type"] == "code":
            whole |= {"outputs": [], "execution_count": None}
        return whole

    def _named(self) -> dict[str, dict]:
        """The cells that nbgrader knows, by name and in the order of the submission."""
        return {cell["name"]: cell for cell in self.cells if cell["name"]}

    def _drop_untouched_copies(self) -> None:
        """Drop copies of an answer's cell as it was handed out, beside one that was worked on.

        They would take the name from the answer, or define the function again behind it.
        """
        dropped = []
        for name, stub in self.stubs.items():
            answered = any(is_answer(cell, stub) for cell in self.cells if cell["name"] == name)
            if answered and self._drop_stubs(stub):
                dropped.append(name)
        self._note("an untouched copy is left out", dropped)

    def _drop_stubs(self, stub: dict) -> bool:
        """Drop the cells with the text of a stub, and return whether there were any.

        Those without a name only where they are code: open questions have stubs of one text.
        """
        named = {stub["name"]} if stub["cell_type"] == "markdown" else {stub["name"], None}
        stubs = [cell for cell in self.cells if cell["name"] in named and same_text(cell, stub)]
        self.cells = [cell for cell in self.cells if not any(cell is one for one in stubs)]
        return bool(stubs)

    def _keep_last_copies(self) -> None:
        """Leave a name to the last cell that has it, since JupyterLab copies names, too.

        Of an answer that is the last copy which answers, if one does.
        """
        noted = []
        for cell in self.cells:
            if cell["name"] not in self.wanted:
                cell["name"] = None
        for name in self.wanted:
            copies = [cell for cell in self.cells if cell["name"] == name]
            if len(copies) < 2:
                continue
            stub = self.stubs.get(name)
            answers = [cell for cell in copies if stub and is_answer(cell, stub)]
            kept = (answers or copies)[-1]
            for cell in copies:
                if cell is not kept:
                    cell["name"] = None
                    cell["copy"] = name
            noted.append(name)
        self._note("the last copy counts", sorted(noted))

    def _recognise_texts(self) -> None:
        """Name the cells whose name is lost, and whose text is as it was handed out."""
        named = self._named()
        lost = {cell["source"]: name for name, cell in self.wanted.items() if name not in named}
        for cell in self.cells:
            if not cell["name"] and "copy" not in cell:
                cell["name"] = lost.pop(cell["source"], None)

    def _find_answers(self) -> list[str]:
        """See to it that each answer is there; return the names of those put back as stubs."""
        elsewhere, gone = [], []
        for name, stub in self.stubs.items():
            there = self._named().get(name)
            if is_answer(there, stub):
                continue
            other = self._answer_elsewhere(there, stub)
            if other:
                elsewhere.append(name)
                self._give_way(there, stub)
                other["name"] = name
            elif not there:
                gone.append(name)
                self.cells.insert(self._place_of(name), {**stub})
        self._note("found in another cell", elsewhere)
        self._note("gone, and put back without an answer", gone)
        return gone

    def _answer_elsewhere(self, there: dict | None, stub: dict) -> dict | None:
        """The student's answer in a cell that does not have its name."""
        if stub["cell_type"] == "markdown":
            free = self._behind_the_question(there, stub)
        else:
            free = [cell for cell in self.cells if cell["cell_type"] == "code"]
        unnamed = [cell for cell in free if not cell["name"] and cell.get("copy") != stub["name"]]
        return next((cell for cell in reversed(unnamed) if is_answer(cell, stub)), None)

    def _behind_the_question(self, there: dict | None, stub: dict) -> list[dict]:
        """The cell behind an empty open answer, or behind its question; [] if it is none of ours.

        A text has no ``def`` by which it could be found.
        """
        ours = [cell["source"] for cell in self.handed_out]
        question = there["source"] if there else ours[ours.index(stub["source"]) - 1]
        texts = [cell["source"] for cell in self.cells]
        if question not in texts:
            return []
        behind = self.cells[texts.index(question) + 1 :][:1]
        return [cell for cell in behind if cell["source"].strip() and cell["source"] not in ours]

    def _give_way(self, there: dict | None, stub: dict) -> None:
        """Take the name from a cell that does not answer; a stub would even undo the answer."""
        if there and same_text(there, stub):
            self._drop_stubs(stub)
        elif there:
            there["name"] = None

    def _place_of(self, name: str) -> int:
        """Where a cell that is gone belongs: before all that come after it."""
        names = list(self.wanted)
        later = set(names[names.index(name) + 1 :])
        places = [place for place, cell in enumerate(self.cells) if cell["name"] in later]
        return min(places, default=len(self.cells))

    def _drop_what_is_on_the_wrong_side(self) -> None:
        """Drop a locked cell that has changed sides with an answer; it is put back afterwards."""
        answers = {name for name, stub in self.stubs.items() if not stub["mark"]["grade"]}
        names = list(self.wanted)
        order = list(self._named())
        for name, cell in self._named().items():
            before = answers.intersection(order[: order.index(name)])
            due = answers.intersection(names[: names.index(name)])
            if self.wanted[name]["mark"]["locked"] and before != due:
                self.cells.remove(cell)

    def _put_back_what_is_given(self) -> None:
        """Put what is given, such as the imports, at the top. nbgrader puts the tests back."""
        named = self._named()
        given = [
            name
            for name, cell in self.wanted.items()
            if name not in named and not cell["mark"]["grade"]
        ]
        self.cells[:0] = [{**self.wanted[name]} for name in given]
        self._note("not in its place, and put back", given)

    def _note(self, what: str, names: list[str]) -> None:
        if names:
            self.notes.append(f"{', '.join(names)}: {what}")
