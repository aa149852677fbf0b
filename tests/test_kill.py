"""The one call of notebook 07: what was killed goes on from its last checkpoint, with the same bits."""

import copy

import pytest

from albert_course.kill import train_and_kill
from albert_edu.errors import InputError, RunError
from albert_edu.text.batches import PretrainingStream
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings
from tests.support import same_bits, tiny

SETTINGS = TrainSettings(12, 1e-3, optimizer="lamb", checkpoint_every=4)


@pytest.mark.slow
def test_a_killed_run_goes_on_from_other_weights_to_the_same_bits(story_text, tmp_path):
    stream = PretrainingStream(story_text.train, story_text.tokenizer, "sop", 4, 32)
    model = tiny(hidden_size=32, hidden_dropout=0.1)
    before = copy.deepcopy(model.state_dict())
    assert train_and_kill(model, stream, SETTINGS, tmp_path, step=10) == "step-00000008"
    assert same_bits(model.state_dict(), before), "what the process learnt died with it"

    resumed = tiny(hidden_size=32, hidden_dropout=0.1)
    for weight in resumed.parameters():
        weight.data.zero_()  # so that all comes from the checkpoint
    pretrain(resumed, stream, SETTINGS, tmp_path, describe=None)
    pretrain(model, stream, SETTINGS, describe=None)
    assert same_bits(resumed.state_dict(), model.state_dict())

    with pytest.raises(RunError, match="nothing was killed"):  # the run is at its end
        train_and_kill(model, stream, SETTINGS, tmp_path, step=10)


def test_a_step_that_the_run_does_not_have_is_refused(story_text, tmp_path):
    stream = PretrainingStream(story_text.train, story_text.tokenizer, "sop", 4, 32)
    for step in (0, 13):
        with pytest.raises(InputError, match="step"):
            train_and_kill(tiny(), stream, SETTINGS, tmp_path, step)
    (tmp_path / "step-00000006").mkdir()
    with pytest.raises(InputError, match="is at step 6 already"):
        train_and_kill(tiny(), stream, SETTINGS, tmp_path, 5)
