"""One judgement, wherever text is encoded, of a tokenizer that does not know the text."""

import warnings
from collections import Counter
from collections.abc import Iterable

from albert_edu.text.hub_tokenizer import Tokenizer
from albert_edu.text.offsets import tokens_with_offsets
from albert_edu.text.tokenizer import TokenizerError

MANY, MOST = 0.005, 0.3  # shares of unknown tokens: from these on warned of, and refused


def check_known(tokenizer: Tokenizer, texts: Iterable[str], what: str = "the text") -> None:
    """Warn where a tokenizer does not know a few tokens of some texts, and refuse where many.

    Text in another script than the one it was learnt for becomes rows of the unknown token, from
    which no model can tell anything. Raises TokenizerError above 30% of the tokens and warns above
    0.5%; either names the commonest symbols.
    """
    count, unk_id, unknown = 0, tokenizer.unk_id, Counter()
    for text in texts:
        count += len(ids := tokenizer.encode(text))
        places = tokens_with_offsets(text, tokenizer)[1] if unk_id in ids else ()  # it is slow
        unknown.update(text[a:b] for i, (a, b) in zip(ids, places, strict=False) if i == unk_id)
    share = unknown.total() / max(1, count)
    if not any(map(str.isalpha, "".join(unknown))):
        share = min(share, MOST)  # marks alone are no other script
    symbols = ", ".join(f"{symbol!r} {count:,}" for symbol, count in unknown.most_common(8))
    message = f"{share:.1%} of the tokens of {what} are unknown; most often {symbols}."
    if share > MOST:  # of text in another script half the tokens are word marks
        raise TokenizerError(f"{message} This tokenizer was learnt for other text.")
    if share > MANY:
        warnings.warn(f"{message} Clean the text, or learn more tokens.", stacklevel=3)
