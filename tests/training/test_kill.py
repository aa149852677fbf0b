"""Training killed with SIGKILL at random moments ends with the bits of a run left in peace."""

import multiprocessing
import os
import random
import signal
import threading
from pathlib import Path

import pytest
from safetensors.torch import load_file
from tqdm import tqdm

from albert_edu.text.batches import PretrainingStream
from albert_edu.text.prepare import prepare
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings
from tests.support import metrics, same_bits, tiny

STEPS, OFTEN, KILLS = 60, 7, 5


def live(folder: Path) -> None:
    """A life of the training: it knows nothing but its folder, and builds everything anew."""
    tqdm.set_lock(threading.RLock())  # its own is the system's, which a kill would leave behind
    text = prepare("stories")
    stream = PretrainingStream(text.train, text.tokenizer, "sop", batch_size=4, sequence_length=32)
    often = dict(checkpoint_every=OFTEN, log_every=1)
    settings = TrainSettings(STEPS, 1e-3, warmup_steps=6, optimizer="lamb", **often)
    model = tiny(hidden_size=32, hidden_dropout=0.1)
    pretrain(model, stream, settings, folder, "cpu", describe=None)


def start(folder: Path) -> multiprocessing.Process:
    """A new life, in a process of its own.

    Importing torch takes far longer than this training, so one process imports, and each life is a
    fork of it, which the system's own kill can end.
    """
    nursery = multiprocessing.get_context("forkserver")
    nursery.set_forkserver_preload([__name__, "torch._dynamo"])  # the first optimizer imports that
    life = nursery.Process(target=live, args=(folder,))
    life.start()
    return life


def await_step(life: multiprocessing.Process, folder: Path, step: int) -> None:
    """Wait for the last checkpoint before `step`, or for the end of the life.

    A moment in steps is the same on a machine that others slow down, a moment in seconds is not.
    """
    awaited = f"step-{step - step % OFTEN:08d}"  # the names sort by number
    while step >= OFTEN and life.is_alive():
        if max((path.name for path in folder.glob("step-*")), default="") >= awaited:
            return
        life.join(0.002)


def result(folder: Path) -> tuple[dict, list[dict]]:
    """The last checkpoint's weights and optimizer state, and the metrics without their clock."""
    last = folder / f"step-{STEPS:08d}"
    tensors = load_file(last / "model.safetensors") | load_file(last / "optimizer.safetensors")
    return tensors, metrics(last)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_random_moments_and_started_again_it_ends_with_the_same_bits(
    story_text, tmp_path
):
    start(tmp_path / "peace").join()
    tensors, records = result(tmp_path / "peace")
    assert len(records) == STEPS

    rng, kills, runs, moments = random.Random(0), 0, 0, []
    while kills < KILLS:  # a run may come through early: then another one is tormented
        folder = tmp_path / f"run-{runs}"
        runs += 1
        while True:
            life = start(folder)
            if kills < KILLS:
                await_step(life, folder, rng.randrange(STEPS))
                life.join(rng.uniform(0, 0.1))  # seconds, in which it goes on by a few steps
                life.kill()
            life.join()
            assert life.exitcode in (0, -signal.SIGKILL)
            if life.exitcode == 0:
                break
            kills += 1
            moments.append(sorted(path.name for path in folder.glob("*")))
        after, written = result(folder)
        assert same_bits(after, tensors) and written == records, moments
        left = sorted(path.name for path in folder.iterdir() if path.name != ".lock")
        assert left[-2:] == ["step-00000056", "step-00000060"]
        # A kill just after the last rename may leave an older checkpoint, but nothing half written.
        assert not left[0].startswith(".writing")
    assert any(moments)  # not all of them before the first checkpoint
