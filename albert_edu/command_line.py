"""What the command lines of the three packages share: verbs, and one sentence for each error."""

import argparse
import io
import os
import sys
import warnings
from collections.abc import Callable

from albert_edu.errors import explain

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
