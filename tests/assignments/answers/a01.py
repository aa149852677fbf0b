"""Right answers to assignment 01, written in another style than ours."""

OTHER_STYLE = {
    "aligned": """
import re


def aligned(text):
    found = []
    for match in re.finditer(r"``|''|.", text, flags=re.DOTALL):
        raw = '"' if len(match[0]) == 2 else match[0]
        found += [(letter, match.start()) for letter in unicodedata.normalize("NFKD", raw).lower()
                  if unicodedata.combining(letter) == 0]
    joined = "".join(letter for letter, _ in found)
    runs = re.finditer(r"\\S|\\s+", joined)
    pairs = [(" " if run[0].isspace() else run[0], found[run.start()][1]) for run in runs]
    while pairs and pairs[0][0] == " ":
        pairs.pop(0)
    while pairs and pairs[-1][0] == " ":
        pairs.pop()
    return pairs""",
    "best_cuts": """
import heapq


def best_cuts(word, log_p, n):
    lowest = min(0.0, *(-value for value in log_p.values()))  # no step costs less than 0
    queue, visits, found = [(0.0, 0, ())], [0] * (len(word) + 1), []
    while queue and len(found) < n:
        cost, place, cut = heapq.heappop(queue)
        visits[place] += 1
        if place == len(word):
            found.append(list(cut))
        elif visits[place] <= n:
            for piece in (word[place:end] for end in range(place + 1, len(word) + 1)):
                if piece in log_p:
                    step = -log_p[piece] - lowest * len(piece)
                    heapq.heappush(queue, (cost + step, place + len(piece), (*cut, piece)))
    return found""",
    "layout": """
import numpy as np


def layout(a, b, length, padding_side="right"):
    texts = [text for text in (a, b) if text is not None]
    ids = [CLS] + [piece for text in texts for piece in [*text, SEP]]
    rows = np.zeros((3, length), dtype=int)
    rows[0, : len(ids)] = ids  # NumPy raises ValueError where this does not fit
    rows[1, len(a) + 2 : len(ids)] = 1
    rows[2, : len(ids)] = 1
    return np.roll(rows, length - len(ids), axis=1) if padding_side == "left" else rows""",
}
