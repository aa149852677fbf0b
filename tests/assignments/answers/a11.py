"""Right answers to assignment 11, written in another style than ours."""

OTHER_STYLE = {
    "head": """
class Head(nn.Module):
    def __init__(self, hidden_size, num_labels, dropout):
        super().__init__()
        if dropout < 0 or dropout >= 1:
            raise ValueError("dropout")
        self.p, self.scores = dropout, nn.LazyLinear(num_labels)

    def forward(self, pooled, choices=None):
        if self.training and self.p:
            kept = torch.rand_like(pooled) >= self.p
            pooled = pooled * kept / (1 - self.p)
        scores = self.scores(pooled)
        return scores if choices is None else torch.stack(scores[:, 0].split(choices))""",
    "layout": """
import numpy as np


def stay(a, b, room, cut):
    if cut == "second":
        return min(a, room), max(0, min(b, room - a))
    if a + b <= room:
        return a, b
    return stay(a - 1, b, room, cut) if a > b else stay(a, b - 1, room, cut)


def layout(pairs, S, cut="longer"):
    ids, segments, mask = (np.zeros((len(pairs), S), dtype=int) for _ in range(3))
    for row, (a, b) in enumerate(pairs):
        m, n = (min(len(a), S - 2), None) if b is None else stay(len(a), len(b), S - 3, cut)
        ids[row, 0], ids[row, m + 1] = 2, 3
        ids[row, 1 : m + 1] = a[:m]
        end = m + 2
        if b is not None:
            ids[row, end : end + n] = b[:n]
            ids[row, end + n] = 3
            segments[row, end : end + n + 1] = 1
            end += n + 1
        mask[row, :end] = 1
    return ids.tolist(), segments.tolist(), mask.tolist()""",
    "labels": """
def labels(question, characters, start, text, S, begin=0):
    if text == "":
        return (-100, -100)
    asked = set(range(start, start + len(text)))
    if any(asked & set(range(*piece)) for piece in characters[:begin]):
        return None
    row = [set()] * (len(question) + 2) + [asked & set(range(*piece)) for piece in characters[begin:]]
    places = [place for place, shared in enumerate(row) if shared]
    if places and max(places) < S - 1:
        return min(places), max(places)""",
    "best_span": """
def best_span(start, end, context, none, longest=30, threshold=0.0):
    answers = []
    for row in range(len(start)):
        places = context[row].nonzero().flatten().tolist()
        first, last = start[row].tolist(), end[row].tolist()
        found = [(first[i] + last[j], i, j) for i in places for j in places if 0 <= j - i < longest]
        answers.append((-100, -100) if none[row] > threshold or not found else max(found)[1:])
    return answers""",
}
