"""Drawings of notebook 01: how text becomes token ids."""

from itertools import pairwise

from albert_edu.text.tokenizer import CLS, PAD, SEP, normalise
from figures.drawings.example_text import course_tokenizer
from figures.drawings.palette import (
    GREY,
    INK,
    LARGE,
    SEGMENT_A,
    SEGMENT_B,
    SMALL,
)
from figures.drawings.style import arrow, brace, canvas, circle, text
from figures.drawings.tokens import token_row, token_width

# A unigram model for paper and pencil: minus log2 of each token's probability. They sum to 1.
BITS = {
    "u": 5,
    "n": 5,
    "i": 5,
    "o": 5,
    "t": 5,
    "e": 5,
    "s": 3,
    "un": 3,
    "uni": 3,
    "ion": 2,
    "on": 4,
    "it": 4,
    "unit": 4,
}


def text_to_ids():
    """Text is normalised, SentencePiece cuts it into tokens, and each token has an id."""
    raw = "The  Café is OPEN."
    clean = normalise(raw)
    tokenizer = course_tokenizer()
    ids = tokenizer.encode(raw)
    tokens = tokenizer.pieces(ids)
    drawing = canvas(
        372,
        "From text to token ids in three steps",
        f"Four lines from top to bottom with arrows between them. First the raw text, {raw} with "
        f"two spaces, an accent and capitals. The arrow normalise leads to {clean} The arrow "
        f"SentencePiece leads to a row of {len(tokens)} boxes, the tokens {' '.join(tokens)}; the "
        f"low line marks the beginning of a word, and cafe is cut into {len(tokens) - 4} tokens "
        f"because the vocabulary has no token for it. The arrow look up leads to the ids {ids}.",
    )
    text(drawing, 24, 26, raw, LARGE, anchor="start")
    text(drawing, 24, 114, clean, LARGE, anchor="start")
    steps = (
        "normalise: lower case, no accents, single spaces",
        "SentencePiece: cut into tokens",
        "look up the ids",
    )
    for i, step in enumerate(steps):
        arrow(drawing, [(60, 44 + 92 * i), (60, 92 + 92 * i)], INK, 2)
        text(drawing, 78, 68 + 92 * i, step, anchor="start")
    widths = [token_width(token) + 14 for token in tokens]
    frames = token_row(drawing, 24, 186, tokens, widths=widths, height=32)
    token_row(drawing, 24, 284, [str(i) for i in ids], widths=widths, height=32)
    brace(drawing, (frames[1][0], 322), (sum(frames[3]), 322), "one word, three tokens")
    text(drawing, sum(frames[-1]) + 22, 202, "tokens", weight="bold", anchor="start")
    text(drawing, sum(frames[-1]) + 22, 300, "token ids", weight="bold", anchor="start")
    return drawing


def input_row():
    """A sequence is [CLS] A [SEP] B [SEP] and padding, with segment ids and a mask."""
    tokenizer = course_tokenizer()
    first, second = (tokenizer.encode(s) for s in ("We are at peace.", "It is strong."))
    ids = [CLS, *first, SEP, *second, SEP, PAD]
    segments = [0] * (len(first) + 2) + [1] * (len(second) + 1) + [0]
    mask = [1] * (len(ids) - 1) + [0]
    tokens = tokenizer.pieces(ids)
    drawing = canvas(
        316,
        "The input of the model for one pair of segments",
        f"Four lines with one column per token. Tokens: {' '.join(tokens)}. Token ids: {ids}. "
        f"Segment ids: {segments}. Attention mask: {mask}. Columns of segment A, from [CLS] to the "
        f"first [SEP], are light blue, columns of segment B are orange, and the padding column is "
        f"grey.",
    )
    widths = [
        max(token_width(token), token_width(str(i))) for token, i in zip(tokens, ids, strict=True)
    ]
    colours = [
        GREY if not m else SEGMENT_B if s else SEGMENT_A
        for s, m in zip(segments, mask, strict=True)
    ]
    for i, (name, row) in enumerate(
        (
            ("tokens", tokens),
            ("token ids", ids),
            ("segment ids", segments),
            ("attention mask", mask),
        )
    ):
        y = 60 + 66 * i
        text(drawing, 8, y, name, anchor="start", weight="bold")
        frames = token_row(drawing, 8, y + 14, [str(cell) for cell in row], colours, widths, gap=2)
    edge = sum(frames[len(first) + 1])
    brace(drawing, (8, 42), (edge, 42), "segment A", depth=-10, gap=4)
    brace(drawing, (edge + 2, 42), (sum(frames[-2]), 42), "segment B", depth=-10, gap=4)
    text(drawing, frames[-1][0] + 28, 32, "padding", SMALL)
    return drawing


def cheapest_path():
    """A word can be cut in many ways, and SentencePiece takes the most probable cut."""
    word = "unions"
    best = [(0, [])]
    for end in range(1, len(word) + 1):
        best.append(
            min(
                (best[start][0] + BITS[word[start:end]], [*best[start][1], word[start:end]])
                for start in range(end)
                if word[start:end] in BITS
            )
        )
    cut = best[-1][1]
    rival = ["uni", "on", "s"]
    sums = {
        tuple(tokens): " + ".join(str(BITS[token]) for token in tokens)
        + f" = {sum(BITS[token] for token in tokens)} bits"
        for tokens in (cut, rival)
    }
    arcs = {
        (start, end): word[start:end]
        for start in range(len(word))
        for end in range(start + 1, len(word) + 1)
        if word[start:end] in BITS
    }
    drawing = canvas(
        384,
        "The lattice of ways to cut the word unions",
        f"Seven circles in a row, numbered 0 to 6, are the places between the letters of {word}. "
        f"An arrow from one circle to a later one is a token, and its number is its cost in bits, "
        f"minus log 2 of its probability: "
        + ", ".join(
            f"{token} from {start} to {end}, {BITS[token]}" for (start, end), token in arcs.items()
        )
        + f". The cheapest path is drawn thick: {' + '.join(cut)}, {sums[tuple(cut)]}. The path "
        f"{' + '.join(rival)} costs {sums[tuple(rival)]}.",
    )
    xs, y = [50 + 84 * i for i in range(7)], 186
    ends = [0]
    for token in cut:
        ends.append(ends[-1] + len(token))
    for (start, end), token in arcs.items():
        chosen = any(pair == (start, end) for pair in pairwise(ends))
        colour, width = (INK, 4) if chosen else (GREY, 1.5)
        label = f"{token}: {BITS[token]}"
        weight = "bold" if chosen else "normal"
        if end == start + 1:
            arrow(drawing, [(xs[start] + 15, y), (xs[end] - 15, y)], colour, width)
            text(drawing, (xs[start] + xs[end]) / 2, y - 14, label, SMALL, weight=weight)
            continue
        up = -1 if token in cut else 1
        bend = y + up * 86
        arrow(
            drawing,
            [
                (xs[start], y + 15 * up),
                (xs[start] + 26, bend),
                (xs[end] - 26, bend),
                (xs[end], y + 15 * up),
            ],
            colour,
            width,
            curve=30,
        )
        text(drawing, (xs[start] + xs[end]) / 2, bend + up * 16, label, 16, weight=weight)
    for i, x in enumerate(xs):
        circle(drawing, x, y, 14, GREY, i, SMALL)
    text(drawing, 302, 24, f"{word}: a token costs −log_{{2}} p bits", LARGE, weight="bold")
    text(
        drawing,
        302,
        336,
        f"cheapest: {' + '.join(cut)} costs {sums[tuple(cut)]}",
        17,
        weight="bold",
    )
    text(drawing, 302, 364, f"another cut: {' + '.join(rival)} costs {sums[tuple(rival)]}", 16)
    return drawing


def words_tokens_characters():
    """Tokens are a compromise: almost no word is unknown, and the text stays short."""
    phrase = "our policy toward unionists"
    tokenizer = course_tokenizer()
    tokens = tokenizer.pieces(tokenizer.encode(phrase))
    letters = list(phrase.replace(" ", "▁"))
    ids = ["our", "policy", "toward", "<unk>"]
    drawing = canvas(
        290,
        "One phrase as words, as tokens and as characters",
        f"The phrase {phrase} in three rows of boxes. One id per word: {len(ids)} boxes, of which "
        f"the last is the unknown word, <unk>, because rare words have no id. One id per token: "
        f"{len(tokens)} boxes, {' '.join(tokens)}; the rare word is written with three tokens. One "
        f"id per character: {len(letters)} boxes, one for each letter and space.",
    )
    rows = (
        ("one id per word", ids, f"{len(ids)} ids, but a rare word is unknown"),
        ("one id per token", tokens, f"{len(tokens)} ids, and nothing is unknown"),
        ("one id per character", letters, f"{len(letters)} ids, a long sequence"),
    )
    for i, (name, row, verdict) in enumerate(rows):
        y = 24 + 90 * i
        text(drawing, 18, y, name, 16, anchor="start", weight="bold")
        text(drawing, 210, y, verdict, anchor="start")
        widths = [19] * len(row) if row is letters else [token_width(token) + 8 for token in row]
        token_row(drawing, 18, y + 18, row, widths=widths, gap=2, height=34)
    return drawing


DRAWINGS = (
    text_to_ids,
    words_tokens_characters,
    cheapest_path,
    input_row,
)
