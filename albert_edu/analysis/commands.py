"""The command line's verbs that look at one model: ``fill`` and ``inspect``."""

from pathlib import Path

from albert_edu.errors import read_text

MODEL = "a shipped model (laptop, laptop-unshared), a model folder, or a name on the Hub"


def add_verbs(verb) -> None:
    """Add both verbs to the command line's parser; ``verb`` is cli's function that adds one."""
    sub = verb("fill", run_fill, "guess the tokens behind each [MASK] of a text")
    sub.add_argument("text", help="for example 'the united [MASK] of america'")
    sub.add_argument("--model", default="laptop", help=MODEL)
    sub.add_argument("--top", type=int, default=5, help="how many guesses for each")

    sub = verb("inspect", run_inspect, "sizes, parameters, sharing and Figure 1 of a model")
    sub.add_argument("model", help=MODEL)
    sub.add_argument("--text", type=Path, help="a file to measure Figure 1 on")
    sub.add_argument("--out", type=Path, help="a folder that gets Figure 1 as a picture, too")


def run_fill(options) -> None:
    """Print the guesses for each [MASK], one line per mask."""
    from albert_edu.analysis.inspect import fill
    from albert_edu.model.interchange import HEADS, load_with_tokenizer

    # The first head guesses tokens, and all guesses of a new one would be noise.
    model, tokenizer = load_with_tokenizer(options.model, optional=HEADS[1:])
    for answers in fill(model, tokenizer, options.text, options.top):
        print("  ".join(f"{token.lstrip('▁')} {p:.3f}" for token, p in answers))


def run_inspect(options) -> None:
    """Print what ``analysis.inspect`` says, and draw Figure 1 where ``--out`` says."""
    from albert_edu.analysis.inspect import SAMPLE, inspect
    from albert_edu.model.interchange import load_pretrained

    text = read_text(options.text) if options.text else SAMPLE
    print(inspect(*load_pretrained(options.model), text, options.out))
