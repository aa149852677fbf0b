"""Training killed with SIGKILL at random moments, again and again, ends with the bits of a run left in peace."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

STEPS, KILLS = 60, 10

# Importing torch takes far longer than this training, so one process imports, and each life of the training is a fork of
# it. A life knows nothing but its folder: it builds its model and its stream anew and is ended by the system's own kill.
NURSERY = f"""
import os, sys, traceback
import torch
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.prepare import prepare
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import PretrainSettings

def live(folder):
    text = prepare("stories")
    stream = PretrainingStream(text.train, text.tokenizer, "sop", batch_size=4, sequence_length=32)
    torch.manual_seed(0)
    config = AlbertConfig.named("albert-tiny", vocab_size=200, embedding_size=16, hidden_size=32, num_heads=2, hidden_dropout=0.1)
    settings = PretrainSettings({STEPS}, 1e-3, warmup_steps=6, optimizer="lamb", checkpoint_every=7, log_every=1)
    pretrain(AlbertForPretraining(config), stream, settings, folder, "cpu", metrics_file=folder + ".jsonl")

torch.optim.SGD([torch.zeros(1)], lr=0.1)  # the first optimizer of a process imports some 800 modules more
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
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process = subprocess.Popen([sys.executable, str(script)], env=environment, **pipes)
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


def result(folder: Path) -> tuple[dict[str, torch.Tensor], list[dict]]:
    """The last checkpoint's weights and optimizer state, and the metrics without their clock."""
    last = folder / f"step-{STEPS:08d}"
    tensors = load_file(last / "model.safetensors") | load_file(last / "optimizer.safetensors")
    records = [json.loads(line) for line in Path(f"{folder}.jsonl").read_text().splitlines()]
    return tensors, [{name: value for name, value in record.items() if name != "tokens_per_second"} for record in records]


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
    while kills < KILLS:  # on a slow moment of the machine a run may come through early: then another one is tormented
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
            moments.append(sorted(path.name for path in folder.glob("*")) if folder.exists() else [])
        after, metrics = result(folder)
        assert after.keys() == tensors.keys()
        assert all(torch.equal(after[name], tensors[name]) for name in tensors), moments
        assert metrics == records
        left = sorted(path.name for path in folder.iterdir() if path.name != ".lock")
        assert left[-2:] == ["step-00000056", "step-00000060"]
        assert not left[0].startswith(".writing")  # though a kill just after the last rename may leave an older checkpoint
    assert any(moments)  # not all of them before the first checkpoint
