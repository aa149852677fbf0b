"""Two processes under torchrun follow the path of one: the same batch and mean, one writer."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.support import metrics

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
        done, files = False, (folder / "checkpoints", folder / "metrics.jsonl")
        while not done:
            model = tiny()
            try:
                pretrain(model, stream, settings, files[0], "cpu", held_out, files[1])
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


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def outcomes(story_text, tmp_path_factory) -> tuple[Path, Path]:
    """The folders of one worker and of two."""
    folder = tmp_path_factory.mktemp("workers")
    (folder / "script.py").write_text(SCRIPT)
    torchrun = [
        "-m",
        "torch.distributed.run",
        "--nnodes=1",
        "--nproc-per-node=2",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=127.0.0.1:0",
        "--local-addr=127.0.0.1",
    ]
    command = [sys.executable, *torchrun, str(folder / "script.py"), str(folder / "two")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert ended.returncode == 0, ended.stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["script.py", str(folder / "one")])
        runpy.run_path(str(folder / "script.py"))
    return folder / "one", folder / "two"


def test_every_worker_leaves_the_process_group_when_it_ends(outcomes):
    assert sorted(path.name for path in outcomes[1].glob("left-*")) == ["left-0", "left-1"]


@pytest.mark.parametrize("run", ["adamw", "lamb in two parts", "without order", "stopped"])
def test_two_workers_end_with_the_weights_of_one(outcomes, run):
    one, two = outcomes
    alone = load_file(one / run / "weights-0.safetensors")
    first, second = (load_file(two / run / f"weights-{rank}.safetensors") for rank in (0, 1))
    for name in alone:
        assert torch.equal(first[name], second[name])
        torch.testing.assert_close(first[name], alone[name], rtol=0, atol=1e-5)


@pytest.mark.parametrize("run", ["adamw", "lamb in two parts", "without order"])
def test_only_the_first_worker_writes(outcomes, run):
    folder = outcomes[1] / run
    assert [path.name for path in folder.iterdir() if path.is_dir()] == ["of-worker-0"]
    checkpoints = (folder / "of-worker-0" / "checkpoints").glob("step-*")
    assert [path.name for path in checkpoints] == ["step-00000008"]


@pytest.mark.parametrize(
    "run, folder",
    [
        ("adamw", "of-worker-0"),
        ("lamb in two parts", "of-worker-0"),
        ("stopped", "shared"),
    ],
)
def test_the_metrics_are_those_of_the_whole_batch_also_after_a_stop_between_two_records(
    outcomes, run, folder
):
    alone, together = (metrics(outcome / run / folder / "metrics.jsonl") for outcome in outcomes)
    for ours, theirs in zip(alone, together, strict=True):
        assert theirs == pytest.approx(ours, rel=1e-4)
