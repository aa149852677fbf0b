"""What the cards use to look at what an answer returns."""

import copy
from collections.abc import Callable, Iterator
from operator import attrgetter, itemgetter

import torch

from albert_course.checks.engine.comparing import as_tensor, same
from albert_edu.errors import CourseError


class Unusable(CourseError, TypeError):
    """What was returned cannot be judged; the message says why."""


def need(holds: bool, reason: str) -> None:
    """End a case with this reason unless ``holds``: what was returned cannot be judged."""
    if not holds:
        raise Unusable(reason)


def each(answer: Callable, *inputs: tuple) -> list:
    """What is answered to each of several inputs."""
    return [call(answer, *one) for one in inputs]


def call(answer: Callable, *inputs):
    """What is answered; what comes one by one, such as a zip, counts as a list."""
    found = answer(*inputs)
    return list(found) if isinstance(found, Iterator) else found


def part_of(which: int | slice | str, ask: Callable = call) -> Callable:
    """The question for one part, or some, of what ``ask`` gives; for a field by its name."""
    get = attrgetter(which) if isinstance(which, str) else itemgetter(which)
    return lambda answer, *inputs: get(ask(answer, *inputs))


def tensor(value, *shape: int) -> torch.Tensor:
    """``value`` as a detached tensor on the CPU; Unusable if it is none, or not of this shape."""
    try:
        numbers = as_tensor(value)
    except Exception:
        cure = "; is the return missing?" if value is None else ""
        raise Unusable(f"you return {type(value).__name__}, not a tensor{cure}") from None
    if shape:
        need(numbers.shape == shape, f"the shape is {tuple(numbers.shape)}, not {shape}")
    return numbers


def made(kind: Callable, *sizes, inputs: tuple = ()) -> torch.nn.Module:
    """The module that an answer makes, with numbers that depend on a parameter's shape alone.

    So answers compare, whatever they call their parameters and whichever way round they keep a
    matrix: a transposed one gets the transposed numbers, a square one symmetric numbers. A lazy
    layer takes its sizes from ``inputs``.
    """
    module = kind(*sizes)
    cure = "write a class with nn.Module as its base"
    need(isinstance(module, torch.nn.Module), f"you return {type(module).__name__}: {cure}")
    with torch.no_grad():
        if any(map(torch.nn.parameter.is_lazy, module.parameters())):
            module(*inputs)
        for weight in module.parameters():
            weight.copy_(numbers_of(weight.shape))
    return module.eval()


def numbers_of(shape: tuple[int, ...]) -> torch.Tensor:
    """The numbers of a parameter of this shape, transposed for the transposed shape."""
    high = sorted(shape, reverse=True)
    values = torch.randn(high, generator=torch.Generator().manual_seed(5))
    if len(high) == 2 and high[0] == high[1]:
        return (values + values.T) / 2
    return values if list(shape) == high else values.T


def output(kind: Callable, sizes: tuple, *inputs: torch.Tensor) -> torch.Tensor:
    """What the module gives in eval mode."""
    return made(kind, *sizes, inputs=inputs)(*inputs)


def same_twice(kind: Callable, sizes: tuple, *inputs: torch.Tensor) -> bool:
    """True if the module gives the same in two calls in training mode."""
    module = made(kind, *sizes, inputs=inputs).train()
    return torch.equal(module(*inputs), module(*inputs))


def parameters(kind: Callable, sizes: tuple, *inputs: torch.Tensor) -> list[tuple[int, ...]]:
    """The sorted shapes of the module's parameters, the longer side first."""
    weights = made(kind, *sizes, inputs=inputs).parameters()
    return sorted(tuple(sorted(weight.shape, reverse=True)) for weight in weights)


def gradients(answer: Callable, *inputs) -> list[torch.Tensor]:
    """The gradients of the sum of cubes of what is answered (after a norm the squares have a
    constant sum), for the inputs that hold floats, and for a module's parameters."""
    leaves = [x.requires_grad_() for x in inputs if torch.is_tensor(x) and x.is_floating_point()]
    leaves += getattr(answer, "parameters", list)()
    value = answer(*(x.clone() if torch.is_tensor(x) else x for x in inputs))
    cure = "; is the return missing?" if value is None else ""
    need(torch.is_tensor(value), f"you return {type(value).__name__}, which has no gradient{cure}")
    need(value.requires_grad, "the result carries no gradient: .item(), .detach() or .data")
    return [*torch.autograd.grad(value.pow(3).sum(), leaves, materialize_grads=True)]


def learns(kind: Callable, sizes: tuple, *inputs: torch.Tensor) -> bool:
    """True if a gradient reaches all inputs and parameters; Unusable, with the shapes, if not."""
    found = gradients(made(kind, *sizes, inputs=inputs), *inputs)
    lost = [tuple(gradient.shape) for gradient in found if not gradient.any()]
    shapes = f"{lost}, the shapes of inputs or parameters"
    need(not lost, f"no gradient reaches {shapes}: is there a detach() or no_grad()?")
    return True


def by_seed(ask: Callable) -> Callable:
    """The question whether chance comes from ``ask``'s argument ``seed`` alone: True if so."""

    def question(answer, *inputs):
        """Ask three times, with two seeds."""
        first, again, other = (ask(answer, *copy.deepcopy(inputs), seed=seed) for seed in (5, 5, 6))
        need(
            same(first, again),
            "the same seed gives another result: chance comes from np.random or random, not "
            "from `rng`",
        )
        need(
            not same(first, other),
            "another seed gives the same result: is a generator made inside, with a seed of its "
            "own?",
        )
        return True

    return question
