"""The evidence's command line, ``python -m albert_paper VERB``."""

import argparse
import signal
from pathlib import Path

from albert_edu.command_line import run, verbs_of
from albert_edu.errors import read_text


def main(arguments: list[str] | None = None) -> int:
    """Run a verb: 0 if it did what it says, 1 if a check failed, 2 if the input is wrong."""
    return run(build_parser(), arguments)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    parser = argparse.ArgumentParser("python -m albert_paper", description="The paper's evidence.")
    kept = argparse.ArgumentParser(add_help=False)
    option = kept.add_argument
    option("--record", action="store_const", const=Path("figures"), help="keep results in figures")
    option("--runs", default="runs", type=Path, help="where models and checkpoints go")
    training = argparse.ArgumentParser(add_help=False, parents=[kept])
    training.add_argument("--device", default="auto", help="auto, cpu or cuda")
    verb = verbs_of(parser)

    option = verb("reproduce", run_reproduce, "train the pair of Figure 1", training).add_argument
    option("--profile", default="quick", choices=["quick", "laptop", "gpu"], help="minutes, hours")

    option = verb("run", run_experiment, "do the runs of an experiment", training).add_argument
    option("experiment", help="a section of plan.toml or unjudged.toml in albert_paper/data")

    verb("bench", run_bench, "time a training step beside transformers", training)

    option = verb("reviews", run_reviews, "a released model and ours judge film reviews", kept)
    option.add_argument("--model", help="a folder, or a name on the Hub; else an installed package")

    option = verb("school", run_school, "teach a small model to read (notebook 11)").add_argument
    option("--runs", default="runs", type=Path, help="gets school.safetensors")

    verb("claims", run_claims, "write the page of claims from the records")

    option = verb("figure1", run_figure1, "draw Figure 1 from released models").add_argument
    option("models", nargs=2, metavar="MODEL", help="two names on the Hub, or folders")
    option("--text", type=Path, help="a file to measure on; else the newest address of the course")
    option("--out", default="runs/figure1", type=Path, help="gets figure1.png")
    return parser


def run_reproduce(options) -> None:
    """Train and show the pair of Figure 1."""
    from albert_paper.reproduce import reproduce

    reproduce(options.profile, options.runs, options.device, options.record)


def run_experiment(options) -> None:
    """Do what is not done yet of an experiment, and write its record."""
    from albert_paper import plan

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's & made it deaf to this
    kept = options.record or options.runs
    print(plan.run_experiment(options.experiment, kept, options.runs, options.device))


def run_bench(options) -> None:
    """Time a step of every size, ours and that of ``transformers``, and write the record."""
    from albert_paper.bench import bench

    print(bench(options.record or options.runs, options.device))


def run_reviews(options) -> None:
    """Fine-tune a released model and ours on film reviews, and write the record."""
    from albert_paper.reviews import reviews

    print(reviews(options.record or options.runs, options.model))


def run_school(options) -> None:
    """Send a model to the school of notebook 11, and keep its weights."""
    from albert_paper import plan, school

    path = options.runs / "school.safetensors"
    runs = {(run.row, run.seed): run for run in plan.runs_of(plan.UNJUDGED["school"])}
    run = runs[school.SHIPPED]
    for sentences, mark in school.keep_pupil(run, path):
        print(f"class of {sentences}: {mark:.0%}")
    print(path)


def run_claims(_) -> None:
    """Write the page, its pictures, and the outcomes."""
    from albert_paper.page import write_report

    print(write_report(Path()))


def run_figure1(options) -> None:
    """Measure two models, and draw both."""
    from albert_edu.text.corpora import newest_address
    from albert_paper.figure1 import compare

    text = read_text(options.text) if options.text else newest_address()
    print(compare(options.models, text, options.out))
