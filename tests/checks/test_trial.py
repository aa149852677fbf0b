"""A check survives what an answer does: errors, endless loops, memory, meddling."""

import json

import pytest
import torch

from albert_edu.checks import CheckFailed, check_masked_token_loss
from albert_edu.checks import trial as module
from albert_edu.checks.trial import exercise


@exercise("00.0")
def check_double(answer, trial):
    x = trial.randn(3)
    trial.equal("doubles", trial.call(answer, x), 2 * x, {"squaring": x * x}, weight=3)
    trial.true("has a name", hasattr(answer, "__name__"))


def test_the_report_names_the_mistake_and_gives_partial_credit():
    report = check_double(lambda x: x * x)
    assert report.reasons == ["equal to the value you get when squaring"] and report.score == 0.25
    with pytest.raises(CheckFailed, match="FAIL  doubles"):
        report.raise_if_failed()
    assert json.loads(report.to_json())["properties"][0]["passed"] is False


def test_another_seed_draws_other_inputs_so_that_constants_fail():
    seen = []
    check_double(lambda x: seen.append(x) or 2 * x)
    constant = 2 * seen[0]
    assert check_double(lambda x: constant).passed and not check_double(lambda x: constant, seed=5).passed


def test_an_error_in_the_answer_is_reported_with_the_line_of_the_answer_and_never_ours():
    def broken(x):
        return x.no_such_thing

    (first, *_), score = check_double(broken).properties, check_double(broken).score
    assert first.reason.startswith("in broken, line") and "return x.no_such_thing" in first.reason and score == 0


def test_an_endless_loop_is_stopped_even_if_it_catches_exceptions(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.2)
    monkeypatch.setattr(module.limits.__wrapped__, "__defaults__", (0.2,))

    def endless(x):
        while True:
            try:
                x = x + 1
            except Exception:
                pass

    assert "does not end" in check_double(endless).reasons[0]


def test_an_answer_that_eats_memory_is_stopped():
    assert "larger than it need be" in check_double(lambda x: torch.ones(1 << 33)).reasons[0]


def test_an_answer_that_changes_its_input_does_not_change_the_question():
    def in_place(x):
        return x.mul_(2)

    assert check_double(in_place).passed


def test_a_check_leaves_the_global_generator_as_it_was():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    check_masked_token_loss(lambda logits, labels: torch.rand(1))
    assert torch.equal(torch.rand(1), expected)


def test_a_bare_number_or_nothing_at_all_is_answered_in_words():
    assert "you return NoneType, not a tensor; is the return missing?" in check_double(lambda x: None).reasons
    assert "the shape is (1,), not (3,)" in check_double(lambda x: x[:1]).reasons
