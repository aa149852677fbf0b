"""The settings of a run: its learning rate at each step, its optimizer, and what is refused."""


import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.training.lamb import Lamb
from albert_edu.training.settings import PretrainSettings, compile_blocks, learning_rate, make_optimizer, suited_to

quick = settings(max_examples=25, deadline=None, derandomize=True)


@st.composite
def runs(draw) -> PretrainSettings:
    steps = draw(st.integers(1, 60))
    return PretrainSettings(steps, draw(st.floats(1e-5, 1.0)), warmup_steps=draw(st.integers(0, steps)))


def rates(run: PretrainSettings) -> list[float]:
    return [learning_rate(step, run) for step in range(run.steps)]


def test_a_run_of_ten_steps_by_hand():
    # 2 steps up (a half each), then 8 equal steps down from 1 towards 0.
    expected = [1 / 2, 1, 1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8]
    assert rates(PretrainSettings(10, 1.0, warmup_steps=2)) == pytest.approx(expected)
    assert rates(PretrainSettings(4, 1.0)) == pytest.approx([1, 3 / 4, 2 / 4, 1 / 4])
    assert rates(PretrainSettings(4, 1.0, warmup_steps=4)) == pytest.approx([1 / 4, 2 / 4, 3 / 4, 1])


@quick
@given(runs())
def test_it_rises_in_equal_steps_reaches_its_peak_and_falls_in_equal_steps(run):
    measured, warm = rates(run), run.warmup_steps
    assert max(measured) == pytest.approx(run.learning_rate)
    assert measured[max(warm - 1, 0)] == max(measured)  # the peak ends the warm-up
    assert min(measured) > 0  # no step is wasted
    rises = [b - a for a, b in zip([0.0, *measured[:warm]], measured[:warm], strict=False)]
    assert rises == pytest.approx([run.learning_rate / max(warm, 1)] * warm)
    falls = [a - b for a, b in zip(measured[warm:], [*measured[warm + 1 :], 0.0], strict=False)]
    assert falls == pytest.approx([run.learning_rate / max(run.steps - warm, 1)] * (run.steps - warm))


def test_a_run_may_go_on_with_another_watch_and_on_a_machine_that_compiles_and_with_nothing_else_changed():
    run = PretrainSettings(10)
    watching = {"checkpoint_every", "log_every", "evaluate_every", "evaluate_batches"}
    assert set(vars(run)) - set(run.trajectory()) == watching | {"compile"}


def test_a_card_is_given_what_it_can_compute_in(monkeypatch):
    assert suited_to(torch.device("cpu")) == suited_to(torch.device("mps")) == {"precision": "float32", "compile": False}
    for supported, precision in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation, s=supported: s and not including_emulation)
        assert suited_to(torch.device("cuda")) == {"precision": precision, "compile": True}


@pytest.mark.parametrize(("share", "blocks"), [("all", 2), ("none", 4), ("attention", 3)])
def test_each_block_is_compiled_once_however_often_it_is_applied(monkeypatch, share, blocks):
    compiled = []
    monkeypatch.setattr(torch.nn.Module, "compile", lambda block: compiled.append(block))
    compile_blocks(AlbertForPretraining(AlbertConfig.named("albert-tiny", vocab_size=50, share=share)))
    assert len(compiled) == len(set(map(id, compiled))) == blocks
    import torch._dynamo.config as dynamo

    assert dynamo.suppress_errors and dynamo.recompile_limit >= 64


def test_both_optimizers_decay_matrices_and_neither_decays_biases_and_norms():
    model = AlbertForPretraining(AlbertConfig.named("albert-tiny", vocab_size=50))
    for name in ("lamb", "adamw"):
        optimizer = make_optimizer(model, PretrainSettings(10, 0.3, optimizer=name, weight_decay=0.07))
        assert isinstance(optimizer, Lamb) == (name == "lamb")
        matrices, plain = optimizer.param_groups
        assert (matrices["weight_decay"], plain["weight_decay"]) == (0.07, 0.0)
        assert matrices["lr"] == plain["lr"] == 0.3 and matrices["eps"] == plain["eps"] == 1e-6
        assert matrices["betas"] == (0.9, 0.999)
        assert {p.ndim for p in plain["params"]} == {1}
