"""Where a run cannot begin or go on: no such device, a model too small, NaN and infinity."""

import math

import pytest
import torch

from albert_edu.errors import InputError
from albert_edu.text.prepare import prepare
from albert_edu.training import pretrain as module
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings
from albert_edu.training.step import NonFiniteLoss, forward_backward
from albert_edu.training.workers import Workers, pick_device
from tests.support import tiny, weights
from tests.training.runs import small_stream, trained

stream = pytest.fixture(small_stream)


def test_a_device_is_the_cpu_unless_there_is_a_card_or_one_is_named(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert {str(pick_device(name)) for name in (None, "auto", torch.device("cpu"))} == {"cpu"}
    for name in ("tpu", "meta", "cuda:99", ""):
        with pytest.raises(ValueError, match=f"no device '{name}' on which torch .* Give cpu or"):
            pick_device(name)


def test_each_worker_has_a_card_of_its_own(monkeypatch):
    def zeros(*size, dtype, device):
        if str(device) == "cuda:4":
            raise RuntimeError("invalid device ordinal")
        return torch.ones(*size)

    monkeypatch.setattr(torch, "zeros", zeros)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert {str(pick_device(name)) for name in ("auto", torch.device("cuda"))} == {"cuda:0"}
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert str(pick_device("cuda")) == "cuda:0", "one process is no worker of torchrun"
    for name in ("WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.setenv(name, "5")
    assert [str(pick_device(name)) for name in ("auto", "cuda", "cpu")] == ["cuda:3"] * 2 + ["cpu"]
    monkeypatch.setenv("LOCAL_RANK", "4")
    with pytest.raises(ValueError, match=r"'cuda:4'.* at most as many workers as .* cards"):
        pick_device("auto")


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ({"max_positions": 16}, r"sequence of 32 tokens.*max_positions is 16"),
        ({"vocab_size": 150}, r"the tokenizer has 190 tokens, the model's vocab_size is 150"),
    ],
)
def test_a_model_smaller_than_what_the_stream_holds_is_refused_by_name(stream, size, message):
    with pytest.raises(ValueError, match=message):
        trained(stream, tiny(**size))


def test_held_out_text_of_another_tokenizer_is_refused_and_teaches_the_model_no_tokenizer(stream):
    model = tiny(vocab_size=4000)
    other = small_stream(prepare("sotu"))
    with pytest.raises(InputError, match="held-out text was cut by another tokenizer"):
        trained(stream, model, held_out=other)
    trained(other, model, steps=1)  # it has learnt nothing of the first
    with pytest.raises(InputError, match="this is another tokenizer"):
        trained(stream, model)


def test_a_batch_with_fewer_rows_than_workers_is_refused(stream, monkeypatch):
    for name, value in {
        "WORLD_SIZE": 9,
        "RANK": 0,
        "MASTER_ADDR": "here",
        "MASTER_PORT": 1,
    }.items():
        monkeypatch.setenv(name, str(value))
    with pytest.raises(InputError, match="a batch of 8 rows is too small for 9 workers"):
        trained(stream)


def test_workers_have_rows_in_each_part_however_many_parts_are_asked_for(stream):
    sums = 0
    for rank in range(2):
        settings = TrainSettings(steps=1, accumulate=8)
        sums = sums + forward_backward(tiny(), stream.batch(0), settings, 0, Workers(rank, 2))
    alone = forward_backward(tiny(), stream.batch(0), settings, 0, Workers())
    torch.testing.assert_close(sums, alone)


def test_a_gradient_that_is_not_finite_stops_the_run_before_the_step_and_is_named(stream):
    model, factors = tiny(), iter([1, 1, 1, math.inf])
    model.masked_token_head.dense.bias.register_hook(lambda gradient: gradient * next(factors))
    with pytest.raises(NonFiniteLoss, match=r"step 3\b.*gradient of masked_token_head\.dense\."):
        trained(stream, model, steps=6)
    assert all(w.isfinite().all() for w in weights(model).values())


def test_weights_ruined_by_the_last_step_are_no_result(stream, tmp_path, monkeypatch):
    model, make = tiny(), module.make_optimizer

    def ruinous(model, settings):
        optimizer = make(model, settings)
        optimizer.register_step_post_hook(lambda *_: model.albert.pooler.bias.data.fill_(math.inf))
        return optimizer

    monkeypatch.setattr(module, "make_optimizer", ruinous)
    with pytest.raises(NonFiniteLoss, match=r"albert\.pooler\.bias"):
        pretrain(model, stream, TrainSettings(1), tmp_path, "cpu")
    assert not list(tmp_path.glob("step-*"))  # nor kept as a good checkpoint


def test_no_two_parts_of_a_batch_drop_the_same_units(stream):
    model, seen = tiny(hidden_dropout=0.5), []
    dropout = model.albert.embeddings.dropout
    dropout.register_forward_hook(lambda layer, inputs, output: seen.append(output == 0))
    for rank in range(2):
        forward_backward(model, stream.batch(0), TrainSettings(1), 0, Workers(rank, 2))
    forward_backward(model, stream.batch(0), TrainSettings(1, accumulate=2), 0, Workers())
    assert not torch.equal(*seen[:2]) and not torch.equal(*seen[2:])
