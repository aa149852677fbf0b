"""Which characters of a text each of its tokens stands for, and which no token knows.

Wherever text is encoded, a tokenizer that does not know it is judged here.
"""

import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable

from albert_edu.text.hub_tokenizer import HubTokenizer, Tokenizer
from albert_edu.text.tokenizer import UNKNOWN, WORD_START, TokenizerError

MANY, MOST = 0.005, 0.3  # shares of unknown tokens: from these on warned of, and refused


def normalise_with_places(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return ``normalise(text)``, and for each of its characters where it stands in the text.

    >>> normalise_with_places(" É…")
    ('e...', [(1, 2), (2, 3), (2, 3), (2, 3)])
    """
    characters, places = [], []
    for found in re.finditer(r"``|''|.", text, re.DOTALL):
        for character in unicodedata.normalize("NFKD", '"' if len(found[0]) == 2 else found[0]):
            if not unicodedata.combining(character):
                characters.append(" " if character.isspace() else character)
                places.append(found.span())
            elif places:  # an accent that stands alone belongs to the letter before it
                places[-1] = (places[-1][0], found.end())
    plain = "".join(characters).lower().rstrip(" ")
    kept = [i for word in re.finditer("[^ ]+ ?", plain) for i in range(*word.span())]
    return "".join(plain[i] for i in kept), [places[i] for i in kept]


def tokens_with_offsets(text: str, tokenizer: Tokenizer) -> tuple[list[int], list[tuple[int, int]]]:
    """Return token ids, and the characters [start, end) of the text that each token stands for."""
    if isinstance(tokenizer, HubTokenizer):
        encoding = tokenizer.tokenizer.encode(text, add_special_tokens=False)
        return encoding.ids, encoding.offsets
    plain, places = normalise_with_places(text)
    found, at = [], 0  # from which character of ``plain`` to which
    for part in plain.split(UNKNOWN):
        # SentencePiece normalises once more, and says from which character each of its own came.
        _, origins = tokenizer.processor.normalize(part, with_offsets=True)
        end = 0
        for piece in tokenizer.processor.encode(part, out_type=str):
            begin, end = end + piece.startswith(WORD_START), end + len(piece)
            found.append((at + origins[begin], at + origins[end]))
        at += len(part) + len(UNKNOWN)
        found.append((at - len(UNKNOWN), at))
    ends = [0, *(end for _, end in places)]
    offsets = [(places[i][0] if i < j else ends[j], ends[j]) for i, j in found[:-1]]
    return tokenizer.encode(text), offsets


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
    symbols = ", ".join(f"{symbol!r} {times:,}" for symbol, times in unknown.most_common(8))
    message = f"{share:.1%} of the tokens of {what} are unknown; most often {symbols}."
    if share > MOST:  # of text in another script half the tokens are word marks
        raise TokenizerError(f"{message} This tokenizer was learnt for other text.")
    if share > MANY:
        warnings.warn(f"{message} Clean the text, or learn more tokens.", stacklevel=3)
