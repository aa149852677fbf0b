"""Check of notebook 07: a batch in parts."""

import copy
import functools
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from albert_edu.checks.trial import Trial, exercise, same
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingBatch
from albert_edu.text.masking import IGNORE

RATE = 0.5  # of the plain gradient descent that steps in check_accumulation


@exercise("07.5")
def check_accumulation(answer, trial: Trial) -> None:
    """``step_in_parts(model, parts, optimizer) -> loss``: one step of the optimizer on the masked-token loss of a batch that
    comes as ``parts``, a list of PretrainingBatch: the mean over all hidden pieces of all parts, which is also returned.
    ``model(part).masked_token_loss`` is the mean over those of one part (0 if there are none), ``part.num_masked`` their number.
    One part after another, so that the memory for one is enough. Called for one batch after another."""
    model = AlbertForPretraining(AlbertConfig(vocab_size=12, embedding_size=4, hidden_size=8, num_layers=1, num_heads=2,
                                              max_positions=6, init_std=0.4))  # fmt: skip
    hidden = trial.numpy.permutation([1, 3, 6]).tolist()
    parts, others = _parts(trial, hidden), _parts(trial, [4, 0, 2])
    ask = functools.partial(_ask_step, answer, trial, model)
    got, after, seen = ask([parts])
    pull, losses = _pulls(model, parts)  # what each part alone would do to the weights, P n, and its loss
    n, rows = torch.tensor([part.num_masked for part in parts]), torch.tensor([len(part) for part in parts])
    share, last = n / n.sum(), torch.tensor([0, 0, 1])
    right = trial.equal("moves the weights as the whole batch would", after, share @ pull, {
        "giving every part the same weight, a mean of means": pull.mean(0),
        "adding the parts' means up": pull.sum(0),
        "adding nats up without dividing by the number of hidden pieces": n.float() @ pull,
        "weighting parts by their sequences instead of their hidden pieces": rows / rows.sum() @ pull,
        "dividing by the number of parts as well": share @ pull / len(n),
        "clearing the gradients inside the loop, so that only the last part's are left": share * last @ pull,
        "clearing the gradients inside the loop, with the parts unweighted": pull[-1],
        "clearing the gradients inside the loop, with parts of equal weight": pull[-1] / len(n),
        "calling backward on a running sum: the first part counts three times then": share * torch.tensor([3, 2, 1]) @ pull,
        "taking output.loss, which has the loss of the order in it": share @ _pulls(model, parts, "loss")[0],
        "stepping after each part": _steps(model, parts, share),
        "taking each part for a batch of its own": _steps(model, parts, torch.ones(3)),
        "never stepping, or clearing the gradients before the step": torch.zeros_like(pull[0]),
    }, weight=3)  # fmt: skip
    trial.true("takes one step a batch", seen.count("step") == 1, f"optimizer.step() was called {seen.count('step')} times")
    backward, at_once = "backward" in seen, ("forward", "forward") in pairwise(seen)
    reason = "the graphs of several parts are held at once: call backward for each part before the next one is computed"
    reason = reason if backward else "no gradient ever reached the weights"
    trial.true("keeps the memory of one part at a time", backward and not at_once, reason)
    trial.equal("returns the loss of the batch", got[0], share @ losses, {
        "averaging the parts' losses": losses.mean(),
        "adding the parts' losses up": losses.sum(),
        "returning the loss of the last part": losses[-1],
        "returning the last part's share of the loss": share[-1] * losses[-1],
    })  # fmt: skip

    _, after, _ = ask([others])
    pull, _ = _pulls(model, others)
    n = torch.tensor([part.num_masked for part in others])
    reason = "such a part weighs nothing, and the others weigh as if it were not there" if right else ""
    trial.equal("goes on past a part without a hidden piece", after, n / n.sum() @ pull, {
        "counting a part without hidden pieces as one piece": n / n.clamp(min=1).sum() @ pull,
        "giving every part the same weight, a mean of means": pull.mean(0),
    }, reason=reason)  # fmt: skip
    _, twice, _ = ask([parts, others])
    _, clean, _ = ask([parts, others], clear=True)
    reason = "gradients of the batch before are still there: zero_grad once a batch, before the first part or after the step"
    still = not clean.any()  # an answer that does nothing has nothing to forget
    reason = "the weights do not move at all" if still else reason
    trial.true("forgets the batch before", same(twice, clean) and not still, reason, weight=2)


def _parts(trial: Trial, hidden: Sequence[int]) -> list[PretrainingBatch]:
    """Parts of one or two sequences of six tokens, with so many hidden pieces in up to three slots each."""
    parts = []
    for n in hidden:
        B = 1 if n < 3 else 2
        labels = torch.where(torch.arange(3 * B) < n, trial.randint(5, 12, 3 * B), IGNORE).view(B, 3)
        places = torch.tensor([[1, 2, 4]]).expand(B, 3)
        ids, order = trial.randint(5, 12, B, 6), trial.randint(0, 2, B)
        parts.append(PretrainingBatch(ids, torch.zeros_like(ids), torch.ones_like(ids), places, labels, order))
    return parts


def _ask_step(answer, trial: Trial, model, batches: Sequence, clear: bool = False) -> tuple[list, Tensor, list[str]]:
    """What is answered for each batch, how far the weights moved, and what was done in which order."""
    student, seen = copy.deepcopy(model), []
    optimizer = torch.optim.SGD(student.parameters(), lr=RATE)
    student.albert.embeddings.register_forward_hook(lambda *_: seen.append("forward") if torch.is_grad_enabled() else None)
    student.masked_token_head.decoder.bias.register_hook(lambda gradient: seen.append("backward"))
    optimizer.register_step_post_hook(lambda *_: seen.append("step"))
    losses = []
    for parts in batches:
        losses.append(trial.call(answer, student, copy.deepcopy(parts), optimizer, name="takes model, parts and optimizer"))
        if clear:
            student.zero_grad()
    return losses, (parameters_to_vector(student.parameters()) - parameters_to_vector(model.parameters())).detach(), seen


def _pulls(model, parts: Sequence, name: str = "masked_token_loss") -> tuple[Tensor, Tensor]:
    """How far each part's own mean loss would move the weights in a step, P n, and that loss, P."""
    params, pulls, losses = list(model.parameters()), [], []
    for part in parts:
        loss = getattr(model(part), name)
        gradients = torch.autograd.grad(loss, params, materialize_grads=True)
        pulls.append(-RATE * torch.cat([gradient.flatten() for gradient in gradients]))
        losses.append(loss.detach())
    return torch.stack(pulls), torch.stack(losses)


def _steps(model, parts: Sequence, weights: Tensor) -> Tensor:
    """How far the weights move when every part, so weighted, makes a step of its own."""
    one = copy.deepcopy(model)
    for part, weight in zip(parts, weights, strict=True):
        vector_to_parameters(parameters_to_vector(one.parameters()).detach() + weight * _pulls(one, [part])[0][0], one.parameters())
    return (parameters_to_vector(one.parameters()) - parameters_to_vector(model.parameters())).detach()
