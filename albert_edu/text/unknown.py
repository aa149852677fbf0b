"""Text that a vocabulary has no tokens for is warned of or refused wherever text is encoded."""

import warnings
from collections import Counter
from collections.abc import Iterable

from albert_edu.text.hub_tokenizer import Tokenizer
from albert_edu.text.tokenizer import TokenizerError

# Shares of a text's tokens. In text of another script half of them are word marks, which are known.
WARN_ABOVE = 0.005
REFUSE_ABOVE = 0.3


def check_known(tokenizer: Tokenizer, texts: Iterable[str], what: str = "the text") -> None:
    """Warn where a tokenizer does not know a few tokens of some texts, and refuse where many.

    Text in another script than the one it was learnt for becomes rows of the unknown token, from
    which no model can tell anything. Raises TokenizerError above 30% of the tokens, if there are
    letters among them, and warns above 0.5%; either names the commonest symbols.
    """
    count = 0
    unknown: Counter[str] = Counter()
    for text in texts:
        ids = tokenizer.encode(text)
        count += len(ids)
        if tokenizer.unk_id in ids:  # offsets are slow, and most texts need none
            unknown.update(_unknown_symbols(tokenizer, text))
    share = unknown.total() / max(1, count)
    has_letters = any(symbol.isalpha() for symbol in "".join(unknown))
    symbols = ", ".join(f"{symbol!r} {times:,}" for symbol, times in unknown.most_common(8))
    message = f"{share:.1%} of the tokens of {what} are unknown; most often {symbols}."
    if share > REFUSE_ABOVE and has_letters:  # marks alone are no other script
        raise TokenizerError(f"{message} This tokenizer was learnt for other text.")
    if share > WARN_ABOVE:
        warnings.warn(f"{message} Clean the text, or learn more tokens.", stacklevel=3)


def _unknown_symbols(tokenizer: Tokenizer, text: str) -> list[str]:
    """Return the parts of a text that became the unknown token."""
    ids, offsets = tokenizer.encode_with_offsets(text)
    return [
        text[start:end]
        for token_id, (start, end) in zip(ids, offsets, strict=True)
        if token_id == tokenizer.unk_id
    ]
