"""Assignments on nbgrader: student notebooks from source notebooks, grades from submissions.

``build`` makes the student notebooks, ``grade`` lets nbgrader grade a folder of submissions, each
in a ``kernel`` behind a ``wall``, and ``report`` sums up the class. ``score`` is what hidden tests
end with.
"""

from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks" / "assignments"
SOURCES, RELEASES = NOTEBOOKS / "source", NOTEBOOKS / "release"
SEED_VARIABLE = "ALBERT_EDU_GRADING_SEED"  # it moves the seeds of hidden tests
