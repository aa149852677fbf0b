"""``python -m albert_edu.assignments build | grade FOLDER | report``."""

import argparse
import sys
from pathlib import Path

from albert_edu.assignments.feedback import overview
from albert_edu.assignments.grade import grade_folder
from albert_edu.assignments.release import RELEASES, SOURCES, build
from albert_edu.assignments.sandbox import ISOLATION_SAYS, Limits, isolation


def main(arguments: list[str] | None = None) -> int:
    """0 if all is done, 1 if some submission could not be graded, 2 if something is wrong with the input."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (ValueError, OSError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m albert_edu.assignments", description="Hand out and grade the assignments.")
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    add_verbs(lambda name, run, text: _add(verbs, name, run, text))
    return parser


def _add(verbs, name: str, run, text: str) -> argparse.ArgumentParser:
    sub = verbs.add_parser(name, help=text, description=text, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    sub.set_defaults(run=run)
    return sub


def add_verbs(verb) -> None:
    """Declare the three verbs; ``verb(name, run, text)`` makes a parser, here or in another command line."""
    sub = verb("build", run_build, "write the student notebooks from the source notebooks")
    sub.add_argument("--source", type=Path, default=SOURCES)
    sub.add_argument("--release", type=Path, default=RELEASES)

    sub = verb("grade", run_grade, "grade a folder that holds STUDENT/NN_name.ipynb")
    sub.add_argument("folder", type=Path)
    sub.add_argument("--out", type=Path, default=Path("graded"), help="for scores.csv, grades.json and feedback/")
    sub.add_argument("--source", type=Path, default=SOURCES)
    sub.add_argument("--assignment", action="append", help="for example 04; all that were handed in when left out")
    sub.add_argument("--key", type=int, help="moves the seeds of hidden tests; drawn, and reported, when left out")
    sub.add_argument("--seconds", type=float, default=Limits.seconds, help="for a cell, and for a call of an answer")
    sub.add_argument("--seconds-in-all", type=float, default=Limits.seconds_in_all, help="for a submission")
    sub.add_argument("--memory", type=float, default=Limits.bytes / 2**30, help="GiB for a submission, beyond torch itself")
    sub.add_argument("--jobs", type=int, default=1, help="submissions at a time")

    sub = verb("report", run_report, "show the class: scores, means, commonest mistakes, what to look at")
    sub.add_argument("--out", type=Path, default=Path("graded"), help="where grade wrote")


def run_build(options) -> int:
    for path in build(options.source, options.release):
        print(path)
    return 0


def run_grade(options) -> int:
    if min(options.seconds, options.seconds_in_all, options.memory, options.jobs) <= 0:
        raise ValueError("--seconds, --seconds-in-all, --memory and --jobs must be above 0")
    limits = Limits(options.seconds, options.seconds_in_all, int(options.memory * 2**30))
    print(f"isolation: {ISOLATION_SAYS[isolation()]}")
    grades = grade_folder(options.folder, options.out, options.source, options.assignment, limits, options.key, options.jobs)
    not_graded = [one for one in grades if one.status == "not graded"]
    for one in not_graded:
        print(f"not graded: {one.student}, {one.assignment}: {one.note}", file=sys.stderr)
    print(f"{sum(one.status == 'graded' for one in grades)} graded, {len(not_graded)} not; see {options.out / 'scores.csv'}")
    return 1 if not_graded else 0


def run_report(options) -> int:
    print(overview(options.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
