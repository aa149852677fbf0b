"""The command line: ``python -m albert_edu VERB``. Every verb is a few lines over functions one can import."""

import argparse
import dataclasses
import os
import signal
import sys
import threading
from pathlib import Path

from albert_edu.analysis.commands import add_verbs as add_model_verbs
from albert_edu.assignments.commands import add_verbs
from albert_edu.config import PRESETS, AlbertConfig, check_numbers
from albert_edu.errors import explain


def main(arguments: list[str] | None = None) -> int:
    """Run a verb; 0 if it did what it says, 1 if a check failed, 2 if something is wrong with the input."""
    parser = build_parser()
    options = parser.parse_args(arguments := sys.argv[1:] if arguments is None else arguments)
    if "" in arguments:  # as a path it would mean the current folder
        parser.error(f"argument {arguments.index('') + 1} is empty: give a name, or leave it out.")
    try:
        return options.run(options) or 0
    except KeyboardInterrupt:
        print("\ninterrupted; where there is a checkpoint, the same command goes on from it.", file=sys.stderr)
        return 130
    except Exception as error:
        print(explain(error), file=sys.stderr)
        return 2


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m albert_edu", description="The ALBERT course on the command line.")
    verb = _verbs_of(parser)
    verb("doctor", run_doctor, "check this machine: Python, packages, device, disk, fonts, kernel, corpus")

    sub = verb("reproduce", run_reproduce, "train the pair, draw Figure 1, count the parameters of every published size")
    sub.add_argument("--profile", default="quick", choices=["quick", "laptop", "gpu"], help="minutes, hours, one card")
    sub.add_argument("--experiment", help="do the runs of one of the paper's tables instead, for example table5, or of all")
    sub.add_argument("--minutes", type=float, help="stop after so many; the same command goes on")
    sub.add_argument("--record", action="store_true", help="also keep pictures and results under figures/")
    sub.add_argument("--runs", default="runs", type=Path, help="where models and checkpoints go")
    sub.add_argument("--device", default="auto")

    sub = verb("claims", run_claims, "write figures/CLAIMS.md and its pictures from figures/results alone")
    sub.add_argument("--figures", default="figures", type=Path, help="the folder that holds results/, and gets the page")

    sub = verb("pretrain", run_pretrain, "pre-train a model; the same command again goes on where it stopped")
    sub.add_argument("--corpus", default="sotu", help="sotu, imdb, stories, a folder of .txt files, or a Hub data set")
    sub.add_argument("--preset", help=f"albert-tiny when left out; there are {', '.join(PRESETS)}")
    sub.add_argument("--layers", type=int, help="instead of the preset's")
    sub.add_argument("--share", choices=["all", "attention", "ffn", "none"], help="instead of the preset's")
    sub.add_argument("--vocab-size", type=int, help="pieces to learn (the corpus's default when left out)")
    sub.add_argument("--objective", default="sop", choices=["sop", "nsp", "none"])
    sub.add_argument("--steps", type=int, default=1000)
    sub.add_argument("--batch-size", type=int, default=32)
    sub.add_argument("--sequence-length", type=int, default=128)
    sub.add_argument("--optimizer", default="adamw", choices=["adamw", "lamb"])
    sub.add_argument("--learning-rate", type=float, default=1e-3)
    sub.add_argument("--warmup-steps", type=int, help="a tenth of the steps when left out")
    sub.add_argument("--accumulate", type=int, default=1, help="cut each batch into this many parts to save memory")
    sub.add_argument("--precision", choices=["float32", "bfloat16"], help="bfloat16 on a CUDA card, else float32, when left out")
    sub.add_argument("--checkpoint-every", type=int, default=100, help="steps")
    sub.add_argument("--evaluate-every", type=int, default=100, help="steps")
    sub.add_argument("--warm-start", type=Path, help="a model folder of at most as many layers to start from")
    sub.add_argument("--seed", type=int, default=0)
    sub.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")
    sub.add_argument("--out", type=Path, required=True, help="folder for the model, its checkpoints and metrics.jsonl")

    sub.add_argument("--overwrite", action="store_true", help="replace a finished model in that folder")

    sub = verb("finetune", run_finetune, "fine-tune a model on a labelled task, and print its scores")
    sub.add_argument("--model", type=Path, required=True, help="a model folder with its tokenizer")
    sub.add_argument("--task", required=True, help="sentiment-sentence, sentiment-review, same-address, story-topic, story-gap; "
                     "or, with --data, SQuAD, RACE or a GLUE task as in Table 14 (SST-2, MNLI ...)")  # fmt: skip
    sub.add_argument("--data", type=Path, nargs=2, metavar=("TRAIN", "TEST"), help="files of the task (for RACE: folders)")
    sub.add_argument("--steps", type=int, default=300)
    sub.add_argument("--batch-size", type=int, default=32)
    sub.add_argument("--learning-rate", type=float, default=5e-4, help="the paper's, for models of its size: Table 14")
    sub.add_argument("--warmup-steps", type=int, help="a tenth of the steps when left out")
    sub.add_argument("--sequence-length", type=int, help="the longest the model has, when left out")
    sub.add_argument("--frozen", action="store_true", help="train the head alone")
    sub.add_argument("--out", type=Path, help="folder for the model, its scores and its checkpoints")
    sub.add_argument("--overwrite", action="store_true", help="replace a finished model in that folder")
    sub.add_argument("--evaluate-every", type=int, default=50, help="steps between checkpoints, and dev scores")
    sub.add_argument("--keep-best", action="store_true", help="choose the weights by a tenth of the training examples")
    sub.add_argument("--seed", type=int, default=0)
    sub.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")

    sub = verb("predict", run_predict, "apply a fine-tuned model to a file, a text or two with a tab per line")
    sub.add_argument("--model", type=Path, required=True, help="a folder that finetune --out wrote")
    sub.add_argument("file", type=Path)
    sub.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")

    add_model_verbs(verb)
    sub = verb("notebooks", run_notebooks, "execute the notebooks and report minutes and memory")
    sub.add_argument("names", nargs="*", help="for example 00 03; all of them when left out")
    sub.add_argument("--write", action="store_true", help="store the outputs, normalised, and update the README's table")

    sub = verb("start", run_start, "copy a notebook into work/, where git leaves it alone")
    sub.add_argument("number", help="for example 03")
    sub.add_argument("--assignment", action="store_true", help="its assignment instead, into work/me/")

    sub = verb("assignments", None, "hand out and grade the assignments")
    add_verbs(_verbs_of(sub))
    return parser


def _verbs_of(parser: argparse.ArgumentParser):
    """A function that adds a verb to the parser: what runs it, and what its help says."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(name: str, run, text: str) -> argparse.ArgumentParser:
        sub = verbs.add_parser(name, help=text, description=text, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        sub.set_defaults(run=run)
        return sub

    return verb


def run_doctor(options) -> int:
    from albert_edu.doctor import examine

    return examine()


def run_reproduce(options) -> None:
    from albert_edu.training.pretrain import pick_device

    if options.profile == "gpu" and options.device == "auto" and pick_device().type != "cuda":
        raise ValueError("the gpu profile is for a CUDA card, and torch finds none here: a core would need weeks. Take --profile "
                         "laptop, or insist with --device cpu.")  # fmt: skip
    if options.minutes is not None:
        check_numbers(options, 0.001, 1e6, "minutes")
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a command started with & inherits that SIGINT is ignored
        stop = threading.Timer(60 * options.minutes, os.kill, (os.getpid(), signal.SIGINT))  # as Ctrl-C would
        stop.daemon = True
        stop.start()
    if options.experiment:
        from albert_edu.paper.experiments import run_experiment
        from albert_edu.paper.plan import ALL

        all_of_them = [name for name, planned in ALL.items() if options.profile in planned.budgets]
        for name in all_of_them if options.experiment == "all" else [options.experiment]:
            kept = Path("figures") if options.record else options.runs
            print(run_experiment(name, options.profile, kept, options.runs, options.device))
        print("Next: 'python -m albert_edu claims' writes figures/CLAIMS.md from all that is recorded.")
        return
    from albert_edu.paper.reproduce import reproduce

    reproduce(options.profile, options.runs, options.device, Path("figures") if options.record else None)


def run_claims(options) -> None:
    from albert_edu.paper.page import write_report

    readme = Path("README.md")
    print(write_report(options.figures, readme if readme.exists() and options.figures == Path("figures") else None))


def run_pretrain(options) -> None:
    from albert_edu.model.interchange import save_pretrained
    from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
    from albert_edu.text.prepare import CorpusError, prepare
    from albert_edu.text.tokenizer import AlbertTokenizer
    from albert_edu.training.pretrain import pick_device
    from albert_edu.training.run_folder import check_free
    from albert_edu.training.settings import PretrainSettings, suited_to
    from albert_edu.training.stages import Stage, batches_read, train_stages
    from albert_edu.training.task_model import load_with_tokenizer
    from albert_edu.training.workers import is_main_worker

    settings = _settings(PretrainSettings, options, **suited_to(pick_device(options.device)))
    check_free(options.out, options.overwrite)
    warm, tokenizer = load_with_tokenizer(options.warm_start) if options.warm_start else (None, None)
    given = {"--share": options.share, "--vocab-size": options.vocab_size, "--preset": options.preset}
    if warm and any(given.values()):
        raise ValueError(f"--warm-start decides what {', '.join(flag for flag in given if given[flag])} would: leave that out.")
    if warm and not isinstance(tokenizer, AlbertTokenizer):
        raise ValueError(f"{options.warm_start} has a tokenizer that is not ALBERT's: it can be fine-tuned, not pre-trained.")
    text = prepare(options.corpus, options.vocab_size, seed=0, tokenizer=tokenizer)
    changes = {"num_layers": options.layers, "share": options.share}
    changes = {name: value for name, value in changes.items() if value is not None}
    sizes = {"vocab_size": len(text.tokenizer), "max_positions": options.sequence_length}
    config = warm.config if warm else AlbertConfig.named(options.preset or "albert-tiny", **changes, **sizes)
    arguments = (text.tokenizer, options.objective, options.batch_size, options.sequence_length)
    stream = PretrainingStream(text.train, *arguments, seed=options.seed,
                               skip=batches_read(options.warm_start) if warm else 0)  # fmt: skip
    try:
        held_out = PretrainingStream(text.held_out, *arguments, seed=options.seed + EVAL_SEED_OFFSET)
    except CorpusError as error:
        raise CorpusError(f"in the documents held out ({text.held_out}): {error}") from error
    stage = Stage(options.layers or config.num_layers, options.steps, options.learning_rate)
    model, history, _ = train_stages(
        config, [stage], lambda stage, skip: stream, lambda stage: settings, options.out, options.device,
        lambda stage: held_out, warm, describe="pretrain",
    )  # fmt: skip
    if is_main_worker():
        save_pretrained(model, text.tokenizer, options.out, native=True)
        print(f"text: {text.train}; {stream.sampler.coverage:.0%} of the tokens fit {options.sequence_length}\n{history.verdict()}")
        if options.objective != "none" and options.steps:
            print(f"held-out order accuracy: {history.last('held_out_sentence_order_accuracy'):.3f} (chance: 0.500)")
        print(f"model: {options.out}")


def run_finetune(options) -> None:
    import torch

    from albert_edu.training.finetune import FinetuneSettings
    from albert_edu.training.pretrain import pick_device
    from albert_edu.training.run_folder import check_free
    from albert_edu.training.task_model import load_with_tokenizer, make_ready

    torch.manual_seed(options.seed)
    ready = make_ready(*load_with_tokenizer(options.model), options.task, options.data, options.sequence_length)
    settings = _settings(FinetuneSettings, options)
    check_free(options.out, options.overwrite)
    ready.model.to(pick_device(options.device))
    print(ready.finetune(settings, options.out, describe="finetune"))


def run_predict(options) -> None:
    from albert_edu.training.pretrain import pick_device
    from albert_edu.training.task_model import predict_file

    print(*predict_file(options.model, options.file, pick_device(options.device)), sep="\n")


def _settings(kind: type, options, **defaults):
    """Return the settings whose fields are options of the same name; warm up over a tenth if nothing is said."""
    fields = {field.name for field in dataclasses.fields(kind)}
    given = {name: value for name, value in vars(options).items() if name in fields and value is not None}
    return kind(**({"warmup_steps": options.steps // 10} | defaults | given))


def run_notebooks(options) -> int:
    from albert_edu.notebooks import execute_all

    return execute_all(options.names, write=options.write)


def run_start(options) -> None:
    from albert_edu.notebooks import start

    print(f"yours to change: {start(options.number, options.assignment)}")
