"""Many small training runs, each done once, since a run's settings name its result.

Runs and a measure go in, their results come out, each also as a file of the folder. A result that
exists is not made again, and an interrupted run goes on from its checkpoints. Notebook 09 reads
such results.
"""

import dataclasses
import json
import os
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import torch

from albert_edu.config import whole_from_environment
from albert_edu.errors import RunError
from albert_edu.model.interchange import save_pretrained
from albert_edu.progress import progress_bar
from albert_edu.training.workers import pick_device
from albert_paper.pool import run_all
from albert_paper.provenance import here_and_now, write_json
from albert_paper.published import frozen
from albert_paper.training_run import Measure, Run


def sweep(
    runs: Sequence[Run],
    measure: Measure,
    folder: Path,
    device: torch.device | None = None,
    finished: Path | None = None,
) -> list[dict]:
    """Do what is not done yet and return every result in the order of ``runs``.

    It takes as many processes as there are cores, or as ``ALBERT_EDU_PROCESSES`` says on a machine
    that others use, too; a card takes one unless told so. Stages that several runs have in common
    are trained once where there is a folder for ``finished`` ones. Raises what training raises.
    """
    processes = number_of_processes(device)
    waiting = [run for run in runs if not result_file(folder, run, measure).exists()]
    prepare_texts(waiting)
    ordered = seeds_side_by_side(waiting, processes) if finished else waiting
    jobs = [partial(do_run, run, measure, folder, device, finished=finished) for run in ordered]
    with progress_bar("runs", total=len(runs), initial=len(runs) - len(waiting)) as bar:
        run_all(jobs, processes, lambda _: bar.update())
    return results(runs, measure, folder)


def seeds_side_by_side(runs: Sequence[Run], processes: int) -> list[Run]:
    """Return the runs row by row of as many seeds as there are processes, then of the next seeds.

    Runs of one seed may have stages in common, so they should not train at the same time.
    """
    seeds = list(dict.fromkeys(run.seed for run in runs))
    rows = list(dict.fromkeys(run.row for run in runs))
    return sorted(runs, key=lambda run: (seeds.index(run.seed) // processes, rows.index(run.row)))


def number_of_processes(device: torch.device | None) -> int:
    """Return how many runs are trained side by side."""
    if asked := whole_from_environment("ALBERT_EDU_PROCESSES", 0):
        return asked
    return (os.cpu_count() or 1) if pick_device(device).type == "cpu" else 1


def prepare_texts(runs: Sequence[Run]) -> None:
    """Prepare every text of the runs once, so that not every process does it."""
    texts = {(run.corpus, run.vocabulary, run.vocab_size, run.then): run for run in runs}
    for run in texts.values():
        corpora = {stage.corpus for stage in run.stages()}
        for corpus in {"", *corpora}:
            run.text(corpus)


def do_run(
    run: Run,
    measure: Measure,
    folder: Path,
    device: torch.device | None,
    keep: Path | None = None,
    describe: str = "",
    finished: Path | None = None,
) -> None:
    """Train and measure one run, unless its result exists, with checkpoints in ``folder``.

    It takes one thread, so that the number of cores changes no result. What is measured is rounded
    to four digits. The trained model is saved in ``keep``. RunError names the run that fails,
    and why.
    """
    result = result_file(folder, run, measure)
    device = pick_device(device)
    if result.exists():
        return
    torch.set_num_threads(1)
    checkpoints = result.with_suffix(f".{device.type}")  # a GPU's are not a core's
    origin = here_and_now(device)  # of the code that was imported
    try:
        trained = run.train(checkpoints, device, describe, finished)
    except Exception as error:
        failed = f"training {run.row}, seed {run.seed} ({checkpoints}) failed"
        raise RunError(f"{failed}: {type(error).__name__}: {error}") from error
    model = trained.model
    text = trained.text
    if keep:
        save_pretrained(model, text.tokenizer, keep)
    found = measure(model, text, run) | {
        "training_curve": trained.curve,
        "training_seconds": trained.total("seconds"),
        "cpu_seconds": trained.total("cpu_seconds"),
    }
    if trained.watched:
        found["watched"] = trained.watched
    kept = json.loads(json.dumps(found), parse_float=lambda digits: round(float(digits), 4))
    write_json(result, vars(run) | kept | {"corpus_hash": text.train.fingerprint} | origin)
    shutil.rmtree(checkpoints)


def result_file(folder: Path, run: Run, measure: Measure) -> Path:
    """Return where the result of a run lies in the folder of a sweep."""
    return folder / f"{run.key(measure)}.json"


def results(runs: Sequence[Run], measure: Measure, folder: Path) -> list[dict]:
    """Return the results of those runs that are done, each under its own row: some share one."""
    done = []
    for run in runs:
        path = result_file(folder, run, measure)
        if path.exists():
            done.append(json.loads(path.read_text()) | {"row": run.row})
    return done


def recorded_run(result: dict) -> Run:
    """Return the run that a recorded result is of."""
    names = {field.name for field in dataclasses.fields(Run)}
    return Run(**{name: frozen(value) for name, value in result.items() if name in names})
