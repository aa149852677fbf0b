"""The course's command line: ``python -m albert_course VERB``."""

import argparse
from importlib.util import find_spec

from albert_course.assignments.commands import add_verbs, run_build
from albert_course.doctor import examine, remember
from albert_edu.command_line import run, verbs_of


def main(arguments: list[str] | None = None) -> int:
    """Run a verb: 0 if it did what it says, 1 if a check failed, 2 if the input is wrong."""
    return run(build_parser(), arguments)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of every verb, with the function that each of them runs."""
    parser = argparse.ArgumentParser("python -m albert_course", description="The ALBERT course.")
    verb = verbs_of(parser)
    option = verb("doctor", run_doctor, "check this machine: packages, kernel, model").add_argument
    option("--remember", action="store_true", help="store what the shipped model says here")

    option = verb("notebooks", run_notebooks, "execute the notebooks").add_argument
    option("names", nargs="*", help="for example 00 03; all of them when left out")
    option("--write", action="store_true", help="store the outputs, and the README's minutes")

    option = verb(
        "start", run_start, "copy the notebooks into work/, for you to change"
    ).add_argument
    option("number", help="for example 03")
    option("--assignment", action="store_true", help="its assignment instead, into work/me/")

    option = verb("publish", run_publish, "write the address after the first push").add_argument
    option("repository", metavar="OWNER/REPO", help="its name on GitHub")

    add_verbs(verbs_of(verb("assignments", None, "hand out and grade assignments")))
    return parser


def run_doctor(options) -> int:
    """Look at this machine; 1 if something is missing."""
    return remember() if options.remember else examine()


def run_notebooks(options) -> int:
    """Execute notebooks; 1 if one fails."""
    from albert_course.notebooks import execute_all

    return execute_all(options.names, write=options.write)


def run_start(options) -> None:
    """Copy the notebooks, or an assignment, to where git leaves them alone."""
    from albert_course.copies import start

    copy, changed = start(options.number, options.assignment)
    print(f"{'yours, as you left it' if changed else 'yours to change'}: {copy}")
    print(f'open it with: jupyter lab "{copy}"')


def run_publish(options) -> None:
    """Write the repository's address into the README, the notebooks, and what the site reads."""
    from albert_course.publish import publish

    if not find_spec("nbgrader"):  # what students get is built anew: nothing is written without
        raise ModuleNotFoundError("No module named 'nbgrader'", name="nbgrader")
    print(*publish(options.repository), sep="\n")
    run_build(options)
    print("These say the address now; commit and push them.")
