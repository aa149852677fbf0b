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

# Shares of unknown tokens that are warned of, and refused. In text of another script half of the
# tokens are word marks, which are known.
MANY, MOST = 0.005, 0.3


def tokens_with_offsets(text: str, tokenizer: Tokenizer) -> tuple[list[int], list[tuple[int, int]]]:
    """Return token ids, and the characters [start, end) of the text that each token stands for."""
    if isinstance(tokenizer, HubTokenizer):
        encoding = tokenizer.tokenizer.encode(text, add_special_tokens=False)
        return encoding.ids, encoding.offsets
    plain = ""  # the letters that ``normalise`` leaves, blanks as they are
    places = []  # where each of them stands in the text
    for found in re.finditer(r"``|''|.", text, re.DOTALL):
        for letter in unicodedata.normalize("NFKD", '"' if len(found[0]) == 2 else found[0]):
            if not unicodedata.combining(letter):
                plain += " " if letter.isspace() else letter
                places.append(found.span())
            elif places:  # an accent that stands alone belongs to the letter before it
                places[-1] = (places[-1][0], found.end())
    ranges = []  # of letters, one for each token: from ``first`` up to ``last``
    at = 0
    for part in plain.lower().split(UNKNOWN):
        # SentencePiece joins blanks; ``origins`` has the letter of ``part`` behind each of its own.
        _, origins = tokenizer.processor.normalize(part, with_offsets=True)
        end = 0
        for piece in tokenizer.processor.encode(part, out_type=str):
            begin = end + piece.startswith(WORD_START)
            end += len(piece)
            ranges.append((at + origins[begin], at + origins[end]))
        at += len(part) + len(UNKNOWN)
        ranges.append((at - len(UNKNOWN), at))
    ends = [0, *(end for _, end in places)]
    offsets = []
    for first, last in ranges[:-1]:
        start = places[first][0] if first < last else ends[last]  # a word mark alone has no letter
        offsets.append((start, ends[last]))
    return tokenizer.encode(text), offsets


def check_known(tokenizer: Tokenizer, texts: Iterable[str], what: str = "the text") -> None:
    """Warn where a tokenizer does not know a few tokens of some texts, and refuse where many.

    Text in another script than the one it was learnt for becomes rows of the unknown token, from
    which no model can tell anything. Raises TokenizerError above 30% of the tokens, if there are
    letters among them, and warns above 0.5%; either names the commonest symbols.
    """
    count, unknown = 0, Counter()
    for text in texts:
        ids = tokenizer.encode(text)
        count += len(ids)
        if tokenizer.unk_id in ids:  # because the places take time
            _, places = tokens_with_offsets(text, tokenizer)
            named = zip(ids, places, strict=True)
            unknown.update(text[a:b] for i, (a, b) in named if i == tokenizer.unk_id)
    share = unknown.total() / max(1, count)
    # Marks alone are no other script.
    another_script = share > MOST and any(map(str.isalpha, "".join(unknown)))
    symbols = ", ".join(f"{symbol!r} {times:,}" for symbol, times in unknown.most_common(8))
    message = f"{share:.1%} of the tokens of {what} are unknown; most often {symbols}."
    if another_script:
        raise TokenizerError(f"{message} This tokenizer was learnt for other text.")
    if share > MANY:
        warnings.warn(f"{message} Clean the text, or learn more tokens.", stacklevel=3)
