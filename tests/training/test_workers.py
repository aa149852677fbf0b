"""Two processes under torchrun follow the path of one: the same batch and mean, one writer."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from albert_edu.command_line import explain
from tests.support import HOUR, metrics, same_bits

# Run by both workers under torchrun, and by the process of this test alone. In the first attempt
# worker 1 is killed in step 5 of the first run; torchrun starts both again.
SCRIPT = """
import atexit, os, signal, sys
from pathlib import Path
import torch
from safetensors.torch import save_file
from albert_edu.text.batches import PretrainingStream
from albert_edu.batch import IGNORE
from albert_edu.text.prepare import prepare
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings
from tests.support import tiny, weights

OUT, RANK = Path(sys.argv[1]), os.environ.get("RANK", "0")
ATTEMPT, TEXT = os.environ.get("TORCHELASTIC_RESTART_COUNT"), prepare("stories")
OFTEN = {"checkpoint_every": 2, "log_every": 3, "dropout": 0.1}
RUNS = {
    "killed": OFTEN,
    "peace": OFTEN,
    "adamw": {},
    "lamb in two parts": {"optimizer": "lamb", "accumulate": 2},
    "without order": {"objective": "none", "optimizer": "lamb"},
}

def train(name, objective="sop", dropout=0.0, log_every=4, **options):
    stream = PretrainingStream(TEXT.train, TEXT.tokenizer, objective, 8, 32)
    held_out = PretrainingStream(TEXT.held_out, TEXT.tokenizer, objective, 4, 32)
    whole = stream.batch

    def batch(step):
        if (name, step, RANK, ATTEMPT) == ("killed", 5, "1", "0"):
            os.kill(os.getpid(), signal.SIGKILL)
        made = whole(step)
        made.masked_labels[::2, 1:] = IGNORE  # worker 0 has far fewer: means of means differ
        return made

    stream.batch, model = batch, tiny(hidden_dropout=dropout)
    settings = TrainSettings(steps=8, learning_rate=1e-3, log_every=log_every, **options)
    folder = "run" if RANK == "0" or name == "killed" else "nobody writes here"
    pretrain(model, stream, settings, OUT / name / folder, "cpu", held_out)
    save_file(weights(model), OUT / name / f"weights-{RANK}.safetensors")

def note_that_the_group_was_left():
    if not torch.distributed.is_initialized():
        (OUT / f"left-{RANK}-{ATTEMPT}").touch()

if ATTEMPT:
    atexit.register(note_that_the_group_was_left)  # runs last, because it is registered first
for name, options in RUNS.items():
    (OUT / name).mkdir(parents=True, exist_ok=True)
    train(name, **options)
"""
COMMAND = "-m torch.distributed.run --nnodes=1 --nproc-per-node=2 --max-restarts=1"
COMMAND += " --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:0 --local-addr=127.0.0.1"
COMMAND += f" --rdzv-conf=join_timeout={HOUR},read_timeout={HOUR}"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def outcomes(story_text, tmp_path_factory) -> tuple[Path, Path]:
    """The folders of one worker and of two."""
    folder = tmp_path_factory.mktemp("workers")
    (folder / "script.py").write_text(SCRIPT)
    words = [sys.executable, *COMMAND.split(), str(folder / "script.py"), str(folder / "two")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(words, capture_output=True, text=True, timeout=HOUR, env=environment)
    assert ended.returncode == 0, ended.stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["script.py", str(folder / "one")])
        runpy.run_path(str(folder / "script.py"))
    return folder / "one", folder / "two"


def test_every_worker_leaves_the_process_group_when_it_ends(outcomes):
    assert sorted(path.name for path in outcomes[1].glob("left-*-1")) == ["left-0-1", "left-1-1"]


@pytest.mark.parametrize("run", ["adamw", "lamb in two parts", "without order"])
def test_two_workers_end_with_the_weights_and_metrics_of_one_and_only_the_first_writes(
    outcomes, run
):
    one, two = (outcome / run for outcome in outcomes)
    alone = load_file(one / "weights-0.safetensors")
    first, second = (load_file(two / f"weights-{rank}.safetensors") for rank in (0, 1))
    assert same_bits(first, second)
    for name in alone:
        torch.testing.assert_close(first[name], alone[name], rtol=0, atol=1e-5)
    assert [path.name for path in two.glob("*/step-*")] == ["step-00000008"]
    ours, theirs = (metrics(folder / "run" / "step-00000008") for folder in (one, two))
    for alone, together in zip(ours, theirs, strict=True):
        assert together == pytest.approx(alone, rel=1e-4)


def test_a_killed_worker_is_started_again_and_the_run_ends_with_the_bits_of_one_left_in_peace(
    outcomes,
):
    """The kill lies between two records, so that what was added up since the first counts, too."""
    killed, peace = (outcomes[1] / run for run in ("killed", "peace"))
    expected = load_file(peace / "weights-0.safetensors")
    assert all(same_bits(load_file(file), expected) for file in killed.glob("*.safetensors"))
    assert (killed / "weights-1.safetensors").exists()
    ours, theirs = (metrics(folder / "run" / "step-00000008") for folder in (killed, peace))
    assert ours == theirs


@pytest.mark.parametrize(
    ("workers", "text", "said"),
    [
        ("2", "[gloo/transport/tcp/pair.cc:534] Connection closed by peer", "Another worker has"),
        ("2", "NCCL error", "Another worker has ended. The same command goes on"),
        ("2", "another fault", "This is a bug"),
        ("1", "NCCL error", "This is a bug"),
    ],
)
def test_the_worker_that_is_left_says_what_happened(workers, text, said, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", workers)
    with pytest.raises(RuntimeError) as caught:
        raise RuntimeError(text)
    assert explain(caught.value).startswith(said)
