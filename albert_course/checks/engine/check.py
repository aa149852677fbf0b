"""The check of an exercise, as those hold it who answer: what is asked for, and nothing more.

What is right, and what is wrong by name, lies in the card behind it (engine/card.py). No attribute
of a check leads there. That keeps an answer from being fetched by accident, or by pressing the Tab
key. It is no lock: in Python, code that runs in the same process can find the cards in
``sys.modules``, and who has the course on disk can read them. So grading looks for lines that try,
and the hidden tests of an assignment ask for something that its card does not know.
"""

from collections.abc import Callable
from dataclasses import dataclass

from albert_course.checks.engine.report import Report


@dataclass(frozen=True, eq=False)
class Check:
    """Call it with an answer, and print the report that comes back.

    The answer is the function, class or module that the exercise asks for, under any name.
    """

    title: str  # "gelu"
    place: str  # "exercise 2.7 of assignment 02"
    task: str  # how an answer is called, and what it must return

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.task)  # what help(check_gelu) shows

    def __call__(self, student_object: Callable, seed: int | None = None, name: str = "") -> Report:
        """Return the report on an answer.

        Another ``seed`` asks with other numbers. ``name`` is what the report calls a function of
        the student's that ``student_object`` only wraps.
        """
        # Imported here, so that no variable beside this class leads to the cards.
        from albert_course.checks.engine.card import card_of
        from albert_course.checks.engine.judging import judge

        called = name or getattr(student_object, "__name__", self.title)
        properties = judge(card_of(self), student_object, seed or 0)
        return Report(self.title, properties, self.place, called)
