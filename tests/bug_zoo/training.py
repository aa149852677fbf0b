"""Answers to the exercises of notebook 07 on the learning rate at each step, right and wrong."""

import math

import numpy as np
import torch

from albert_edu.checks import check_schedule
from albert_edu.training.settings import learning_rate
from tests.bug_zoo.zoo import right, wrong


@right(check_schedule)
def rate_of_the_library(step, settings):
    return learning_rate(step, settings)


@right(check_schedule)
def rate_by_cases(step, settings):
    if step < settings.warmup_steps:
        return settings.learning_rate * (step + 1) / settings.warmup_steps
    return settings.learning_rate * (settings.steps - step) / (settings.steps - settings.warmup_steps)


@right(check_schedule)
def rate_from_a_table(step, settings):
    up = np.linspace(0, settings.learning_rate, settings.warmup_steps + 1)[1:]
    down = np.linspace(settings.learning_rate, 0, settings.steps - settings.warmup_steps + 1)[:-1]
    return torch.tensor(np.concatenate([up, down])[step])


def two_lines(step, settings, up, down):
    """What most wrong answers below have in common: up in the warm-up, down behind it."""
    return settings.learning_rate * (up if step < settings.warmup_steps else down)


@wrong(check_schedule, "as transformers does")
def rate_from_zero(step, settings):
    N, W = settings.steps, settings.warmup_steps
    return two_lines(step, settings, step / max(W, 1), (N - step) / max(N - W, 1))


@wrong(check_schedule, "0 at the last step already")
def rate_to_zero(step, settings):
    N, W = settings.steps, settings.warmup_steps
    return two_lines(step, settings, (step + 1) / max(W, 1), (N - 1 - step) / max(N - 1 - W, 1))


@wrong(check_schedule, "one step early")
def rate_down_early(step, settings):
    N, W = settings.steps, settings.warmup_steps
    return settings.learning_rate * min((step + 1) / max(W, 1), (N - 1 - step) / max(N - W, 1))


@wrong(check_schedule, "past the peak")
def rate_up_for_too_long(step, settings):
    N, W = settings.steps, settings.warmup_steps
    return settings.learning_rate * ((step + 1) / max(W, 1) if step <= W else (N - step) / (N - W))


@wrong(check_schedule, "the rate of the next step")
def rate_of_the_next_step(step, settings):
    return learning_rate(step + 1, settings)


@wrong(check_schedule, "whichever step is asked")
def rates_from_the_start(step, settings):
    return torch.tensor([learning_rate(t, settings) for t in range(settings.steps - step)])[0]


@wrong(check_schedule, "counting steps from 1")
def rate_counted_from_one(step, settings):
    return learning_rate(step - 1, settings)


@wrong(check_schedule, "starting at 0 and reaching 0")
def rate_by_linspace(step, settings):
    up = np.linspace(0, 1, settings.warmup_steps, endpoint=False)
    return settings.learning_rate * np.concatenate([up, np.linspace(1, 0, settings.steps - settings.warmup_steps)])[step]


@wrong(check_schedule, "jumps down behind the warm-up")
def rate_that_jumps(step, settings):
    return two_lines(step, settings, (step + 1) / max(settings.warmup_steps, 1), 1 - step / settings.steps)


@wrong(check_schedule, "as BERT's code does")
def rate_of_bert(step, settings):
    return two_lines(step, settings, step / max(settings.warmup_steps, 1), 1 - step / settings.steps)


@wrong(check_schedule, "multiplying the warm-up with a fall")
def rate_multiplied(step, settings):
    return settings.learning_rate * min(1, (step + 1) / max(settings.warmup_steps, 1)) * (1 - step / settings.steps)


@wrong(check_schedule, "staying at the peak")
def rate_constant(step, settings):
    return settings.learning_rate * min(1, (step + 1) / max(settings.warmup_steps, 1))


@wrong(check_schedule, "leaving the warm-up out")
def rate_without_warmup(step, settings):
    return settings.learning_rate * (1 - step / settings.steps)


@wrong(check_schedule, "along a cosine")
def rate_cosine(step, settings):
    N, W = settings.steps, settings.warmup_steps
    return two_lines(step, settings, (step + 1) / max(W, 1), (1 + math.cos(math.pi * (step - W) / max(N - W, 1))) / 2)


@wrong(check_schedule, "the first Transformer")
def rate_root(step, settings):
    W = max(settings.warmup_steps, 1)
    return settings.learning_rate * min((step + 1) / W, math.sqrt(W / (step + 1)))


@wrong(check_schedule, "share of the peak")
def rate_factor(step, settings):
    return learning_rate(step, settings) / settings.learning_rate


@wrong(check_schedule, "with //")
def rate_whole(step, settings):
    N, W = settings.steps, settings.warmup_steps
    return two_lines(step, settings, (step + 1) // max(W, 1), (N - step) // max(N - W, 1))


@wrong(check_schedule, "in rate_divided_by_no_warmup, line")
def rate_divided_by_no_warmup(step, settings):
    rise, fall = (step + 1) / settings.warmup_steps, (settings.steps - step) / (settings.steps - settings.warmup_steps)
    return settings.learning_rate * min(rise, fall, 1)


@wrong(check_schedule, "there is no other")
def rate_that_never_only_rises(step, settings):
    if settings.warmup_steps == settings.steps:  # to get rid of the division by 0
        return settings.learning_rate
    return learning_rate(step, settings)


@wrong(check_schedule, "a step all the same")
def rate_with_one_step_of_warmup(step, settings):
    N, W = settings.steps, max(settings.warmup_steps, 1)
    return settings.learning_rate * ((step + 1) / W if step < W else (N - step) / (N - W))


@wrong(check_schedule, "starts in the middle")
def rate_by_counting_calls(step, settings):
    own = rate_by_counting_calls.__dict__  # what a scheduler object would keep
    own["calls"] = own["calls"] + 1 if own.get("settings") is settings else 0
    own["settings"] = settings
    return learning_rate(own["calls"], settings)


@wrong(check_schedule, "is the return missing?")
def rate_not_returned(step, settings):
    learning_rate(step, settings)


@wrong(check_schedule, "still to do")
def not_begun(step, settings):
    raise NotImplementedError("Exercise 07.4")
