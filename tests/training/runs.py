"""What tests of the training loop share: a stream of small batches, a run of a few steps."""

from albert_edu.batch import IGNORE
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.prepare import PreparedText
from albert_edu.training.history import History
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings
from tests.support import tiny, weights

DROPOUT = {"hidden_dropout": 0.1, "attention_dropout": 0.1}


def small_stream(story_text: PreparedText) -> PretrainingStream:
    return PretrainingStream(story_text.train, story_text.tokenizer, "sop", 8, 32)


def lopsided_stream(stream: PretrainingStream) -> PretrainingStream:
    """Every other sequence has one masked token left, so the parts of a batch differ in that."""
    whole = stream.batch

    def batch(step: int):
        made = whole(step)
        made.masked_labels[1::2, 1:] = IGNORE
        return made

    stream.batch = batch
    return stream


def trained(stream, model=None, held_out=None, **settings) -> tuple[dict, History]:
    """Train for a few steps; return the weights and the history."""
    model = model or tiny()
    run = TrainSettings(**{"steps": 4, "learning_rate": 1e-3, "log_every": 2, **settings})
    history = pretrain(model, stream, run, None, "cpu", held_out)
    return weights(model), history
