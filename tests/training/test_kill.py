"""Training killed with SIGKILL at random moments ends with the bits of a run left in peace."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors.torch import load_file

from tests.support import metrics, same_bits

STEPS, KILLS = 60, 10

# Importing torch takes far longer than this training, so one process imports, and each life of the
# training is a fork of it. A life knows nothing but its folder: it builds its model and its stream
# anew and is ended by the system's own kill.
NURSERY = f"""
import os, sys, traceback
import torch
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.prepare import prepare
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import PretrainSettings
from tests.support import tiny

def live(folder):
    text = prepare("stories")
    stream = PretrainingStream(text.train, text.tokenizer, "sop", batch_size=4, sequence_length=32)
    often = dict(checkpoint_every=7, log_every=1)
    settings = PretrainSettings({STEPS}, 1e-3, warmup_steps=6, optimizer="lamb", **often)
    model = tiny(hidden_size=32, hidden_dropout=0.1)
    pretrain(model, stream, settings, folder, "cpu")

torch.optim.SGD([torch.zeros(1)], lr=0.1)  # the first optimizer imports some 800 modules more
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            live(line.strip())
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Nursery:
    """Starts lives of one training run, each in a process of its own."""

    def __init__(self, script: Path):
        script.write_text(NURSERY)
        path = {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        command = [sys.executable, str(script)]
        self.process = subprocess.Popen(command, env={**os.environ, **path}, **pipes)
        assert self.process.stdout.readline() == "ready\n"

    def start(self, folder: Path) -> int:
        """The process number of a new life."""
        self.process.stdin.write(f"{folder}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def wait(self) -> int:
        """How the life ended: 0 by itself, -9 killed, 1 by an error."""
        return int(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def nursery(story_text, tmp_path):  # story_text: so that the prepared text is on the disk
    nursery = Nursery(tmp_path / "nursery.py")
    yield nursery
    nursery.close()


def result(folder: Path) -> tuple[dict, list[dict]]:
    """The last checkpoint's weights and optimizer state, and the metrics without their clock."""
    last = folder / f"step-{STEPS:08d}"
    tensors = load_file(last / "model.safetensors") | load_file(last / "optimizer.safetensors")
    return tensors, metrics(last)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_random_moments_and_started_again_it_ends_with_the_same_bits(nursery, tmp_path):
    begun = time.perf_counter()
    nursery.start(tmp_path / "peace")
    assert nursery.wait() == 0
    whole_life = time.perf_counter() - begun
    tensors, records = result(tmp_path / "peace")
    assert len(records) == STEPS

    rng, kills, runs, moments = random.Random(0), 0, 0, []
    while kills < KILLS:  # a run may come through early: then another one is tormented
        folder = tmp_path / f"run-{runs}"
        runs += 1
        while True:
            life = nursery.start(folder)
            if kills < KILLS:
                time.sleep(rng.uniform(0.05, 0.5) * whole_life)
                try:
                    os.kill(life, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            ended = nursery.wait()
            assert ended in (0, -signal.SIGKILL)
            if ended == 0:
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
