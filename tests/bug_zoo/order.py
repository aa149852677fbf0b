"""Right answers to the exercises of notebook 06 in other styles."""

from itertools import accumulate

import numpy as np
import torch
from torch import nn

from albert_edu.analysis.probes import linear_probe
from albert_edu.checks import check_linear_probe, check_order_pairs, check_sentence_order_head
from albert_edu.text.segments import PairSampler
from albert_edu.text.tokenized import TokenizedCorpus
from tests.bug_zoo.zoo import right


@right(check_order_pairs)
def with_the_sampler(documents, length, n, rng):
    sentences = [sentence for document in documents for sentence in document]
    flat = np.array([token for sentence in sentences for token in sentence], np.uint16)
    edges, parts = (np.array([0, *accumulate(map(len, each))]) for each in (sentences, documents))
    corpus = TokenizedCorpus(flat, edges, parts, np.full(len(documents), -1))
    drawn, rows = PairSampler(corpus, "sop", length).draw(rng, n), []
    for starts, ends, label in zip(drawn.start, drawn.end, drawn.labels, strict=True):
        a, b = (flat[edges[start] : edges[end]].tolist() for start, end in zip(starts, ends, strict=True))
        rows.append(([2, *a, 3, *b, 3], [0] * (len(a) + 2) + [1] * (len(b) + 1), int(label)))
    return rows


@right(check_order_pairs)
def from_all_possible_pairs(documents, length, n, rng):
    possible = [(document[start:cut], document[cut:end]) for document in documents for start in range(len(document))
                for end in range(start + 2, len(document) + 1) for cut in range(start + 1, end)
                if sum(map(len, document[start:end])) <= length - 3]
    if not possible:
        raise ValueError("no two sentences fit")
    found = []
    for i in range(n):
        a, b = (np.concatenate(part) for part in possible[rng.integers(len(possible))])
        a, b = (b, a) if i % 2 else (a, b)
        found.append((np.array([2, *a, 3, *b, 3]), np.arange(len(a) + len(b) + 3) > len(a) + 1, i % 2))
    return found


@right(check_sentence_order_head)
class HeadByHand(nn.Module):
    """Matrices that stand on the right, and tanh from exponentials."""

    def __init__(self, H):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.randn(H, H)), nn.Parameter(torch.zeros(H))
        self.c, self.d = nn.Parameter(torch.randn(H, 2)), nn.Parameter(torch.zeros(2))

    def forward(self, hidden):
        pooled = 2 * torch.sigmoid(2 * (torch.einsum("bh,hk->bk", hidden.select(1, 0), self.a) + self.b)) - 1
        return pooled @ self.c + self.d


right(check_linear_probe)(linear_probe)


@right(check_linear_probe)
def probe_with_newton_in_numpy(x, y, tx, ty):
    """One class against the rest, by Newton's method, with a weak penalty."""
    x, y, tx, ty = (np.asarray(part, float) for part in (x, y, tx, ty))
    mean, spread = x.mean(0), np.maximum(x.std(0), 1e-9)
    x, tx = (np.c_[np.ones(len(part)), (part - mean) / spread] for part in (x, tx))
    scores = []
    for c in range(int(y.max()) + 1):
        w = np.zeros(x.shape[1])
        for _ in range(30):
            p = 1 / (1 + np.exp(-x @ w))
            hessian = (x * (p * (1 - p))[:, None]).T @ x + 0.1 * np.eye(len(w))
            w -= np.linalg.solve(hessian, x.T @ (p - (y == c)) + 0.1 * w)
        scores.append(tx @ w)
    told = np.argmax(scores, 0)
    recalls = [np.mean(told[ty == c] == c) if (ty == c).any() else np.nan for c in range(len(scores))]
    return np.mean(told == ty), np.array(recalls)
