"""Checks of notebook 05: what is hidden, and what the loss sees."""

import torch
import torch.nn.functional as F

from albert_edu.checks.trial import Trial, exercise
from albert_edu.text.masking import IGNORE


@exercise("05.6")
def check_masked_token_loss(answer, trial: Trial) -> None:
    """``loss(logits[B,K,V], labels[B,K]) -> scalar``: mean cross-entropy in nats over slots whose label is not -100."""
    logits, labels = trial.randn(3, 5, 11), trial.randint(0, 11, 3, 5)
    labels[0, 3:], labels[2, 1:], labels[1, 0] = IGNORE, IGNORE, 0
    got = trial.call(answer, logits, labels, name="takes logits[B,K,V] and labels[B,K]")
    used, nats = labels != IGNORE, F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none").view(3, 5)
    per_row = nats.sum(1) / used.sum(1)
    no_zero = used & (labels != 0)
    mistakes = {
        "averaging over all positions, the unused slots included": nats.mean(),
        "adding the losses up instead of averaging": nats.sum(),
        "averaging within each sequence first, so that a slot in a short one counts more": per_row.mean(),
        "taking label 0 for 'unused'; here it is an ordinary piece and -100 says unused": nats[no_zero].mean(),
        "measuring in bits (log2) instead of nats": nats[used].mean() / torch.tensor(2.0).log(),
        "dividing by the number of sequences": nats.sum() / 3,
        "returning the mean log-probability, without the minus sign": -nats[used].mean(),
        "applying softmax before cross_entropy, which does it again": F.cross_entropy(logits[used].softmax(-1), labels[used]),
        "taking scores for log-probabilities: the softmax is missing": F.nll_loss(logits[used], labels[used]),
    }
    trial.equal("is the mean over the slots that are asked about", got, nats[used].mean(), mistakes, weight=3)

    moved = torch.where(used[..., None], logits, logits + 7 * trial.randn(3, 5, 11))
    reason = "an unused slot has a vote; leave it out before you average"
    trial.equal("does not move when the logits of unused slots do", trial.call(answer, moved, labels), got, reason=reason, weight=2)

    leaf = logits.clone().requires_grad_()
    value = trial.call(answer, leaf, labels)
    trial.need("can be trained on", isinstance(value, torch.Tensor) and value.requires_grad,
               "the result carries no gradient: .item(), .detach() or NumPy cut it off")  # fmt: skip
    trial.need("is one number", value.numel() == 1, f"the shape is {tuple(value.shape)}: average over the slots")
    (gradient,) = torch.autograd.grad(value.sum(), leaf)
    silent = not gradient[~used].any()
    trial.true("gives unused slots a gradient of exactly zero", silent, "they are multiplied by something small, not left out")

    nobody = trial.call(answer, logits, torch.full_like(labels, IGNORE), name="survives a batch without a hidden piece")
    reason = "0 / 0: divide by the count, but by at least 1"
    trial.true("is 0 for a batch without a hidden piece", float(nobody) == 0, reason, expected="0", got=f"{float(nobody)}")
