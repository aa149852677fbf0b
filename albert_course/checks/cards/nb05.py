"""Cards of notebook 05: a gradient in parts, a baseline, what shows of masked tokens, the head."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from albert_course.checks.engine import asking
from albert_course.checks.engine.asking import by_seed, made, need, output
from albert_course.checks.engine.card import Case, Cases, Draw, card
from albert_edu.config import AlbertConfig
from albert_edu.text.masking import IGNORE
from albert_edu.text.tokenizer import MASK


def gradient_in_parts(head: nn.Linear, parts: list[tuple]) -> Tensor:
    """``gradient_in_parts(head, parts) -> gradient[V,H]`` of the MLM loss of the whole batch with
    respect to ``head.weight``, one part after another. ``head(hidden[N,H])`` gives logits[N,V].
    ``parts`` is a list of (hidden[N,H], labels[N]); label -100 means nothing to predict."""
    total = sum((labels != IGNORE).sum() for _, labels in parts)
    head.zero_grad()
    for hidden, labels in parts:
        loss = F.cross_entropy(head(hidden), labels, reduction="sum")
        (loss / total).backward()
    return head.weight.grad


def _gradient_in_parts_cases(draw: Draw) -> Cases:
    parts = [(draw.randn(6, 4), draw.integers(0, 7, 6)) for _ in range(3)]
    for (_, labels), used in zip(parts, (1, 5, 3), strict=True):
        labels[used:] = IGNORE

    def order(answer, head, parts):
        events = []
        head.register_forward_hook(lambda *_: events.append("forward"))
        head.weight.register_hook(lambda gradient: events.append("backward"))
        answer(head, parts)
        return events

    def twice(answer, *inputs):
        return [answer(*inputs), answer(*inputs)]

    inputs = nn.Linear(4, 7), parts
    yield Case("is the gradient of the global mean, also when called again", inputs, 2.0, twice)
    yield Case("runs forward and backward for one part after another", inputs, 1.0, order)


check_gradient_in_parts = card("notebook 05.1", gradient_in_parts, _gradient_in_parts_cases)


def copy_baseline(q: Tensor, to_mask: float, to_random: float) -> Tensor:
    """``copy_baseline(q, to_mask, to_random) -> loss`` in nats: the best MLM loss without context
    for V tokens with frequencies q[V]. A masked position shows [MASK] in a share ``to_mask``, one
    of the V tokens drawn evenly in a share ``to_random``, and the label otherwise."""
    unchanged = (1 - to_mask - to_random) * torch.eye(len(q))
    joint = q[:, None] * (unchanged + to_random / len(q))  # V label, V seen
    posterior = joint / joint.sum(0).clamp(min=1e-30)  # no 0 / 0 where nothing is visible
    visible = -torch.special.xlogy(joint, posterior).sum()
    return visible - to_mask * torch.special.xlogy(q, q).sum()


def _copy_baseline_cases(draw: Draw) -> Cases:
    q = draw.randn(12).softmax(0)
    yield Case("is the copy baseline of 80/10/10", (q, 0.8, 0.1))
    yield Case("costs nothing at visible tokens without random ones", (q, 0.8, 0.0))
    yield Case("is the unigram baseline if all show [MASK]", (q, 1.0, 0.0))


check_copy_baseline = card("notebook 05.2", copy_baseline, _copy_baseline_cases)


def replace_masked(rng, token_ids, masked, vocab_size) -> tuple[np.ndarray, np.ndarray]:
    """``replace(rng, token_ids[B,S], masked[B,S], vocab_size) -> seen[B,S], labels[B,S]``: what the
    model sees, and what it predicts. Each token where ``masked`` is True is replaced by a die of
    its own, drawn from the NumPy Generator ``rng``: 80% [MASK] (id 4), 10% a random ordinary token
    (ids 5 to vocab_size - 1, all alike), 10% left as it is. Labels are the original tokens there,
    and -100 elsewhere. The caller's arrays are left as they are."""
    labels = np.where(masked, token_ids, IGNORE)
    die = rng.random(token_ids.shape)
    words = rng.integers(MASK + 1, vocab_size, token_ids.shape)
    mask, random = die < 0.8, (die >= 0.8) & (die < 0.9)
    replaced = np.where(mask, MASK, np.where(random, words, token_ids))
    seen = np.where(masked, replaced, token_ids)
    return seen, labels


def _replace_masked_cases(draw: Draw) -> Cases:
    V, B = draw.integer(36, 44), 2000
    ids = draw.numpy.integers(5, 15, (B, 24))  # so that random ones differ from borrowed ones
    masked = np.zeros((B, 24), bool)
    masked[:, [1, 2, 3, 7, 8, 9, 13, 14, 15, 20, 21, 22]] = True

    def replaced(answer, ids, masked, V, seed=5):
        before = ids.copy()
        seen, labels = map(np.asarray, answer(np.random.default_rng(seed), ids, masked, V))
        whole = seen.shape == labels.shape == before.shape
        need(whole, "two arrays [B,S] are asked for: what is seen, and the labels")
        need(IGNORE not in seen, "-100 is no token: what is seen comes first, the labels second")
        return seen, labels, before

    def labels(answer, *rows):
        seen, labels, ids = replaced(answer, *rows)
        for mistake, values in {
            "taking the labels after replacing": np.where(masked, seen, IGNORE),
            "labelling only where [MASK] is seen": np.where(seen == MASK, ids, IGNORE),
        }.items():  # they depend on what was drawn, so that no other answer gives the same
            need(not np.array_equal(labels, values) or np.array_equal(seen, ids), mistake)
        return labels

    def kinds(answer, ids, masked, V):
        seen, _, ids = replaced(answer, ids, masked, V)
        return np.where(seen == MASK, 0, np.where(seen == ids, 2, 1))[masked]

    def rate(answer, ids, masked, V):
        return np.bincount(kinds(answer, ids, masked, V), minlength=3) / masked.sum()

    def alike(answer, *rows):
        """How often two dice agree: down a column, along a row, inside a run of three."""
        kind = kinds(answer, *rows).reshape(B, 4, 3)
        turned = (kind.swapaxes(0, axis) for axis in range(3))
        return np.array([(each[1:] == each[:-1]).mean() for each in turned])

    def drawn(answer, ids, masked, V):
        seen, _, ids = replaced(answer, ids, masked, V)
        return np.unique(seen[masked & (seen != MASK) & (seen != ids)])

    def unmasked(answer, ids, masked, V):
        return replaced(answer, ids, masked, V)[0][~masked]

    rows = ids, masked, V
    yield Case("keeps the masked tokens as labels", rows, 3.0, labels)
    yield Case("leaves the other tokens alone", rows, 2.0, unmasked)
    yield Case("puts [MASK], another token or the token itself: 80, 10, 10", rows, 3.0, rate, 0.016)
    yield Case("throws a die for each token", rows, 2.0, alike, 0.1)
    yield Case("draws random tokens from all ordinary ones", rows, 1.0, drawn, 0)
    few = np.full((1000, 50), 5), np.ones((1000, 50), bool), 7
    yield Case("draws the two ordinary tokens of a vocabulary of 7 alike", few, 1.0, rate, 0.012)
    yield Case("takes its chance from `rng`", rows, 1.0, by_seed(replaced))
    nothing = ids[:2], masked[:2] & False, V
    yield Case("does nothing when nothing is masked", nothing, 1.0, replaced)


check_replace_masked = card("assignment 05.4", replace_masked, _replace_masked_cases, pure=True)


def masked_token_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """``loss(logits[B,K,V], labels[B,K]) -> scalar``: mean cross-entropy in nats over the masked
    positions, those whose label is not -100; 0 where there is none."""
    used = labels != IGNORE
    nats = F.cross_entropy(logits[used], labels[used], reduction="none")
    return nats.sum() / used.sum().clamp(min=1)


def _masked_token_loss_cases(draw: Draw) -> Cases:
    logits, labels = draw.randn(3, 5, 11), draw.integers(0, 11, 3, 5)
    labels[0, 3:], labels[2, 1:], labels[1, 0] = IGNORE, IGNORE, 0
    yield Case("is the mean over the masked positions", (logits, labels), 3.0)
    yield Case("gives unused positions no gradient", (logits, labels), 2.0, asking.gradients)
    yield Case("is 0 without a masked position", (logits, torch.full_like(labels, IGNORE)))


check_masked_token_loss = card("assignment 05.6", masked_token_loss, _masked_token_loss_cases)


class MaskedTokenHead(nn.Module):
    """``Head(config, word_embedding)`` makes an nn.Module without dropout; called with hidden[*,H]
    it gives logits[*,V], for any number of leading dimensions. A map with bias from H to E, GELU,
    LayerNorm with gain and bias (any small eps), then the product with each row of the embedding
    table plus a bias for each of the V tokens. ``word_embedding`` is an nn.Embedding(V, E), and its
    weight is the decoder's matrix: the very Parameter. The sizes are config.hidden_size,
    .embedding_size, .vocab_size."""

    def __init__(self, config: AlbertConfig, word_embedding: nn.Embedding):
        super().__init__()
        H, E, V = config.hidden_size, config.embedding_size, config.vocab_size
        self.map = nn.Linear(H, E)
        self.norm = nn.LayerNorm(E, eps=1e-12)
        self.table = word_embedding.weight
        self.bias = nn.Parameter(torch.zeros(V))

    def forward(self, hidden: Tensor) -> Tensor:
        x = self.map(hidden)
        x = F.gelu(x, approximate="tanh")
        x = self.norm(x)
        return x @ self.table.T + self.bias


def _masked_token_head_cases(draw: Draw) -> Cases:
    V, E, H = draw.integer(9, 14), 8, 16
    config = AlbertConfig(vocab_size=V, embedding_size=E, hidden_size=H, num_heads=2)
    words, hidden = nn.Embedding(V, E), draw.randn(2, 3, H)
    # 5e-2 below: GELU by erf and by tanh, which are both right, lie that far apart after the norm.

    def run(answer, config, words, hidden):
        made(lambda: words)
        return output(answer, (config, words), hidden)

    def tied(answer, config, words, hidden):
        head, table = made(answer, config, words), words.weight
        own = [w for w in head.parameters() if w is not table and w.numel() == V * E]
        lost = [gradient.shape for gradient in asking.gradients(head, hidden) if not gradient.any()]
        return {
            "it has no table of its own": not own,
            "it shares no .data": all(w.data_ptr() != table.data_ptr() for w in own),
            "a gradient reaches the table": (V, E) not in lost,
        }

    def own(answer, *sizes):
        return [size for size in asking.parameters(answer, sizes) if size != (V, E)]

    inputs = config, words, hidden
    yield Case("is tied to the embedding table", inputs, 3.0, tied)
    yield Case("has a map, a norm and a bias of its own", (config, words), 2.0, own)
    yield Case("maps, bends, norms and scores, in this order", inputs, 3.0, run, 5e-2)
    yield Case("gives the same scores twice", ((config, words), hidden), 1.0, asking.same_twice)
    yield Case("scores a vector alone as in company", (config, words, hidden[1, 2]), 1.0, run, 5e-2)
    wide = config, words, hidden[:, None, None]
    yield Case("takes more leading dimensions", wide, 1.0, run, 5e-2)


check_masked_token_head = card("assignment 05.5", MaskedTokenHead, _masked_token_head_cases)
