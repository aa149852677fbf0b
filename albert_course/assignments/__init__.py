"""Assignments on nbgrader: student notebooks from source notebooks, grades from submissions.

``build`` makes the student notebooks. ``grade`` takes a folder of submissions: ``submissions``
finds and ``mend`` mends them by the ``answers`` in them, ``autograde`` lets nbgrader grade each one
in a ``process`` of its own, and ``execute`` runs it in a ``kernel`` behind a ``wall``, its tests
``apart`` from it, what it prints cut in the ``outbox``. The ``course`` that this writes has
``records`` of what is not graded, and why; ``scores_table`` writes scores.csv, and ``report`` sums
up the class. Hidden tests end with ``score``. ``commands`` has the verbs;
notebooks/assignments/README.md is for instructors.
"""

from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks" / "assignments"
SOURCES, RELEASES = NOTEBOOKS / "source", NOTEBOOKS / "release"
SEED_VARIABLE = "ALBERT_EDU_GRADING_SEED"  # it moves the seeds of hidden tests
LARGEST_SEED = 2**62
