"""The same three verbs as ``python -m albert_edu assignments``, for those who came by the older name."""

import argparse
import sys

from albert_edu.assignments.commands import add_verbs


def main(arguments: list[str] | None = None) -> int:
    """0 if all is done, 1 if some submission could not be graded, 2 if something is wrong with the input."""
    parser = argparse.ArgumentParser(prog="python -m albert_edu.assignments")
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(name: str, run, text: str) -> argparse.ArgumentParser:
        sub = verbs.add_parser(name, help=text)
        sub.set_defaults(run=run)
        return sub

    add_verbs(verb)
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except (ValueError, OSError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
