"""What notebook 01 compares its own cuts with: the probabilities and the cuts of SentencePiece."""

from collections.abc import Iterable

from albert_edu.text.tokenizer import MASK, UNK, AlbertTokenizer


def log_probabilities(tokenizer: AlbertTokenizer) -> dict[str, float]:
    """Return ln p of each token, as the model's file stores it, but for the special tokens.

    >>> from albert_edu.text.prepare import shipped_vocabulary
    >>> log_p = log_probabilities(shipped_vocabulary("sotu"))
    >>> len(log_p), max(log_p, key=log_p.get), "[MASK]" in log_p
    (3995, '▁the', False)
    """
    ids = range(MASK + 1, len(tokenizer))
    scores = map(tokenizer.processor.get_score, ids)
    return dict(zip(tokenizer.pieces(ids), scores, strict=True))


def sentencepiece_cuts(tokenizer: AlbertTokenizer, lines: Iterable[str]) -> dict[str, list[str]]:
    """Return how SentencePiece cuts each different word of normalised text.

    Words stand between blanks. Left out are words with a character that has no token.

    >>> from albert_edu.text.prepare import shipped_vocabulary
    >>> sentencepiece_cuts(shipped_vocabulary("sotu"), ["our unionists", "our 5%"])
    {'our': ['▁our'], 'unionists': ['▁union', 'ist', 's']}
    """
    words = sorted({word for line in lines for word in line.split()})
    ids = [tokenizer.encode(word) for word in words]
    return {
        word: tokenizer.pieces(cut) for word, cut in zip(words, ids, strict=True) if UNK not in cut
    }
