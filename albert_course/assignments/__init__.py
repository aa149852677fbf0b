"""Assignments on nbgrader: student notebooks from source notebooks, grades from submissions.

``build`` makes the student notebooks. ``grade`` takes a folder of submissions: ``submissions``
finds and mends them, ``autograde`` lets nbgrader grade each one in a ``kernel`` behind a ``wall``,
and ``scores`` writes the table. ``report`` sums up the class. Hidden tests end with ``score``.
"""

from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks" / "assignments"
SOURCES, RELEASES = NOTEBOOKS / "source", NOTEBOOKS / "release"
SEED_VARIABLE = "ALBERT_EDU_GRADING_SEED"  # it moves the seeds of hidden tests
