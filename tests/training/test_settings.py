"""The settings of a run: its learning rate at each step, its optimizer, and what is refused."""

import pytest
import torch

from albert_edu.training.lamb import Lamb
from albert_edu.training.settings import (
    TrainSettings,
    device_settings,
    learning_rate,
    make_optimizer,
)
from tests.support import tiny


@pytest.mark.parametrize(
    ("warmup", "rates"),
    [
        (2, [1 / 2, 1, 1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8]),  # 2 halves up, 8 down
        (0, [1, 3 / 4, 2 / 4, 1 / 4]),
        (4, [1 / 4, 2 / 4, 3 / 4, 1]),
    ],
)
def test_the_rate_rises_in_equal_steps_and_falls_in_equal_steps(warmup, rates):
    run = TrainSettings(len(rates), 3.0, warmup_steps=warmup)
    measured = [learning_rate(step, run) / 3 for step in range(run.steps)]
    assert measured == pytest.approx(rates)


def test_a_run_may_go_on_with_another_watch_or_compiled_and_with_nothing_else_changed():
    run = TrainSettings(10)
    free = "compile gradient_checkpointing checkpoint_every log_every evaluate_every"
    assert set(vars(run)) - set(run.trajectory()) == set(free.split())


def test_a_card_is_given_what_it_can_compute_in(monkeypatch):
    plain = {"precision": "float32", "compile": False}
    assert device_settings(torch.device("cpu")) == plain
    for yes, precision in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(
            torch.cuda,
            "is_bf16_supported",
            lambda including_emulation, yes=yes: yes and not including_emulation,
        )
        assert device_settings(torch.device("cuda")) == {"precision": precision, "compile": True}


def test_both_optimizers_decay_matrices_and_neither_decays_biases_and_norms():
    model = tiny()
    for name in ("lamb", "adamw"):
        run = TrainSettings(10, 0.3, optimizer=name, weight_decay=0.07)
        optimizer = make_optimizer(model, run)
        assert isinstance(optimizer, Lamb) == (name == "lamb")
        matrices, plain = optimizer.param_groups
        assert (matrices["weight_decay"], plain["weight_decay"]) == (0.07, 0.0)
        assert matrices["lr"] == plain["lr"] == 0.3 and matrices["eps"] == plain["eps"] == 1e-6
        assert matrices["betas"] == (0.9, 0.999)
        assert {p.ndim for p in plain["params"]} == {1}
