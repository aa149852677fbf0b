"""``python -m albert_course assignments build | grade FOLDER | report``."""

from pathlib import Path

from albert_course.folder import course_folder


def add_verbs(verb) -> None:
    """Declare the three verbs; ``verb(name, run, text)`` makes the parser of each."""
    verb("build", run_build, "write the student notebooks from the source notebooks")

    sub = verb("grade", run_grade, "let nbgrader grade a folder that holds STUDENT/NN_name.ipynb")
    sub.add_argument("folder", type=Path, help="holds a folder for each student")
    sub.add_argument("--out", type=Path, default=Path("graded"), help="an nbgrader course")
    sub.add_argument("--assignment", action="append", help="for example 04; all when left out")
    sub.add_argument("--again", action="store_true", help="also grade what is graded and unchanged")

    sub = verb("report", run_report, "show scores, means, mistakes, and what to look at")
    sub.add_argument("--out", type=Path, default=Path("graded"), help="where grade wrote")


def run_build(options) -> None:
    """Write the student notebooks."""
    from albert_course.assignments.build import build

    folder = course_folder() / "notebooks" / "assignments"
    print(*build(folder / "source", folder / "release"), sep="\n")


def run_grade(options) -> int:
    """Grade a folder; 1 if something that was handed in could not be graded."""
    from albert_course.assignments.grade import grade_folder
    from albert_course.assignments.report import name_missing
    from albert_course.assignments.submissions import MISSING

    sources = course_folder() / "notebooks" / "assignments" / "source"
    names = tuple(options.assignment or [""])
    failed = 0
    missing: dict[str, list[str]] = {}  # students by assignment
    for outcome in grade_folder(options.folder, options.out, sources, names, options.again):
        if outcome.problem == MISSING:
            missing.setdefault(outcome.assignment, []).append(outcome.student)
            continue
        failed += bool(outcome.problem)
        print(outcome, flush=True)
    for assignment, students in missing.items():
        print(f"{assignment}, {name_missing(students)}")
    print(f"Scores are in {options.out / 'scores.csv'}, pages in {options.out / 'feedback'}.")
    return 1 if failed else 0


def run_report(options) -> None:
    """Print the report on the class."""
    from albert_course.assignments.report import overview

    print(overview(options.out))
