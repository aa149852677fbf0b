"""Two processes under torchrun follow the path of one: the same batch and mean, one writer."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from albert_edu.errors import explain
from albert_edu.training.workers import WorkerLost, Workers
from tests.support import metrics, same_bits

# Run by both workers under torchrun, and by the process of this test alone. In "stopped" every
# worker dies in step 5 and the same command is given again.
SCRIPT = """
import atexit, os, sys
from pathlib import Path
import torch
from safetensors.torch import save_file
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.masking import IGNORE
from albert_edu.text.prepare import prepare
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import PretrainSettings
from tests.support import tiny, weights

RUNS = {
    "adamw": {},
    "lamb in two parts": {"optimizer": "lamb", "accumulate": 2},
    "without order": {"objective": "none", "optimizer": "lamb"},
    "stopped": {"checkpoint_every": 2, "log_every": 3},
}

class Stop(Exception):
    pass

def run_all(out, rank):
    text = prepare("stories")
    for name, options in RUNS.items():
        options = dict(options)
        objective = options.pop("objective", "sop")
        stream = PretrainingStream(text.train, text.tokenizer, objective, 8, 32)
        held_out = PretrainingStream(text.held_out, text.tokenizer, objective, 4, 32)
        whole, stops = stream.batch, [5] if name == "stopped" else []

        def batch(step):
            made = whole(step)
            made.masked_labels[::2, 1:] = IGNORE  # worker 0 has far fewer: means of means differ
            if stops and step == stops[0]:
                raise Stop(stops.pop())
            return made

        stream.batch = batch
        folder = out / name / ("shared" if name == "stopped" else f"of-worker-{rank}")
        options = {"log_every": 4, "evaluate_batches": 2, **options}
        settings = PretrainSettings(steps=8, learning_rate=1e-3, **options)
        done = False
        while not done:
            model = tiny()
            try:
                pretrain(model, stream, settings, folder, "cpu", held_out)
                done = True
            except Stop:
                pass
        (out / name).mkdir(parents=True, exist_ok=True)
        save_file(weights(model), out / name / f"weights-{rank}.safetensors")

def note_that_the_group_was_left():
    if not torch.distributed.is_initialized():
        (Path(sys.argv[1]) / f"left-{os.environ['RANK']}").touch()

if "RANK" in os.environ:
    atexit.register(note_that_the_group_was_left)  # runs last, because it is registered first
run_all(Path(sys.argv[1]), int(os.environ.get("RANK", 0)))
"""


def torchrun(script: Path, folder: Path, *options: str):
    """Run a script in two workers on this machine."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nnodes=1", "--nproc-per-node=2"]
    command += ["--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1"]
    command += [*options, str(script), str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert ended.returncode == 0, ended.stderr


slow = pytest.mark.slow


@pytest.fixture(scope="module")
def outcomes(story_text, tmp_path_factory) -> tuple[Path, Path]:
    """The folders of one worker and of two."""
    folder = tmp_path_factory.mktemp("workers")
    (folder / "script.py").write_text(SCRIPT)
    torchrun(folder / "script.py", folder / "two")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["script.py", str(folder / "one")])
        runpy.run_path(str(folder / "script.py"))
    return folder / "one", folder / "two"


@slow
def test_every_worker_leaves_the_process_group_when_it_ends(outcomes):
    assert sorted(path.name for path in outcomes[1].glob("left-*")) == ["left-0", "left-1"]


@slow
@pytest.mark.parametrize("run", ["adamw", "lamb in two parts", "without order", "stopped"])
def test_two_workers_end_with_the_weights_of_one(outcomes, run):
    one, two = outcomes
    alone = load_file(one / run / "weights-0.safetensors")
    first, second = (load_file(two / run / f"weights-{rank}.safetensors") for rank in (0, 1))
    for name in alone:
        assert torch.equal(first[name], second[name])
        torch.testing.assert_close(first[name], alone[name], rtol=0, atol=1e-5)


@slow
@pytest.mark.parametrize("run", ["adamw", "lamb in two parts", "without order"])
def test_only_the_first_worker_writes(outcomes, run):
    folder = outcomes[1] / run
    assert [path.name for path in folder.iterdir() if path.is_dir()] == ["of-worker-0"]
    checkpoints = (folder / "of-worker-0").glob("step-*")
    assert [path.name for path in checkpoints] == ["step-00000008"]


@slow
@pytest.mark.parametrize(
    "run, folder",
    [("adamw", "of-worker-0"), ("lamb in two parts", "of-worker-0"), ("stopped", "shared")],
)
def test_the_metrics_are_those_of_the_whole_batch_also_after_a_stop_between_two_records(
    outcomes, run, folder
):
    alone, together = (metrics(outcome / run / folder / "step-00000008") for outcome in outcomes)
    for ours, theirs in zip(alone, together, strict=True):
        assert theirs == pytest.approx(ours, rel=1e-4)


# In the first attempt worker 1 is killed in step 5 of the first run; the second run is left alone.
DYING = """
import os, signal, sys
from pathlib import Path
from safetensors.torch import save_file
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.prepare import prepare
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import PretrainSettings
from tests.support import tiny, weights

text, folder = prepare("stories"), Path(sys.argv[1])
settings = PretrainSettings(steps=8, learning_rate=1e-3, checkpoint_every=3)
for name in ("killed", "peace"):
    stream = PretrainingStream(text.train, text.tokenizer, "sop", 8, 32)
    whole = stream.batch

    def batch(step):
        attempt = (os.environ["TORCHELASTIC_RESTART_COUNT"], os.environ["RANK"], step, name)
        if attempt == ("0", "1", 5, "killed"):
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(step)

    stream.batch = batch
    model = tiny(hidden_dropout=0.1)
    pretrain(model, stream, settings, folder / name, "cpu")
    save_file(weights(model), folder / f"{name}-{os.environ['RANK']}.safetensors")
"""


@slow
def test_a_killed_worker_is_started_again_and_the_run_ends_with_the_bits_of_one_left_in_peace(
    story_text, tmp_path
):
    (tmp_path / "script.py").write_text(DYING)
    torchrun(tmp_path / "script.py", tmp_path, "--max-restarts=1")
    killed, other, peace = (
        load_file(tmp_path / f"{name}.safetensors") for name in ("killed-0", "killed-1", "peace-0")
    )
    assert same_bits(killed, other) and same_bits(killed, peace)


def test_the_worker_that_is_left_says_what_happened_and_nothing_of_a_bug():
    """The texts are those of gloo, of torch's own store and of NCCL."""
    for text in ("[gloo/transport/tcp/pair.cc:534] Connection closed by peer", "NCCL error"):
        with pytest.raises(WorkerLost, match="worker 0 stops, because another of the 2") as caught:
            with Workers(0, 2).together():
                raise RuntimeError(text)
        assert explain(caught.value).startswith("WorkerLost: worker 0 stops")
    for workers, text in ((Workers(0, 2), "another fault"), (Workers(), "gloo")):
        with pytest.raises(RuntimeError, match=f"^{text}$"), workers.together():
            raise RuntimeError(text)
