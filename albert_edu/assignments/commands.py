"""``python -m albert_edu assignments build | grade FOLDER | report``."""

import sys
from pathlib import Path

from albert_edu.assignments.settings import RELEASES, SOURCES, Limits


def add_verbs(verb) -> None:
    """Declare the three verbs; ``verb(name, run, text)`` makes the parser of each."""
    sub = verb("build", run_build, "write the student notebooks from the source notebooks")
    sub.add_argument("--source", type=Path, default=SOURCES)
    sub.add_argument("--release", type=Path, default=RELEASES)
    sub.add_argument("--run", action="store_true", help="run the source notebooks first, and store what their cells show")

    sub = verb("grade", run_grade, "grade a folder that holds STUDENT/NN_name.ipynb; 1 if something could not be graded")
    sub.add_argument("folder", type=Path)
    sub.add_argument("--out", type=Path, default=Path("graded"), help="for scores.csv, grades.json and feedback/")
    sub.add_argument("--source", type=Path, default=SOURCES)
    sub.add_argument("--assignment", action="append", help="for example 04; all that were handed in when left out")
    sub.add_argument("--key", type=int, help="moves the seeds of hidden tests; drawn, and reported, when left out")
    sub.add_argument("--seconds", type=float, default=Limits.seconds, help="for a cell, and for a call of an answer")
    sub.add_argument("--seconds-in-all", type=float, default=Limits.seconds_in_all, help="for a submission")
    sub.add_argument("--memory", type=float, default=Limits.bytes / 2**30, help="GiB for a submission, beyond torch itself")
    sub.add_argument("--jobs", type=int, default=1, help="submissions at a time")
    sub.add_argument("--with-nbgrader", action="store_true", help="let nbgrader grade instead; it walls off nothing")

    sub = verb("report", run_report, "show the class: scores, means, commonest mistakes, what to look at")
    sub.add_argument("--out", type=Path, default=Path("graded"), help="where grade wrote")


def run_build(options) -> int:
    import nbformat

    from albert_edu.assignments.contents import write_table
    from albert_edu.assignments.release import build, find_sources
    from albert_edu.notebooks import execute, normalise

    for path in find_sources(options.source) if options.run else []:
        try:
            notebook = execute(path)
        except Exception as error:  # nbclient's own kinds, of cells and of kernels
            raise RuntimeError(f"{path.name}: {error}") from None
        nbformat.write(normalise(notebook), path)
    for path in build(options.source, options.release):
        print(path)
    if options.source == SOURCES:
        write_table()
    return 0


def run_grade(options) -> int:
    from albert_edu.assignments.grade import grade_folder
    from albert_edu.assignments.sandbox import ISOLATION_SAYS, isolation

    if min(options.seconds, options.seconds_in_all, options.memory, options.jobs) <= 0:
        raise ValueError("--seconds, --seconds-in-all, --memory and --jobs must be above 0")
    where = (options.folder, options.out, options.source, options.assignment)
    if options.with_nbgrader:
        from albert_edu.assignments.with_nbgrader import SAYS, grade_with_nbgrader

        print(SAYS)
        grades = grade_with_nbgrader(*where)
    else:
        limits = Limits(options.seconds, options.seconds_in_all, int(options.memory * 2**30))
        print(f"isolation: {ISOLATION_SAYS[isolation()]}")
        grades = grade_folder(*where, limits, options.key, options.jobs)
    not_graded = [one for one in grades if one.status == "not graded"]
    for one in not_graded:
        print(f"not graded: {one.student}, {one.assignment}: {one.note}", file=sys.stderr)
    print(f"{sum(one.status == 'graded' for one in grades)} graded, {len(not_graded)} not; see {options.out / 'scores.csv'}")
    return 1 if not_graded else 0


def run_report(options) -> int:
    from albert_edu.assignments.feedback import overview

    print(overview(options.out))
    return 0
