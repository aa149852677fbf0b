"""Cards of notebook 11: a head for classes, and how texts and pairs of texts become rows."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from albert_course.checks.asking import learns, made, numbers_of, output, parameters, tensor
from albert_course.checks.engine import Case, Cases, Draw, card
from albert_edu.text.tokenizer import CLS, PAD, SEP


class ClassificationHead(nn.Module):
    """``Head(hidden_size, num_labels, dropout)``, an nn.Module: ``head(pooled[B,H]) ->
    logits[B,C]``. In training, a number of the pooled vector is dropped with the probability
    ``dropout``, and those that stay are scaled up; then one linear map with a bias, nn.Linear(H,
    C). ``pooled`` has been through a dense layer and tanh already, and the loss takes logits. A
    dropout below 0, or of 1 and more, is a ValueError when the head is made."""

    def __init__(self, hidden_size: int, num_labels: int, dropout: float):
        super().__init__()
        if not 0 <= dropout < 1:
            raise ValueError(f"a dropout of {dropout} is not in [0, 1)")
        self.drop = nn.Dropout(dropout)
        self.map = nn.Linear(hidden_size, num_labels)

    def forward(self, pooled: Tensor) -> Tensor:
        x = self.drop(pooled)
        return self.map(x)


def _pooled(draw: Draw) -> Cases:
    H, C, p = draw.integer(6, 10), draw.integer(3, 6), 0.1 * draw.integer(2, 5)
    sizes, x = (H, C, p), draw.randn(4, H).tanh()
    W, b = numbers_of((C, H)), numbers_of((C,))
    one = W[:1].sign() * (0.5 + x[:1].abs())  # all numbers pull the first score the same way
    spread = (one * W).square().sum(1).sqrt()

    def trained(answer, sizes, x):
        return tensor(made(answer, *sizes).train()(x), len(x), C).double()

    def twice(answer, sizes, x):
        head = made(answer, *sizes)
        return torch.equal(head(x), head(x))

    def drops(answer, sizes, x):
        return bool(trained(answer, sizes, x).std(0).max() > 1e-6)

    def average(answer, sizes, x):
        """How far the mean scores are from those of eval mode, and the share of zeros."""
        noisy = trained(answer, sizes, x)
        shift = (noisy.mean(0) - (one @ W.T + b)[0]) / spread
        return torch.cat([shift, (noisy == 0).double().mean()[None]])

    def probability(answer, sizes, x):
        """p / (1 - p) times what the dropped numbers contribute is the scores' variance."""
        ratio = float((trained(answer, sizes, x).var(0) / spread.square()).mean())
        return ratio / (1 + ratio)

    many = one.expand(6000, H)
    yield Case("has one linear map with a bias", (sizes,), 1.0, parameters)
    yield Case("maps pooled to logits", (sizes, x), 3.0, output)
    yield Case("lets the encoder learn", (sizes, x), 1.0, learns)
    yield Case("says the same twice in eval mode", (sizes, x), 1.0, twice)
    yield Case("drops numbers of pooled in training", (sizes, many), 2.0, drops)
    yield Case("says the same on average in training mode", (sizes, many), 1.0, average, 0.06)
    yield Case("drops with the given probability", (sizes, many), 1.0, probability, 0.03)
    yield Case("drops nothing for a dropout of 0", ((H, C, 0.0), x), 1.0, trained)
    for dropout in (1.0, -0.1):
        yield Case(
            f"refuses a dropout of {dropout}",
            (H, C, dropout),
            0.5,
            lambda answer, *sizes: answer(*sizes) is not None,
        )


check_classification_head = card(
    "11.4",
    ClassificationHead,
    _pooled,
    {
        "applying softmax, which the loss applies again": "return self.map(x).softmax(-1)",
        "applying tanh to the logits, which limits them": "return self.map(x).tanh()",
        "applying tanh to pooled, which has been through tanh already": "x = self.drop(pooled.tanh())",
        "normalising pooled": "x = nn.functional.layer_norm(pooled, pooled.shape[1:])",
        "returning the class instead of its scores": "return self.map(x).argmax(-1)",
        "adding a second pooler, as RoBERTa's head has: one nn.Linear(H, C) is left": "self.drop = nn.Sequential(nn.Linear(hidden_size, hidden_size), nn.Dropout(dropout))",
        "leaving out the bias: one nn.Linear(H, C) is left": "num_labels) => num_labels, bias=False)",
        "making two classes, whatever num_labels is": "self.map = nn.Linear(hidden_size, 2)",
        "detaching pooled: is there a detach()?": "x = self.drop(pooled.detach())",
        "dropping nothing": "x = pooled",
        "dropout is still on in eval mode": "x = nn.functional.dropout(pooled, self.drop.p)",
        "the scores are dropped, not numbers of pooled: dropout comes before the map": (
            "x = pooled",
            "return self.drop(self.map(x))",
        ),
        "dropping without scaling up: what stays is not scaled up by 1 / (1 - p)": "x = self.drop(pooled) * (1 - self.drop.p * self.training)",
        "taking the probability to keep for that to drop": "self.drop = nn.Dropout(1 - dropout)",
        "always taking 0.1, whatever is asked for": "self.drop = nn.Dropout(0.1)",
        "allowing a dropout of 1, which leaves nothing to learn from": "dropout < 1 => dropout <= 1",
        "making a function: write a class with nn.Module as its base": lambda H, C, dropout: (
            lambda pooled: nn.Linear(H, C)(pooled)
        ),
    },
)


def _kept(n: int, m: int, room: int) -> tuple[int, int]:
    """How many tokens of the two texts are left."""
    while n + m > room:
        n, m = (n - 1, m) if n > m else (n, m - 1)
    return n, m


def pair_layout(pairs: Sequence[tuple], S: int) -> tuple[Tensor, Tensor, Tensor]:
    """``layout(pairs, S) -> token_ids, segment_ids, attention_mask``, each [N,S]. ``pairs`` is a
    list of N pairs (a, b) of lists of ids; b is None for a single text. A row is [CLS] A [SEP] B
    [SEP], or [CLS] A [SEP], and padding. [CLS] is 2, [SEP] 3, padding 0. The segment is 1 from the
    first token of B to its [SEP], else 0; the mask is 1 on tokens, 0 on padding. What is too long
    loses tokens from the end of the longer text, one by one; of B if both are equally long. The
    caller's lists stay as they are."""
    rows = []
    for a, b in pairs:
        room = S - (2 if b is None else 3)
        n, m = _kept(len(a), len(b or []), room)
        head = [CLS, *a[:n], SEP]
        tail = [] if b is None else [*b[:m], SEP]
        padding = [PAD] * (S - len(head) - len(tail))
        segments = [0] * len(head) + [1] * len(tail)
        mask = [1] * len(segments)
        rows.append((head + tail + padding, segments + padding, mask + padding))
    ids, segments, mask = (torch.tensor(part) for part in zip(*rows, strict=True))
    return ids, segments, mask


def _pairs(draw: Draw) -> Cases:
    S = 2 * draw.integer(7, 10)  # even: then one of two equally long texts keeps a token more
    few, many = draw.integer(2, 4), draw.integer(12, 16) + S
    long = [(many, few), (few, many), (many + 3, many), (many, many), (S - 3 - few, few)]
    single = [(few + 1, None), (S - 2, None), (many, None), (few, 0)]  # an empty B is not None

    def texts(lengths):
        return [
            tuple(n if n is None else draw.integers(5, 99, n).tolist() for n in pair)
            for pair in lengths
        ]

    def rows(*which):
        def ask(answer, pairs, S):
            parts = [tensor(part, len(pairs), S).long() for part in answer(pairs, S)]
            return torch.stack([parts[i] for i in which])

        return ask

    short, cut = texts([(few + 2, few)]), texts(long)
    yield Case("lays out a pair that fits", (short, S), 2.0, rows(0))
    yield Case("says which segment a token is of", (short, S), 2.0, rows(1))
    yield Case("masks the padding", (short, S), 2.0, rows(2))
    yield Case("cuts the end of the longer text", (cut, S), 3.0, rows(0))
    yield Case("keeps segments and mask right where it cuts", (cut, S), 1.0, rows(1, 2))
    yield Case("lays out single texts and an empty B", (texts(single), S), 2.0, rows(0, 1, 2))


HALF = "min(len(a), room // 2), min(len(b or []), room - room // 2)"
check_pair_layout = card(
    "11.5",
    pair_layout,
    _pairs,
    {
        "leaving out the [SEP] between A and B": "head = [CLS, *a[:n]]",
        "padding in front of the row": "rows.append((padding + head + tail, padding + segments, padding + mask))",
        "leaving out the padding: a row is not padded": "padding = []",
        "giving the first [SEP] to B": "segments = [0] * (len(head) - 1) + [1] * (len(tail) + 1)",
        "giving the last [SEP] to A": "segments = [0] * len(head) + ([1] * len(tail) + [0])[1:]",
        "giving padding the segment 1": "segments + padding, => segments + [1] * len(padding),",
        "giving everything the segment 0": "segments = [0] * (len(head) + len(tail))",
        "say where B begins in what is left, not in what was there before": "segments = ([0] * (len(a) + 2) + [1] * S)[: len(head) + len(tail)]",
        "attending to padding": "mask + padding => mask + [1] * len(padding)",
        "turning the mask upside down": "mask + padding => [0] * len(mask) + [1] * len(padding)",
        "cutting the front, not the end": ("a[:n] => a[len(a) - n :]", "b[:m] => b[len(b) - m :]"),
        "cutting B first, and A when nothing of B is left": "n, m = min(len(a), room), min(len(b or []), max(room - len(a), 0))",
        "cutting A alone": "n, m = min(len(a), room - len(b or [])), len(b or [])",
        "cutting B alone": "n, m = len(a), min(len(b or []), room - len(a))",
        "giving each text one half of the room": f"n, m = {HALF}",
        "giving each text one half of the room where they do not fit": f"n, m = ({HALF}) if len(a) + len(b or []) > room else (len(a), len(b or []))",
        "cutting both in proportion": "n, m = (n := room * len(a) // (len(a) + len(b or []))), room - n",
        "cutting A where both are equally long": "n, m = _kept(len(b or []), len(a), room)[::-1]",
        "keeping a place more free than [CLS] and two [SEP] need": "else 3) => else 4)",
        "cutting the finished row, which loses its last [SEP]": (
            "room = 9**9",
            "torch.tensor(part) => torch.tensor([row[:S] for row in part])",
        ),
        "setting a second [SEP] behind a single text": (
            "room = S - 3",
            "tail = [*(b or [])[:m], SEP]",
        ),
        "leaving room for a second [SEP] behind a single text": "room = S - 3",
        "taking an empty B for none": "b is None => not b",
        "the caller's data are changed: work on a copy": "padding = a.clear() or [PAD] * (S - len("
        "head) - len(tail))",
    },
    pure=True,
)
