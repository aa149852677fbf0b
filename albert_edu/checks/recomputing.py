"""Checks of notebook 10: layers that run a second time instead of being kept for the backward pass."""

import copy
import weakref
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from albert_edu.checks.report import brief
from albert_edu.checks.trial import Trial, exercise, same

NO_GRAPH = "the second run has no graph"


@exercise("10.4")
def check_gradient_checkpoint(answer, trial: Trial) -> None:
    """``checkpointed(layers, x) -> output``: the modules in the list ``layers``, without dropout, one after another, from
    x[B,S,H]. For the backward pass only the input of each layer is kept; there each layer runs a second time, the last one first.
    Gradients reach x and all weights as without it, also when a layer stands in the list twice or x needs no gradient."""
    L, H = int(trial.randint(3, 6, 1)), 6
    layers, log = [_Noted(H, trial) for _ in range(L)], []
    ours = copy.deepcopy(layers)  # whatever the answer does to the layers
    for number, layer in enumerate(layers):
        layer.note = lambda number=number: log.append(number)
    x, along = trial.randn(2, 4, H), trial.randn(2, 4, H)
    output, kept, gradients = _train(trial, answer, layers, x, along)
    runs = log.copy()
    kept_plain, inputs, expected = _plainly(ours, x, along)
    *_, plain = inputs
    trial.equal("gives the same output", output, plain, {
        "leaving the last layer out": inputs[-2],
        "running the last layer first": _plainly(ours[::-1], x, along)[1][-1],
        "giving every layer the first input": ours[-1](x).detach(),
    }, weight=2)  # fmt: skip
    alone = [_plainly([layer], given, torch.ones_like(along))[2] for layer, given in zip(ours, inputs, strict=False)]
    of_x, of_weights = gradients[: x.numel()], gradients[x.numel() :]
    trial.equal("gives x its gradient", of_x, expected[: x.numel()], {
        "giving x none (is requires_grad_ missing on the input that you run again?)": torch.zeros_like(of_x),
        "leaving out the gradient that comes in: each layer is asked as if its output were the loss": alone[0][: x.numel()],
        "handing the incoming gradient on unchanged": along.flatten(),
    }, weight=2)  # fmt: skip
    right = trial.equal("gives the weights their gradients", of_weights, expected[x.numel() :], {
        "giving the weights none: hand them to apply, and return a gradient for each": torch.zeros_like(of_weights),
        "leaving out the gradient that comes in": torch.cat([one[x.numel() :] for one in alone]),
        "counting them twice: .grad gets them both from you and from autograd": 2 * expected[x.numel() :],
        "letting only the last layer learn":
            torch.cat([torch.zeros(of_weights.numel() // L * (L - 1)), expected[-(of_weights.numel() // L) :]]),
    }, weight=2)  # fmt: skip
    most = (L + 2) * 4 * x.numel()  # an input for each layer, the output, and one to spare
    reason = "the graph of the first run is still held" if kept >= 0.9 * kept_plain else "more is held than an input for each layer"
    trial.true("keeps an input for each layer and no more", kept <= most, reason, 5.0, f"at most {most} bytes", f"{kept} bytes")
    reason = "the layers ran once: nothing was recomputed" if len(runs) == L else f"the layers ran in the order {runs}"
    if len(runs) == L * (L + 1) // 2 + L:
        reason = "each layer's input is found from x again and again; keep the inputs instead"
    elif runs[L:] == list(range(L)):
        reason = "all layers run again before the first one is gone back through, so that everything is held at once after all"
    trial.true("runs each layer a second time, the last one first", runs == [*range(L), *reversed(range(L))], reason, 3.0)

    _, _, gradients = _train(trial, answer, [layers[0], layers[1], layers[0]], x, along, trains_x=False)
    expected = _plainly([ours[0], ours[1], ours[0]], x, along)[2][x.numel() :]
    reason = "a weight that is used twice gets the sum of two gradients" if right else ""
    trial.equal("adds up the gradients of a layer that stands in the list twice", gradients, expected, reason=reason)


@exercise("10.1")
def check_recompute_with_dropout(answer, trial: Trial) -> None:
    """``Function.apply(block, x, *block.parameters()) -> block(x)``: a torch.autograd.Function that keeps x alone and runs the
    block a second time in its backward pass. The block may have dropout: the second run drops what the first one dropped, and
    the random numbers that the program draws after the backward pass are those that it would have drawn without a second run."""
    H, seed, p = 5, int(trial.randint(1, 1000, 1)), 0.5
    blocks = [nn.Sequential(_Noted(H, trial), nn.Dropout(p), nn.Linear(H, H)) for _ in range(2)]
    ours = copy.deepcopy(blocks)  # whatever the answer does to the blocks
    x, along = trial.randn(30, 10, H), trial.randn(30, 10, H)
    if not hasattr(answer, "apply"):
        trial.need("has apply", False, "write a class with torch.autograd.Function as its base", got=brief(answer))

    def again(layers: Sequence[nn.Module], x: Tensor) -> Tensor:
        for block in layers:
            x = answer.apply(block, x, *block.parameters())
        return x

    torch.manual_seed(seed)
    output, kept, got = _train(trial, again, blocks[:1], x, along)
    drawn_behind = torch.rand(3)
    kept_plain, (_, plain), expected = _seeded(seed, ours[:1], x, along)
    right_behind = torch.rand(3)
    _seeded(seed, ours[:1], x, along)
    other = _plainly(ours[:1], x, along)[2]  # from the state behind the first run
    behind_two = torch.rand(3)
    ours[0].eval()
    _, (_, whole), nothing_dropped = _plainly(ours[:1], x, along)
    ours[0].train()
    reason = "the first run draws what the program would draw next: seed nothing"
    trial.equal("gives the block's output", output, plain, {"dropping nothing in the first run": whole}, reason=reason)
    right = trial.equal("gives the gradients of the first run's dropout", got, expected, {
        "drawing another dropout in the second run: bring the state of the random numbers back": other,
        "dropping nothing in the second run": nothing_dropped,
    }, weight=3)  # fmt: skip
    reason = "the program goes on with other random numbers: set the state inside torch.random.fork_rng() only"
    reason = "the second run draws, and the program notices: torch.random.fork_rng()" if same(drawn_behind, behind_two) else reason
    thrice = [0, 1, 0]  # as in a shared encoder, a block is applied more than once
    torch.manual_seed(seed)
    _, _, apart = _train(trial, again, [blocks[i] for i in thrice], x, along)
    drawn_at_last = torch.rand(3)
    of_three = _seeded(seed, [ours[i] for i in thrice], x, along)[2]
    once, at_last = same(drawn_behind, right_behind), same(drawn_at_last, torch.rand(3))
    if once:
        reason = "after three applications the program draws numbers that it has had: set the state inside torch.random.fork_rng()"
    trial.true("leaves the random numbers behind it as they were", once and at_last, reason, weight=2)
    most = 3 * 4 * x.numel() + 2 * len(torch.get_rng_state())  # x, the output, one to spare; the generator's state
    reason = "the first run's graph is held" if kept >= 0.9 * kept_plain else "more is held than x and a state"
    trial.true("keeps x and no activations", kept <= most, reason, 2.0, f"at most {most} bytes", f"{kept} bytes")
    reason = "each application needs a state of its own: keep it on ctx, not on the class or the block" if right else ""
    trial.equal("keeps three applications of two blocks apart", apart, of_three, reason=reason, weight=2)


def _seeded(seed: int, layers: Sequence[nn.Module], x: Tensor, along: Tensor) -> tuple[int, list[Tensor], Tensor]:
    torch.manual_seed(seed)
    return _plainly(layers, x, along)


class _Noted(nn.Module):
    """A layer that tells when it runs, and keeps far more than its input for the backward pass."""

    def __init__(self, H: int, trial: Trial):
        super().__init__()
        self.up, self.down = nn.Linear(H, 8 * H), nn.Linear(8 * H, H)
        self.note: Callable[[], None] = lambda: None
        with torch.no_grad():
            for weight in self.parameters():
                weight.copy_(trial.randn(*weight.shape) / 3)

    def forward(self, x: Tensor) -> Tensor:
        self.note()
        return x + self.down(torch.tanh(self.up(x)))


class _Alive(TorchDispatchMode):
    """Knows the tensors that operations have made and that are still there; weights do not count."""

    def __init__(self, layers: Sequence[nn.Module]):
        super().__init__()
        self.made, self.weights = weakref.WeakSet(), {weight.untyped_storage() for weight in _weights(layers)}

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        self.made.update(leaf.untyped_storage() for leaf in tree_leaves(result) if isinstance(leaf, Tensor))
        return result

    def bytes(self) -> int:
        return sum(storage.nbytes() for storage in self.made if storage not in self.weights)


def _weights(layers: Sequence[nn.Module]) -> list[nn.Parameter]:
    return list(dict.fromkeys(weight for layer in layers for weight in layer.parameters()))


def _plainly(layers: Sequence[nn.Module], x: Tensor, along: Tensor) -> tuple[int, list[Tensor], Tensor]:
    """By plain autograd: the bytes that are held, x and what comes out of each layer, the gradients of x and weights in a row."""
    states = [x.clone().requires_grad_()]
    with _Alive(layers) as mode:
        for layer in layers:
            states.append(layer(states[-1]))
    gradients = torch.autograd.grad(states[-1], [states[0], *_weights(layers)], along)
    return mode.bytes(), [state.detach() for state in states], torch.cat([gradient.flatten() for gradient in gradients])


def _train(trial: Trial, answer, layers: Sequence[nn.Module], x: Tensor, along: Tensor, trains_x: bool = True):
    """The output, the bytes that are held before the backward pass, and the gradients in one row, x's first if it has one."""
    x = x.clone().requires_grad_(trains_x)
    for weight in _weights(layers):
        weight.grad = None
    with _Alive(layers) as mode:
        torch.zeros(1)  # the first operation under a mode imports much of torch: not on the answer's time
        output = trial.call(answer, layers, x, name="takes layers and x")
    kept = mode.bytes()
    if not isinstance(output, Tensor) or output.shape != x.shape:
        trial.need("returns one tensor of x's shape", False, "is the return missing?", got=brief(output))
    reason = "run the layers inside a Function that gets x and the weights, not under no_grad alone"
    reason = reason if trains_x else "x does not ask for one here, only the weights do: does every weight go into apply?"
    if not output.requires_grad:
        trial.need("lets autograd through", False, f"the output needs no gradient: {reason}")
    if trial.call(_backward, output, along, name="lets autograd back") == NO_GRAPH:
        trial.need("lets autograd back", False, f"{NO_GRAPH}: in backward autograd is off; run layers under torch.enable_grad()")
    leaves = [x] * trains_x + _weights(layers)
    found = [torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in leaves]
    return output.detach(), kept, torch.cat([gradient.flatten() for gradient in found])


def _backward(output: Tensor, along: Tensor) -> str:
    try:
        output.backward(along)
    except RuntimeError as error:
        if "does not require grad" not in str(error):
            raise
        return NO_GRAPH
    return ""
