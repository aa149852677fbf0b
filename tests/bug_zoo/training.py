"""Answers to the exercises of notebook 07 on the learning rate at each step, right and wrong."""


import numpy as np
import torch

from albert_edu.checks import check_schedule
from albert_edu.training.settings import learning_rate
from tests.bug_zoo.zoo import right


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
