"""Answers to the exercise of notebook 08 on rough curves, right and wrong."""

import numpy as np

from albert_edu.checks import check_roughness
from tests.bug_zoo.zoo import right, wrong


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


@wrong(check_roughness, "counting step 1 in")
def with_step_one(angles):
    slope = angles.diff()
    return slope.diff().abs().mean(), (slope[1:] * slope[:-1] < 0).sum()


@wrong(check_roughness, "leaving out step 2 as well")
def from_step_three(angles):
    return roughness_by_diff(angles[1:])[0], roughness_by_diff(angles)[1]


@wrong(check_roughness, "first differences")
def total_variation(angles):
    return angles[1:].diff().abs().mean(), roughness_by_diff(angles)[1]


@wrong(check_roughness, "with the signs")
def signs_kept(angles):
    return angles[1:].diff(n=2).mean(), roughness_by_diff(angles)[1]


@wrong(check_roughness, "averaging with the signs")
def absolute_too_late(angles):
    return angles[1:].diff(n=2).mean().abs(), roughness_by_diff(angles)[1]


@wrong(check_roughness, "squaring the second differences")
def bends_squared(angles):
    return angles[1:].diff(n=2).square().mean(), roughness_by_diff(angles)[1]


@wrong(check_roughness, "root of the mean square")
def root_of_squares(angles):
    return angles[1:].diff(n=2).square().mean().sqrt(), roughness_by_diff(angles)[1]


@wrong(check_roughness, "adding up instead of averaging")
def bends_added(angles):
    return angles[1:].diff(n=2).abs().sum(), roughness_by_diff(angles)[1]


@wrong(check_roughness, "dividing by L;")
def divided_by_all(angles):
    return angles[1:].diff(n=2).abs().sum() / len(angles), roughness_by_diff(angles)[1]


@wrong(check_roughness, "dividing by L - 1")
def divided_by_steps(angles):
    return angles[1:].diff(n=2).abs().sum() / len(angles[1:]), roughness_by_diff(angles)[1]


@wrong(check_roughness, "pieces between the changes")
def pieces_counted(angles):
    rough, changes = roughness_by_diff(angles)
    return rough, changes + 1


@wrong(check_roughness, "steps that rise")
def rises_counted(angles):
    return roughness_by_diff(angles)[0], (angles[1:].diff() > 0).sum()


@wrong(check_roughness, "steps that fall")
def falls_counted(angles):
    return roughness_by_diff(angles)[0], (angles[1:].diff() < 0).sum()


@wrong(check_roughness, "the slope is another one")
def slopes_counted(angles):
    return roughness_by_diff(angles)[0], (angles[1:].diff(n=2) != 0).sum()


@wrong(check_roughness, "second differences change their sign")
def inflections_counted(angles):
    bend = angles[1:].diff(n=2)
    return bend.abs().mean(), (bend[1:] * bend[:-1] < 0).sum()


@wrong(check_roughness, "tops only")
def tops_counted(angles):
    slope = angles[1:].diff()
    return slope.diff().abs().mean(), ((slope[:-1] > 0) & (slope[1:] < 0)).sum()


@wrong(check_roughness, "bottoms only")
def bottoms_counted(angles):
    slope = angles[1:].diff()
    return slope.diff().abs().mean(), ((slope[:-1] < 0) & (slope[1:] > 0)).sum()


@wrong(check_roughness, "number of places")
def share_of_changes(angles):
    slope = angles[1:].diff()
    return slope.diff().abs().mean(), (slope[1:] * slope[:-1] < 0).double().mean()


@wrong(check_roughness, "rests, and falls on")
def rest_counted(angles):
    return roughness_by_diff(angles)[0], (angles[1:].diff().sign().diff() != 0).sum()


@wrong(check_roughness, "which way up")
def roughness_of_the_height(angles):
    rough, changes = roughness_by_diff(angles)
    return rough / angles.mean(), changes


@wrong(check_roughness, "one slope throughout")
def roughness_about_the_mean(angles):
    return angles[1:].std(), roughness_by_diff(angles)[1]


@wrong(check_roughness, "is the return missing?")
def roughness_not_returned(angles):
    roughness_by_diff(angles)
