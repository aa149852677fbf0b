"""Each variant of LAMB changes one thing."""

import pytest
import torch
from torch import nn

from albert_edu.errors import InputError
from albert_edu.training.lamb import Lamb, parameter_groups
from albert_edu.training.settings import TrainSettings
from albert_paper.lamb_variants import CorrectedLamb, SlowVectorsLamb, build_optimizer

SETTINGS = TrainSettings(steps=3, learning_rate=0.01, optimizer="lamb")


def moved(name: str, steps: int = 1) -> dict[str, torch.Tensor]:
    """How far a layer's matrix and bias move in some steps with one constant gradient."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 4)
    before = {key: value.detach().clone() for key, value in layer.named_parameters()}
    optimizer = build_optimizer(name, layer, SETTINGS)
    for _ in range(steps):
        for parameter in layer.parameters():
            parameter.grad = torch.ones_like(parameter)
        optimizer.step()
    return {key: value.detach() - before[key] for key, value in layer.named_parameters()}


def test_slow_vectors_move_a_tenth_as_far_and_matrices_as_far_as_ever():
    plain = moved("lamb")
    slow = moved("lamb, slow vectors")
    assert torch.equal(plain["weight"], slow["weight"])
    assert torch.allclose(slow["bias"], 0.1 * plain["bias"])


def test_the_bias_correction_makes_a_vector_s_first_step_as_long_as_the_rate():
    assert moved("lamb, bias correction")["bias"] == pytest.approx(-0.01, rel=1e-4)
    assert moved("lamb")["bias"] == pytest.approx(-0.01 * 0.1 / 0.001**0.5, rel=1e-3)


def test_with_a_constant_gradient_the_corrected_step_stays_the_same():
    once = moved("lamb, bias correction")
    thrice = moved("lamb, bias correction", steps=3)
    assert torch.allclose(thrice["bias"], 3 * once["bias"], rtol=1e-4)


def test_the_corrected_count_of_steps_is_saved_with_the_optimizer():
    layer = nn.Linear(2, 2)
    optimizer = CorrectedLamb(parameter_groups(layer, 0.01), lr=0.01)
    layer(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    for entry in optimizer.state_dict()["state"].values():
        assert all(torch.is_tensor(value) for value in entry.values())
        assert entry["step"].item() == 1.0


@pytest.mark.parametrize(
    ("name", "kind"),
    [("lamb", Lamb), ("lamb, slow vectors", SlowVectorsLamb), ("adamw", torch.optim.AdamW)],
)
def test_a_name_gives_its_optimizer(name, kind):
    settings = TrainSettings(steps=1, optimizer="adamw" if name == "adamw" else "lamb")
    assert type(build_optimizer(name, nn.Linear(2, 2), settings)) is kind


def test_a_name_that_is_none_is_told():
    with pytest.raises(InputError, match="no optimizer 'lamb, slow'; there are lamb, slow vectors"):
        build_optimizer("lamb, slow", nn.Linear(2, 2), SETTINGS)


def test_the_bias_correction_leaves_the_ratio_and_the_decay_of_a_matrix():
    torch.manual_seed(0)
    w = nn.Linear(3, 4).weight.detach()
    adam = 1 / (1 + 1e-6) + 0.01 * w  # of a gradient of ones
    expected = -0.01 * w.norm() / adam.norm() * adam
    torch.testing.assert_close(moved("lamb, bias correction")["weight"], expected)
