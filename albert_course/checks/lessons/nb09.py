"""Cards of the exercises in notebook 09: the extra cost of an idea, early stops, sign flips."""

import itertools

from albert_course.checks.engine import Case, Cases, Draw, card
from albert_course.checks.seeds import interval


def extra_cost(none_wide, none_narrow, all_wide, all_narrow):
    """``extra_cost(none_wide, none_narrow, all_wide, all_narrow) -> (mean, half)``: how much more a
    narrow embedding costs with sharing than without, with its 95% interval. Each argument is a
    list of losses, one for each seed, in the same order of seeds."""
    pairs = zip(none_wide, none_narrow, all_wide, all_narrow, strict=True)
    return interval([(d - c) - (b - a) for a, b, c, d in pairs])


def _four_arms(draw: Draw) -> Cases:
    for n in (3, 5):
        yield Case(f"gives mean and half-width of {n} seeds", tuple(draw.randn(4, n).tolist()))


check_extra_cost = card(
    "09.1",
    extra_cost,
    _four_arms,
    {
        "subtracting with sharing from without sharing": "(d - c) - (b - a) => (b - a) - (d - c)",
        "leaving out the arms without sharing": "(d - c) - (b - a) => d - c",
        "comparing the two narrow arms only": "(d - c) - (b - a) => d - b",
    },
    pure=True,
)


def early_stop(differences: list[float]):
    """``early_stop(differences) -> n or None``: the number of seeds at which somebody stops who
    looks after each seed, from the third on: the first n for which the 95% interval of the first n
    differences excludes 0. None if there is no such n."""
    for n in range(3, len(differences) + 1):
        mean, half = interval(differences[:n])
        if abs(mean) > half:
            return n
    return None


def _sequences(draw: Draw) -> Cases:
    yield Case("stops at the third seed", ([1.0, 1.25, 1.125, -9.0, 2.0],))
    yield Case("stops later, on either side of 0", ([-0.25, 1.0, -2.5, *[-1.2] * 5],))
    yield Case("does not look at two seeds", ([1.0, 1.0, -4.0, 3.0],))
    yield Case("returns None if nothing is decided", ([1.5, -1.5, 0.25, -0.25, 2.0, -2.0],))


check_early_stop = card(
    "09.2",
    early_stop,
    _sequences,
    {
        "looking after the second seed already": "range(3 => range(2",
        "counting from 0: the index of the last seed is n - 1": "return n\n => return n - 1\n",
        "stopping for a mean above 0 only": "abs(mean) => mean",
        "taking all differences at every look": "differences[:n] => differences",
    },
    pure=True,
)


def sign_flip_p(differences: list[float]) -> float:
    """``sign_flip_p(differences) -> p``: the exact two-sided p value of a sign-flip test. Of all
    2**n ways to give the n absolute differences a sign, count those whose sum is at least as far
    from 0 as the observed sum (up to 1e-9), and divide by 2**n."""
    observed = abs(sum(differences))
    flips = itertools.product((1, -1), repeat=len(differences))
    sums = [sum(s * d for s, d in zip(signs, differences, strict=True)) for signs in flips]
    return sum(abs(total) >= observed - 1e-9 for total in sums) / len(sums)


def _differences(draw: Draw) -> Cases:
    yield Case("gives 2/32 for five of one sign", ([-0.08, -0.11, -0.06, -0.10, -0.05],))
    yield Case("counts all sign patterns of seven", (draw.randn(7).tolist(),))
    yield Case("counts ties up to a rounding error", ([0.1, 0.1, 0.1, -0.1],))


check_sign_flip_p = card(
    "09.3",
    sign_flip_p,
    _differences,
    {
        "counting one side only": "abs(total) >= observed => total >= observed",
        "leaving out ties, among them the observed signs": ">= observed - => > observed + ",
        "flipping all signs together": "flips = [[s] * len(differences) for s in (1, -1)]",
    },
    pure=True,
)
