"""Checks of notebook 11: a head for classes, and how texts and pairs of texts become rows."""

import copy
import functools
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from albert_edu.checks.report import brief
from albert_edu.checks.trial import Trial, exercise, same
from albert_edu.text.tokenizer import CLS, PAD, SEP


@exercise("11.4")
def check_classification_head(answer, trial: Trial) -> None:
    """``Head(hidden_size, num_labels, dropout)``, an nn.Module: ``head(pooled[B,H]) -> logits[B,C]``. In training, a number of the
    pooled vector is dropped with the probability ``dropout``, and those that stay are scaled up; then one linear map with a bias,
    nn.Linear(H, C). ``pooled`` has been through a dense layer and tanh already, and the loss takes logits."""
    H, C, p = int(trial.randint(6, 10, 1)), int(trial.randint(3, 6, 1)), 0.1 * int(trial.randint(2, 5, 1))
    head = trial.call(answer, H, C, p, name="takes hidden_size, num_labels and dropout")
    trial.need("is an nn.Module", isinstance(head, nn.Module), "write a class with nn.Module as its base", got=brief(head))
    x = trial.randn(4, H).tanh()
    trial.call(head, x, name="takes pooled[B,H]")  # a lazy module knows its sizes only now
    weights = list(head.parameters())
    found = sorted(tuple(weight.shape) for weight in weights)
    reason = f"there are weights of shape {found}; pooled has had its dense layer and tanh: one nn.Linear(H, C) is left"
    trial.need("has one linear map with a bias", found == sorted([(C,), (C, H)]), reason)
    with torch.no_grad():
        for weight in weights:
            weight.copy_(trial.randn(*weight.shape))
    W, b = sorted((weight.detach().clone().float() for weight in weights), key=lambda weight: -weight.ndim)
    head.eval()
    got = _logits(trial, head, x, C)
    right = x @ W.T + b
    mapped = trial.equal("maps pooled to logits", got, right, {
        "applying softmax, which the loss applies again": right.softmax(-1),
        "applying log_softmax, which the loss applies again": right.log_softmax(-1),
        "applying a sigmoid": right.sigmoid(),
        "applying tanh to the logits, which then cannot be sure of anything": right.tanh(),
        "applying tanh to pooled, which has been through tanh already": x.tanh() @ W.T + b,
        "applying ReLU to pooled, which throws half of it away": x.relu() @ W.T + b,
        "applying GELU to pooled": nn.functional.gelu(x) @ W.T + b,
        "normalising pooled": nn.functional.layer_norm(x, (H,)) @ W.T + b,
        "returning the class instead of its scores": right.argmax(-1),
    }, weight=3, reason="dropping in eval mode too? F.dropout needs training=self.training")  # fmt: skip
    leaf = x.clone().requires_grad_()
    value = trial.call(head, leaf, name="lets autograd through")
    traced = isinstance(value, Tensor) and value.requires_grad
    reached = traced and torch.autograd.grad(value.sum(), leaf, allow_unused=True)[0] is not None
    trial.true("lets the encoder learn", reached, "no gradient reaches pooled: is there a detach() or no_grad()?")
    reason = "dropout is still on in eval mode: use nn.Dropout, or F.dropout with training=self.training"
    trial.true("says the same twice in eval mode", same(_logits(trial, head, x, C), got), reason)
    head.train()
    one = W[:1].sign() * (0.5 + x[:1].abs())  # all numbers pull the first score the same way, so dropping shows
    noisy = _logits(trial, head, one.expand(6000, H), C).double()
    zeros, centre, spread = (noisy == 0).double().mean().item(), one @ W.T + b, (one * W).square().sum(1).double()
    trial.true("drops numbers of pooled in training", bool(noisy.std(0).max() > 1e-6), "nothing is dropped in training mode", 2.0)
    reason = "what stays is not scaled up by 1 / (1 - p), so that eval mode sees other sizes"
    reason = "the scores are dropped, not numbers of pooled: dropout comes before the map" if zeros > 0.05 else reason
    close = bool(((noisy.mean(0) - centre).abs() < 0.05 * spread.sqrt()).all()) and zeros < 0.05
    trial.true("says the same on average in training mode", close, reason if mapped else "")
    ratio = float((noisy.var(0) / spread).mean())  # p / (1 - p) times what the dropped numbers contribute
    trial.equal("drops with the probability that was asked for", ratio / (1 + ratio), p, {
        "taking the probability to keep for that to drop": 1 - p,
        "always taking 0.1, whatever is asked for": 0.1,
        "always taking 0.5, the default of nn.Dropout": 0.5,
        "dropping nothing": 0.0,
        "dropping without scaling up": p * (1 - p) / (1 + p * (1 - p)),
    }, atol=0.02)  # fmt: skip


def _logits(trial: Trial, head: nn.Module, x: Tensor, C: int) -> Tensor:
    got = trial.call(head, x, name="takes pooled[B,H]")
    if not isinstance(got, Tensor) or got.shape not in {(len(x), C), (len(x),)}:
        reason = "one score for each class; is the return missing?"
        trial.need(f"returns logits of shape {(len(x), C)}", False, reason, got=brief(got))
    return got.detach()


@exercise("11.5")
def check_pair_layout(answer, trial: Trial) -> None:
    """``layout(pairs, S) -> token_ids, segment_ids, attention_mask``, each [N,S]. ``pairs`` is a list of N pairs (a, b) of lists of
    ids; b is None for a single text. A row is [CLS] A [SEP] B [SEP], or [CLS] A [SEP], and padding. [CLS] is 2, [SEP] 3, padding 0.
    The segment is 1 from the first piece of B to its [SEP], else 0; the mask is 1 on pieces, 0 on padding. What is too long loses
    pieces from the end of the longer text, one by one; of B if both are equally long."""
    S = 2 * int(trial.randint(7, 10, 1))  # even: then one of two equally long texts keeps a piece more
    few, many = int(trial.randint(2, 4, 1)), int(trial.randint(12, 16, 1)) + S
    fits, lengths = (few + 2, few), [(many, few), (few, many), (many + 3, many), (many, many), (S - 3 - few, few)]
    alone = [(few + 1, None), (S - 2, None), (many, None), (few, 0)]  # an empty B is not a missing one
    short, cut, single = (_draw(trial, sizes) for sizes in ([fits], lengths, alone))
    got = _three(trial, answer, short, S)
    ids, segments, mask = laid = _rows(short, S)
    trial.equal("lays out a pair that fits", got[0], ids, {
        "leaving out the [SEP] between A and B": _rows(short, S, middle=[])[0],
        "leaving out [CLS]": torch.cat([ids[:, 1:], torch.full((1, 1), PAD)], 1),
        "padding in front of the row": ids.roll(S - int(mask.sum()), 1),
        "padding between A and B": _rows(short, S, gap=True)[0],
    }, weight=2)  # fmt: skip
    n = sum(fits) + 3
    trial.equal("says which segment a piece is of", got[1], segments, {
        "giving the first [SEP] to B": _segments(S, fits[0] + 1, n),
        "giving the last [SEP] to A": _segments(S, fits[0] + 2, n - 1),
        "giving padding the segment 1": _segments(S, fits[0] + 2, S),
        "giving everything the segment 0": _segments(S, 0, 0),
        "giving B the segment 0 and A the segment 1": _segments(S, 0, fits[0] + 2),
        "counting segments from 1": 1 + segments,
    }, weight=2)  # fmt: skip
    trial.equal("masks the padding", got[2], mask, {
        "attending to padding": torch.ones(1, S), "turning the mask upside down": 1 - mask,
        "masking B as well": _segments(S, 0, fits[0] + 2),
    }, weight=2)  # fmt: skip
    good = same(list(got), list(laid))
    got = _three(trial, answer, cut, S)
    cuts = trial.equal("cuts the end of the longer text", got[0], _rows(cut, S)[0], {
        mistake: _rows(cut, S, cut=rule)[0] for mistake, rule in CUTS.items()
    } | {"cutting the finished row, which loses its last [SEP]": _cut_at_last(cut, S)[0]}, weight=3)  # fmt: skip
    reason = "say where B begins in what is left, not in what was there before" if good and cuts else ""
    segments_and_mask = torch.stack(_rows(cut, S)[1:])
    trial.equal("keeps segments and mask right where it cuts", torch.stack(got[1:]), segments_and_mask, reason=reason)
    got = _three(trial, answer, single, S)
    trial.equal("lays out single texts", torch.stack(got), torch.stack(_rows(single, S)), {
        "setting a second [SEP] behind a single text": torch.stack(_rows([(a, []) for a, _ in single], S)),
        "leaving room for a second [SEP] behind a single text": torch.stack(_rows([(a[: S - 3], b) for a, b in single], S)),
        "cutting the finished row, which loses its last [SEP]": torch.stack(_cut_at_last(single, S)),
        "cutting the front": torch.stack(_rows([(a[-(S - 2) :], b) for a, b in single], S)),
    }, weight=2)  # fmt: skip


def _longest_first(a: int, b: int, room: int) -> tuple[slice, slice]:
    while a + b > room:
        a, b = (a - 1, b) if a > b else (a, b - 1)
    return slice(0, a), slice(0, b)


def _half_each(a: int, b: int, room: int) -> tuple[slice, slice]:
    return slice(0, room // 2), slice(0, room - room // 2)


def _halves(a: int, b: int, room: int, larger: int = 1) -> tuple[slice, slice]:
    """Half of the room for each text, if both do not fit; the ``larger`` of 0 and 1 gets the place left over."""
    rest = room - room // 2
    return (slice(0, rest), slice(0, room // 2))[:: 1 - 2 * larger] if a + b > room else (slice(0, a), slice(0, b))


def _in_proportion(a: int, b: int, room: int) -> tuple[slice, slice]:
    keep = min(a, room * a // (a + b)) if a + b > room else a
    return slice(0, keep), slice(0, room - keep)


def _from_the_front(a: int, b: int, room: int) -> tuple[slice, slice]:
    first, second = _longest_first(a, b, room)
    return slice(a - first.stop, a), slice(b - second.stop, b)


def _of_a_if_equal(a: int, b: int, room: int) -> tuple[slice, slice]:
    return tuple(reversed(_longest_first(b, a, room)))


CUTS = {  # what they keep of two texts of these lengths
    "cutting the front, not the end": _from_the_front,
    "cutting A alone": lambda a, b, room: (slice(0, max(0, room - b)), slice(0, room)),
    "cutting B alone": lambda a, b, room: (slice(0, min(a, room)), slice(0, max(0, room - a))),
    "giving each text one half of the room": _half_each,
    "giving each text one half of the room where they do not fit": _halves,
    "giving each text one half of the room where they do not fit, and A the place left over": functools.partial(_halves, larger=0),
    "cutting both in proportion": _in_proportion,
    "cutting A where both are equally long": _of_a_if_equal,
    "keeping a place more free than [CLS] and two [SEP] need": lambda a, b, room: _longest_first(a, b, room - 1),
}


def _draw(trial: Trial, lengths: Sequence[tuple[int, int | None]]) -> list[tuple[list[int], list[int] | None]]:
    texts = [[None if n is None else trial.randint(5, 99, n).tolist() for n in pair] for pair in lengths]
    return [(a, b) for a, b in texts]


def _rows(pairs: Sequence, S: int, cut=_longest_first, middle: Sequence[int] = (SEP,), gap: bool = False) -> tuple[Tensor, ...]:
    """Ids, segments and mask as they should be, or with a mistake."""
    rows = []
    for a, b in pairs:
        first, second = cut(len(a), len(b), S - 3) if b is not None else (slice(0, S - 2), slice(0))
        head, tail = [CLS, *a[first], *(middle if b is not None else [SEP])], [] if b is None else [*b[second], SEP]
        free = S - len(head) - len(tail)
        ids = [*head, *[PAD] * free, *tail] if gap else [*head, *tail, *[PAD] * free]
        rows.append((ids[:S], ([0] * len(head) + [1] * len(tail) + [0] * free)[:S], ([1] * (S - free) + [0] * free)[:S]))
    return tuple(torch.tensor(list(part)) for part in zip(*rows, strict=True))


def _cut_at_last(pairs: Sequence, S: int) -> tuple[Tensor, ...]:
    return tuple(part[:, :S] for part in _rows(pairs, 100))


def _segments(S: int, begin: int, end: int) -> Tensor:
    return ((torch.arange(S) >= begin) & (torch.arange(S) < end)).long()[None]


def _three(trial: Trial, answer, pairs: Sequence, S: int) -> tuple[Tensor, ...]:
    answered = trial.call(answer, copy.deepcopy(pairs), S, name="takes pairs and S")
    try:
        parts = [torch.as_tensor(part if not isinstance(part, list | tuple) else [list(map(int, row)) for row in part])
                 for part in answered]  # fmt: skip
    except (TypeError, ValueError, OverflowError, RuntimeError):
        parts = []
    whole = len(parts) == 3 and all(part.shape == (len(pairs), S) for part in parts)
    shapes = [tuple(part.shape) for part in parts]
    if not whole:
        reason = "ids, segment ids and mask, all S long; is the return missing, or is a row not padded or not cut?"
        trial.need(f"returns three things of shape {(len(pairs), S)}", False, reason, got=str(shapes or brief(answered)))
    return tuple(part.detach().cpu().long() for part in parts)
