"""The driver of staged training: which batches it reads, what it starts from, how it goes on."""

import pytest
import torch

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingStream
from albert_edu.training import pretrain as loop
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import PretrainSettings
from albert_edu.training.stages import Stage, stack_layers, train_stages
from tests.support import same_bits, timeless

STAGES = (Stage(1, 3, 1e-3, 24), Stage(1, 2, 1e-3), Stage(2, 4, 5e-4))
CONFIG = AlbertConfig.named(
    "albert-tiny",
    vocab_size=200,
    hidden_size=32,
    num_heads=2,
    max_positions=32,
    share="none",
    hidden_dropout=0.1,
)


@pytest.fixture
def train(story_text):
    """Call the driver on stories, with 256 tokens a step."""
    batches = []

    class Watched(PretrainingStream):
        def batch(self, step):
            batches.append(super().batch(step).token_ids)
            return super().batch(step)

    def stream(stage: Stage, skip: int) -> PretrainingStream:
        length = stage.sequence_length or 32
        shape = 8 * 32 // length, length
        return Watched(story_text.train, story_text.tokenizer, "sop", *shape, skip=skip)

    def settings(stage: Stage) -> PretrainSettings:
        often = dict(log_every=2, checkpoint_every=1)
        return PretrainSettings(stage.steps, stage.learning_rate, **often, optimizer="lamb")

    def run(stages=STAGES, config=CONFIG, **more):
        batches.clear()
        return train_stages(config, stages, stream, settings, device="cpu", **more)

    run.batches, run.stream, run.settings = batches, stream, settings
    return run


def test_one_stage_is_plain_pretraining_to_the_last_bit(train, tmp_path):
    stage = STAGES[2]
    torch.manual_seed(0)
    plain = AlbertForPretraining(CONFIG.replace(num_layers=2))
    history = pretrain(plain, train.stream(stage, 0), train.settings(stage), device="cpu")
    model, trained = train([stage], folder=tmp_path)
    assert same_bits(plain, model)
    steps, losses = history.column("masked_token_loss")
    assert trained.column("masked_token_loss") == (steps, losses) == ([2, 4], losses)


def test_step_t_of_the_whole_run_reads_batch_t_whatever_the_depth(train):
    train()
    lengths = [24] * 3 + [32] * 6
    assert [ids.shape for ids in train.batches] == [(256 // length, length) for length in lengths]
    streams = [train.stream(Stage(1, 1, 0.0, length), 0) for length in lengths]
    alone = [stream.batch(step).token_ids for step, stream in enumerate(streams)]
    torch.testing.assert_close(train.batches[:9], alone, rtol=0, atol=0)


def test_a_stage_starts_from_the_one_before_it_stacked_deeper(train):
    shallow, _ = train(STAGES[:2])
    deep, _ = train([Stage(2, 1, 0.0)], warm_start=shallow, skip=5)
    assert same_bits(deep, stack_layers(shallow, 2))  # at a learning rate of 0
    warm, _ = train([STAGES[2]], warm_start=shallow, skip=5)
    whole, history = train()
    assert same_bits(warm, whole) and history.column("masked_token_loss")[0] == [2, 3, 5, 7, 9]


@pytest.mark.parametrize("calls", [1, 4, 7])
def test_a_run_that_was_interrupted_in_any_stage_ends_with_the_same_bits_and_records(
    train, tmp_path, calls, monkeypatch
):
    (whole, history), steps, forward_backward = train(), [], loop.forward_backward

    def interrupted(*arguments):
        steps.append(1)
        if len(steps) > calls:
            raise KeyboardInterrupt
        return forward_backward(*arguments)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(loop, "forward_backward", interrupted)
        train(folder=tmp_path)
    again, resumed = train(folder=tmp_path)
    assert same_bits(whole, again)
    assert timeless(resumed.records) == timeless(history.records)
    assert len(train.batches) == 9 - calls, "finished steps are not repeated"
