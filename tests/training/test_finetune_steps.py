"""Each step of fine-tuning has its own dropout, its own rate and its own gradient."""

import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import Albert
from albert_edu.model.task_heads import AlbertForClassification
from albert_edu.text.tasks import Example, encode_pairs
from albert_edu.training.finetune import finetune
from albert_edu.training.settings import TrainSettings, learning_rate


@pytest.fixture
def few(story_text):
    rows = [Example(f"{name} opened the box.", None, 0) for name in ("kate", "ben", "leo", "ida")]
    return encode_pairs(rows, story_text.tokenizer, 32)


@pytest.fixture
def model():
    return AlbertForClassification(Albert(AlbertConfig.named("albert-tiny", vocab_size=200)), 2)


def test_dropout_is_on_in_fine_tuning_and_differs_from_step_to_step(model, few):
    seen = []
    model.dropout.register_forward_hook(lambda layer, inputs, output: seen.append(output == 0))
    finetune(model, few, TrainSettings(2, 0.0), batch_size=4)
    assert seen[0].any() and not torch.equal(*seen)


def test_a_step_of_fine_tuning_has_the_rate_of_its_number_and_the_gradient_of_its_own_rows(
    model, few
):
    rates, norms = [], []
    model.dropout.p = 0.0
    settings = TrainSettings(4, 1e-9, warmup_steps=2, clip_norm=0.0)

    def look(optimizer, *_):
        rates.append(optimizer.param_groups[0]["lr"])
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"]]
        norms.append(torch.nn.utils.get_total_norm(gradients).item())

    handle = register_optimizer_step_pre_hook(look)
    finetune(model, few.rows([0]), settings, batch_size=1)
    handle.remove()
    assert rates == [learning_rate(step, settings) for step in range(4)]
    assert norms == pytest.approx([norms[0]] * 4, rel=1e-3)
