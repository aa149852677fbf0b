"""Answers to the exercise of notebook 08 on rough curves, right and wrong."""

import numpy as np

from albert_edu.checks import check_roughness
from tests.bug_zoo.zoo import right


@right(check_roughness)
def roughness_by_diff(angles):
    slope = angles[1:].diff()
    return slope.diff().abs().mean().item(), int((slope[1:] * slope[:-1] < 0).sum())


@right(check_roughness)
def roughness_by_loop(angles):
    bends, changes = [], 0
    for a, b, c in zip(angles[1:].tolist(), angles[2:].tolist(), angles[3:].tolist(), strict=False):
        bends.append(abs(c - 2 * b + a))
        changes += (b > a and b > c) or (b < a and b < c)
    return sum(bends) / len(bends), changes


@right(check_roughness)
def roughness_in_numpy(angles):
    curve = angles.double().numpy()[1:]
    signs = np.sign(np.diff(curve))
    return np.abs(np.convolve(curve, [1, -2, 1], "valid")).mean(), (np.diff(signs[signs != 0]) != 0).sum()
