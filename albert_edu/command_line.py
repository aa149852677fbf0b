"""What the command lines of the three packages share: verbs, and one sentence for each error."""

import argparse
import io
import os
import re
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable

from albert_edu.errors import CourseError, lacks_memory

Run = Callable[[argparse.Namespace], int | None]  # what a verb does, and the status it ends with


class Help(argparse.ArgumentDefaultsHelpFormatter):
    """Says the default of an option that has one."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        silent = isinstance(action.default, bool | None)
        return action.help if silent else super()._get_help_string(action)


def verbs_of(parser: argparse.ArgumentParser) -> Callable[..., argparse.ArgumentParser]:
    """Return a function that adds a verb: its name, what runs it, its help, more options."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(
        name: str, run: Run, text: str, *parents: argparse.ArgumentParser
    ) -> argparse.ArgumentParser:
        """Add a verb, and return its parser, which takes its options."""
        added = verbs.add_parser(
            name, help=text, description=text, formatter_class=Help, parents=parents
        )
        added.set_defaults(run=run)
        return added

    return verb


def run(parser: argparse.ArgumentParser, arguments: list[str] | None = None) -> int:
    """Run a verb: 0 if it did what it says, 1 if a check failed, 2 if the input is wrong."""
    for stream in (sys.stdout, sys.stderr):  # code pages such as cp1252 lack many letters
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if arguments is None:
        arguments = sys.argv[1:]
    options = parser.parse_args(arguments)
    if "" in arguments:  # as a path it would mean the current folder
        parser.error(f"argument {arguments.index('') + 1} is empty: give a name, or leave it out.")
    warnings.formatwarning = lambda message, *_: f"warning: {message}\n"  # no file of ours, no line
    try:
        status = options.run(options) or 0
        sys.stdout.flush()  # now, so that a closed pipe ends the command here
        return status
    except BrokenPipeError:  # its reader, for example head, has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # as a shell says of other tools
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on from a checkpoint, if any.", file=sys.stderr)
        return 130
    except Exception as error:
        print(explain(error), file=sys.stderr)
        return 2


def explain(error: Exception) -> str:
    """Return an error as one sentence; the trace of one that nobody expects goes into a file.

    Expected are a CourseError, the errors of the system, and a package that is missing. Too little
    memory, and under torchrun the end of another worker, are told as what they are.
    """
    if lacks_memory(error):
        return (
            "There is not enough memory. A smaller --batch-size or --sequence-length needs less, "
            "as does pretrain with --accumulate or --gradient-checkpointing, and a smaller model."
        )
    if isinstance(error, CourseError | OSError):
        return f"{type(error).__name__}: {error}"
    if isinstance(error, ModuleNotFoundError):
        cure = f"In the course's folder, run: {install_command('[test]')}"
        return f"{error.name} is not installed. {cure}"
    with tempfile.NamedTemporaryFile("w", prefix="albert-edu-", delete=False) as file:
        traceback.print_exception(error, file=file)
    what = f"This is a bug in the course ({error!r})"
    if another_worker_ended(error):
        what = "Another worker has ended. The same command goes on from the newest checkpoint"
    return f"{what}; the trace is in {file.name}."


def install_command(extras: str = "") -> str:
    """Return the command that installs the course, in its folder, with these extras."""
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return f'{python} -m pip install -e ".{extras}"'


def another_worker_ended(error: Exception) -> bool:
    """Whether this is how torch's two backends and its store tell that another worker is gone."""
    if os.environ.get("WORLD_SIZE", "1") == "1" or not isinstance(error, RuntimeError):
        return False
    return re.search("gloo|nccl|connection", str(error), re.IGNORECASE) is not None
