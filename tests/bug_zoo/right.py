"""The library's own code, and PyTorch's, as right answers: other styles than the cards'."""

from itertools import accumulate

import numpy as np
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from albert_course import checks
from albert_edu.text.masking import choose_masked
from albert_edu.text.segments import PairSampler
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.training.lamb import Lamb


def sampler(documents, length, n, rng):
    sentences = [sentence for document in documents for sentence in document]
    flat = np.array([token for sentence in sentences for token in sentence], np.uint16)
    edges, parts = (np.array([0, *accumulate(map(len, each))]) for each in (sentences, documents))
    corpus = TokenizedCorpus(flat, edges, parts, np.full(len(documents), -1))
    drawn, rows = PairSampler(corpus, "sop", length).draw(rng, n), []
    for starts, ends, label in zip(drawn.start, drawn.end, drawn.labels, strict=True):
        cuts = zip(edges[starts], edges[ends], strict=True)
        a, b = (flat[start:end].tolist() for start, end in cuts)
        rows.append(([2, *a, 3, *b, 3], [0] * (len(a) + 2) + [1] * (len(b) + 1), int(label)))
    return rows


def lamb(weights, gradients, lr, decay):
    params = {name: nn.Parameter(w) for name, w in weights.items()}
    groups = []
    for name, p in params.items():
        full = not name.endswith("bias") and ".norm." not in name
        groups.append({"params": [p], "adapt": full, "weight_decay": decay * full})
    optimizer = Lamb(groups, lr=lr)
    for gradient in gradients:
        for name, p in params.items():
            p.grad = gradient[name]
        optimizer.step()
    return params


def fused_attention(q, k, v, attention_mask):
    return F.scaled_dot_product_attention(q, k, v, attention_mask[:, None, None, :])


class Checkpoint:
    """No Function of its own: torch's checkpoint keeps the state by itself."""

    @staticmethod
    def apply(block, x, *weights):
        return checkpoint(block, x, use_reentrant=False)


RIGHT = {
    checks.check_attention: fused_attention,
    checks.check_layer_norm: lambda x, gain, bias: F.layer_norm(x, gain.shape, gain, bias, 1e-12),
    checks.check_gelu: lambda x: F.gelu(x, approximate="tanh"),
    checks.check_recompute_with_dropout: Checkpoint,
    checks.check_ngram_masking: choose_masked,
    checks.check_order_pairs: sampler,
    checks.check_lamb: lamb,
}
