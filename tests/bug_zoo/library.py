"""The library's own code, and PyTorch's, as right answers to the exercises."""

from itertools import accumulate

import numpy as np
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from albert_course import checks
from albert_edu import AlbertConfig
from albert_edu.analysis.counting import count_parameters, flops_per_token
from albert_edu.analysis.probes import linear_probe
from albert_edu.model.embeddings import FactorizedEmbedding
from albert_edu.model.heads import MaskedTokenHead
from albert_edu.text.masking import choose_masked, replace_masked
from albert_edu.text.segments import PairSampler
from albert_edu.text.tasks import as_data, truncate_pair, with_special_tokens
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.training.lamb import Lamb
from albert_edu.training.settings import learning_rate
from tests.bug_zoo.zoo import right

# The first model on the meta device loads a part of torch, for seconds on a busy machine: not
# within the limit of an answer.
count_parameters(AlbertConfig(num_heads=1))

right(checks.check_ngram_masking)(choose_masked)
right(checks.check_masked_token_head)(MaskedTokenHead)
right(checks.check_linear_probe)(linear_probe)
right(checks.check_schedule)(learning_rate)


@right(checks.check_attention)
def fused_attention(q, k, v, attention_mask):
    return F.scaled_dot_product_attention(q, k, v, attention_mask[:, None, None, :])


@right(checks.check_layer_norm)
def norm_of_torch(x, gain, bias):
    return F.layer_norm(x, gain.shape, gain, bias, eps=1e-12)


@right(checks.check_gelu)
def gelu_of_torch(x):
    return F.gelu(x, approximate="tanh")


@right(checks.check_factorized_embedding)
def embedding(V, E, H, P):
    return FactorizedEmbedding(
        AlbertConfig(vocab_size=V, embedding_size=E, hidden_size=H, max_positions=P, num_heads=1)
    )


@right(checks.check_parameter_count)
def parameters(V, E, H, L, share):
    sizes = dict(vocab_size=V, embedding_size=E, hidden_size=H, num_layers=L, num_heads=1)
    return count_parameters(AlbertConfig(**sizes, share=share)).total


@right(checks.check_flops)
def flops(config, S, training):
    return flops_per_token(config, S, training=training)


@right(checks.check_replace_masked)
def replaced(rng, token_ids, masked, vocab_size):
    return replace_masked(rng, token_ids, masked, vocab_size), np.where(masked, token_ids, -100)


@right(checks.check_order_pairs)
def sampler(documents, length, n, rng):
    sentences = [sentence for document in documents for sentence in document]
    flat = np.array([token for sentence in sentences for token in sentence], np.uint16)
    edges, parts = (np.array([0, *accumulate(map(len, each))]) for each in (sentences, documents))
    corpus = TokenizedCorpus(flat, edges, parts, np.full(len(documents), -1))
    drawn, rows = PairSampler(corpus, "sop", length).draw(rng, n), []
    for starts, ends, label in zip(drawn.start, drawn.end, drawn.labels, strict=True):
        a, b = (
            flat[edges[start] : edges[end]].tolist()
            for start, end in zip(starts, ends, strict=True)
        )
        rows.append(([2, *a, 3, *b, 3], [0] * (len(a) + 2) + [1] * (len(b) + 1), int(label)))
    return rows


@right(checks.check_lamb)
def lamb(weights, gradients, lr, decay):
    params = {name: nn.Parameter(w) for name, w in weights.items()}
    spared = {name: name.endswith("bias") or ".norm." in name for name in params}
    optimizer = Lamb(
        [
            {"params": [p], "adapt": not spared[name], "weight_decay": 0 if spared[name] else decay}
            for name, p in params.items()
        ],
        lr=lr,
    )
    for gradient in gradients:
        for name, p in params.items():
            p.grad = gradient[name]
        optimizer.step()
    return params


@right(checks.check_recompute_with_dropout)
class Checkpoint:
    """No Function of its own: torch's checkpoint keeps the state by itself."""

    @staticmethod
    def apply(block, x, *weights):
        return checkpoint(block, x, use_reentrant=False)


@right(checks.check_pair_layout)
def rows_of_a_task(pairs, S):
    laid = []
    for a, b in pairs:
        first, second = [*a], [*(b or [])]
        truncate_pair(first, second, S - (2 if b is None else 3))
        laid.append(with_special_tokens(first, None if b is None else second))
    data = as_data(laid, [0] * len(laid), S)
    return data.token_ids, data.segment_ids, data.attention_mask
