"""The library's command line, ``python -m albert_edu VERB``: a few lines over its functions."""

import argparse
import json
from pathlib import Path

import torch

from albert_edu.analysis.inspect import fill, inspect
from albert_edu.command_line import run, verbs_of
from albert_edu.config import PRESETS, AlbertConfig
from albert_edu.errors import InputError
from albert_edu.model import interchange
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
from albert_edu.text.prepare import prepare
from albert_edu.text.task_rows import read_rows
from albert_edu.training import checkpoint, workers
from albert_edu.training.finetune import finetune, majority, make_ready, task_scores
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings, device_settings

MODEL = "a shipped model (laptop, laptop-unshared), a model folder, or a name on the Hub"
DATA = "rows in .jsonl, .csv, .parquet or SQuAD's .json, or NAME:SUBSET:SPLIT of the Hub"


def main(arguments: list[str] | None = None) -> int:
    """Run a verb: 0 if it did what it says, 1 if a check failed, 2 if the input is wrong."""
    return run(build_parser(), arguments)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of every verb, with the function that each of them runs."""
    parser = argparse.ArgumentParser("python -m albert_edu", description="Train and use ALBERT.")
    verb = verbs_of(parser)
    learning = argparse.ArgumentParser(add_help=False)
    option = learning.add_argument
    option("--device", default="auto", help="auto, cpu or cuda")
    option("--batch-size", type=int, default=32, help="sequences, or labelled rows, of a step")
    option("--sequence-length", type=int, default=128, help="tokens, or all that a model takes")
    option("--seed", type=int, default=0, help="of the weights, the batches and dropout")
    option("--warmup-steps", type=int, help="a tenth of the steps when left out")

    option = verb("pretrain", run_pretrain, "pre-train a model, or go on", learning).add_argument
    option("--corpus", default="sotu", help="sotu, imdb, stories, a folder of .txt, a Hub data set")
    option("--preset", default="albert-tiny", help=f"one of {', '.join(PRESETS)}")
    option("--vocab-size", type=int, help="pieces to learn (the corpus's default when left out)")
    option("--objective", default="sop", choices=["sop", "nsp", "none"], help="beside the MLM")
    option("--out", type=Path, required=True, help="for the model, checkpoints and metrics.jsonl")
    option("--steps", type=int, default=1000, help="of one batch each")
    option("--optimizer", default="adamw", choices=["lamb", "adamw"], help="lamb is the paper's")
    option("--learning-rate", type=float, default=1e-3, help="at the end of the warm-up")
    option("--accumulate", type=int, default=1, help="parts of a batch, to save memory")
    option("--gradient-checkpointing", action="store_true", help="a third more time, less memory")
    option("--checkpoint-every", type=int, default=100, help="steps")

    option = verb("finetune", run_finetune, "fine-tune on labelled rows", learning).add_argument
    option("--model", required=True, help=MODEL)
    option("--data", nargs=2, required=True, metavar=("TRAIN", "TEST"), help=DATA)
    option("--out", type=Path, help="a new folder for the model and its scores")
    option("--steps", type=int, default=300, help="of one batch each")
    option("--learning-rate", type=float, default=5e-4, help="the paper's are in Table 14")

    option = verb("fill", run_fill, "guess the tokens behind each [MASK] of a text").add_argument
    option("text", help="for example 'the united [MASK] of america'")
    option("--model", default="laptop", help=MODEL)
    option("--top", type=int, default=5, help="how many guesses for each")

    option = verb("inspect", run_inspect, "sizes, sharing and Figure 1 of a model").add_argument
    option("model", help=MODEL)
    return parser


def run_pretrain(options) -> None:
    """Pre-train a model, or go on with it."""
    device = workers.pick_device(options.device)
    settings = _settings(options, evaluate_every=100, **device_settings(device))
    checkpoint.check_free(options.out)
    text = prepare(options.corpus, options.vocab_size)
    sizes = {"vocab_size": len(text.tokenizer), "max_positions": options.sequence_length}
    config = AlbertConfig.named(options.preset, **sizes)
    shape = (text.tokenizer, options.objective, options.batch_size, options.sequence_length)
    stream = PretrainingStream(text.train, *shape, seed=options.seed)
    held_out = PretrainingStream(text.held_out, *shape, seed=options.seed + EVAL_SEED_OFFSET)
    if workers.is_main_worker():
        print(f"training: {text.train}\nheld out: {text.held_out}")
        print(f"{stream.sampler.coverage:.1%} of the training text fits into pairs.", flush=True)
    torch.manual_seed(options.seed)
    model = AlbertForPretraining(config)
    history = pretrain(model, stream, settings, options.out / "checkpoints", device, held_out)
    if workers.is_main_worker():
        interchange.save_pretrained(model, text.tokenizer, options.out)
        lines = [json.dumps(record) + "\n" for record in history.records]
        (options.out / "metrics.jsonl").write_text("".join(lines))
        print(f"model: {options.out}\n{history.verdict()}")
        if options.objective != "none" and options.steps:
            accuracy = history.last("held_out_sentence_order_accuracy")
            print(f"held-out order accuracy: {accuracy:.3f} (chance: 0.500)")


def run_finetune(options) -> None:
    """Fine-tune a model on a task, print its scores and keep it where ``--out`` says."""
    out, settings = options.out, _settings(options)
    if out and out.exists() and any(out.iterdir()):
        raise InputError(f"{out} is not empty. Give another --out.")
    torch.manual_seed(options.seed)
    train = read_rows(options.data[0])
    test = read_rows(options.data[1], like=train)
    model, tokenizer = interchange.load_pretrained(options.model, required=["tokenizer"])
    S = min(options.sequence_length, model.config.max_positions)
    task, learn, unseen = make_ready(model, tokenizer, train, test, S)
    print(f"{len(train.examples)} rows to learn from, {len(test.examples)} to test, of {S} tokens")
    if train.class_names:
        print(f"classes: {', '.join(train.class_names)}", flush=True)
    task.to(workers.pick_device(options.device))
    finetune(task, learn, settings, options.batch_size, "finetune")
    scores, guess = task_scores(task, unseen), majority(task, learn, unseen)
    for name, score in scores.items():
        print(f"{name}: {score:.3f} (majority baseline: {guess[name]:.3f})")
    if out:
        kind = interchange.save_pretrained(task, tokenizer, out, train.class_names)
        used = settings.trajectory() | {"batch_size": options.batch_size}
        record = {"scores": scores, "majority_baseline": guess, "settings": used}
        (out / "finetune.json").write_text(json.dumps(record, indent=1) + "\n")
        print(f'model: {out}; transformers reads it: AutoModel{kind}.from_pretrained("{out}")')


def run_fill(options) -> None:
    """Print the guesses for each [MASK], one line per mask."""
    model, tokenizer = interchange.load_pretrained(
        options.model,
        required=["tokenizer", "masked_token_head"],  # all guesses of a new head would be noise
    )
    for answers in fill(model, tokenizer, options.text, options.top):
        print("  ".join(f"{token.lstrip('▁')} {p:.3f}" for token, p in answers))


def run_inspect(options) -> None:
    """Print what ``analysis.inspect`` says."""
    print(inspect(*interchange.load_pretrained(options.model)))


def _settings(options, **usual) -> TrainSettings:
    """The settings whose fields are options of the same name; they warm up over a tenth."""
    usual["warmup_steps"] = options.steps // 10
    given = {name: value for name, value in vars(options).items() if value is not None}
    named = TrainSettings.__annotations__.keys() & given
    return TrainSettings(**usual | {name: given[name] for name in named})
