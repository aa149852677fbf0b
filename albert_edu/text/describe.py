"""What training will see of a text, and what it will lose: one table before the first step."""

from albert_edu.text.documents import CorpusError
from albert_edu.text.prepare import PreparedText
from albert_edu.text.segments import PairSampler
from albert_edu.text.tokenized import TokenizedCorpus

LENGTHS = (32, 64, 128, 256, 512)  # sequence lengths that the table may recommend
ENOUGH = 0.95  # share of the tokens that should fit into some pair
UNEVEN = (0.02, 0.3)  # a held-out part outside of these shares of the tokens is pointed out


def coverage(corpus: TokenizedCorpus, sequence_length: int) -> float:
    """Return the share of the tokens that occur in some pair of ``sequence_length`` tokens."""
    try:
        return PairSampler(corpus, "none", sequence_length).coverage
    except CorpusError:  # no two neighbouring sentences fit
        return 0.0


def describe_text(text: PreparedText, sequence_length: int) -> str:
    """Return a table of what a run with pairs of ``sequence_length`` tokens can use.

    It counts documents, sentences and tokens of both parts, names the unknown symbols, and says
    which longer sequence would help where many tokens fit no pair, and what to do about a
    held-out part that is much smaller or larger than a tenth.
    """
    rows = [("", "documents", "sentences", "tokens", "unknown", f"fit a pair of {sequence_length}")]
    for name, part in (("training", text.train), ("held out", text.held_out)):
        counts = (len(part.topics), len(part.sentences) - 1, len(part.tokens))
        shares = (f"{part.unknown_share:.2%}", f"{coverage(part, sequence_length):.1%}")
        rows.append((name, *map("{:,}".format, counts), *shares))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.rjust, row, widths)) for row in rows]
    lines.append(f"unknown symbols in the training part: {text.train.offenders}")
    covered = coverage(text.train, sequence_length)
    if covered < ENOUGH:
        longer = {n: coverage(text.train, n) for n in LENGTHS if n > sequence_length}
        best = next((n for n, share in longer.items() if share >= ENOUGH), max(longer, default=0))
        advice = f" A sequence length of {best} would hold {longer[best]:.1%}." if longer else ""
        lines.append(
            f"{1 - covered:.1%} of the training tokens are never seen, because their sentences are "
            f"too long for a pair of {sequence_length} tokens.{advice}"
        )
    held_out, training = len(text.held_out.tokens), len(text.train.tokens)
    if not UNEVEN[0] < held_out / (held_out + training) < UNEVEN[1]:
        lines.append(
            f"{held_out / (held_out + training):.1%} of the tokens are held out, because whole "
            f"documents are, and yours differ in length. Cut long files into several."
        )
    return "\n".join(lines)
