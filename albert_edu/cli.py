"""The library's command line, ``python -m albert_edu VERB``: a few lines over its functions."""

import argparse
import json
from pathlib import Path

import torch
from torch import nn

from albert_edu.analysis.inspect import fill, inspect
from albert_edu.command_line import run, verbs_of
from albert_edu.config import PRESETS, AlbertConfig
from albert_edu.model import interchange
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.task_heads import TaskModel
from albert_edu.output import check_empty, try_writing, write_whole
from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
from albert_edu.text.hub_tokenizer import Tokenizer
from albert_edu.text.prepare import prepare
from albert_edu.text.task_rows import read_rows
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import AlbertTokenizer
from albert_edu.training import checkpoint, workers
from albert_edu.training.finetune import Task, finetune, majority, set_up_task, task_scores
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
    corpora = (
        "sotu, imdb or stories; a .txt file or a folder of them; a .jsonl, .csv or .parquet file "
        "with a field text; a data set of the Hub"
    )
    option("--corpus", default="sotu", help=corpora)
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

    option = verb("inspect", run_inspect, "sizes, Figure 1, health of a model").add_argument
    option("model", help=MODEL)
    option("--corpus", help="to measure on: what pretrain takes, else the vocabulary's own or sotu")
    return parser


def run_pretrain(options: argparse.Namespace) -> int:
    """Pre-train a model, or go on with it, and keep it where ``--out`` says."""
    device = workers.pick_device(options.device)
    settings = TrainSettings(
        steps=options.steps,
        learning_rate=options.learning_rate,
        warmup_steps=_warmup_steps(options),
        optimizer=options.optimizer,
        accumulate=options.accumulate,
        gradient_checkpointing=options.gradient_checkpointing,
        checkpoint_every=options.checkpoint_every,
        evaluate_every=100,
        seed=options.seed,
        **device_settings(device),
    )
    config = AlbertConfig.named(options.preset, max_positions=options.sequence_length)
    is_main = workers.is_main_worker()
    checkpoint.check_free(options.out)
    if is_main:
        try_writing(options.out)  # before the text is prepared, which takes minutes
    text = prepare(options.corpus, options.vocab_size)
    stream = _stream(options, text.train, text.tokenizer, options.seed)
    held_out = _stream(options, text.held_out, text.tokenizer, options.seed + EVAL_SEED_OFFSET)
    if is_main:
        print(f"training: {text.train}\nheld out: {text.held_out}")
        print(f"{stream.sampler.coverage:.1%} of the training text fits into pairs.", flush=True)
    torch.manual_seed(options.seed)
    model = AlbertForPretraining(config.replace(vocab_size=len(text.tokenizer)))
    if is_main:
        try_writing(options.out, 4 * _bytes_of(model))  # weights, and a checkpoint with two moments
    history = pretrain(model, stream, settings, options.out / "checkpoints", device, held_out)
    if not is_main:
        return 0

    def write(folder: Path) -> None:
        """Write the model, and a line for each record of its history."""
        interchange.save_pretrained(model, text.tokenizer, folder)
        lines = [json.dumps(record) + "\n" for record in history.records]
        (folder / "metrics.jsonl").write_text("".join(lines))

    kept, _ = write_whole(options.out, write)
    print(f"model: {kept}\n{history.verdict()}")
    if options.objective != "none" and options.steps:
        accuracy = history.last("held_out_sentence_order_accuracy")
        print(f"held-out order accuracy: {accuracy:.3f} (chance: 0.500)")
    return 0 if kept == options.out else 2


def run_finetune(options: argparse.Namespace) -> int:
    """Fine-tune a model on a task, print its scores and keep it where ``--out`` says."""
    out = options.out
    settings = TrainSettings(
        steps=options.steps,
        learning_rate=options.learning_rate,
        warmup_steps=_warmup_steps(options),
        seed=options.seed,
    )
    if out:
        check_empty(out)
        try_writing(out)
    torch.manual_seed(options.seed)
    train = read_rows(options.data[0])
    test = read_rows(options.data[1], like=train)
    model, tokenizer = _load(options.model)
    S = min(options.sequence_length, model.config.max_positions)
    task, learn, unseen = set_up_task(model, tokenizer, train, test, S)
    print(f"{len(train.examples)} rows to learn from, {len(test.examples)} to test, of {S} tokens")
    if train.class_names:
        print(f"classes: {', '.join(train.class_names)}", flush=True)
    task.to(workers.pick_device(options.device))
    if out:
        try_writing(out, _bytes_of(task))
    finetune(task, learn, settings, options.batch_size, "finetune")
    if not out:
        _print_scores(task, learn, unseen, train.class_names)
        return 0

    def write(folder: Path) -> str:
        """Write the fine-tuned model; return what transformers calls its kind."""
        return interchange.save_pretrained(task, tokenizer, folder, train.class_names)

    kept, kind = write_whole(out, write)  # before anything else, which might fail
    record = _print_scores(task, learn, unseen, train.class_names)
    record["settings"] = settings.trajectory() | {"batch_size": options.batch_size}
    (kept / "finetune.json").write_text(json.dumps(record, indent=1) + "\n")
    print(f'model: {kept}; transformers reads it: AutoModel{kind}.from_pretrained("{kept}")')
    return 0 if kept == out else 2


def _print_scores(task: TaskModel, learn: Task, unseen: Task, class_names: list[str]) -> dict:
    """Print each score beside its baseline, and return them all."""
    scores = task_scores(task, unseen)
    baseline = majority(task, learn, unseen)
    record: dict = {"scores": scores, "majority_baseline": baseline}
    for name, score in scores.items():
        line = f"{name}: {score:.3f} (majority baseline: {baseline[name]:.3f})"
        if name == "f1" and class_names:
            record["f1_class"] = class_names[1]
            line += f", of the class {class_names[1]}"
        print(line)
    return record


def run_fill(options: argparse.Namespace) -> None:
    """Print the guesses for each [MASK], one line per mask."""
    # A new head would guess noise.
    model, tokenizer = _load(options.model, "masked_token_head")
    for answers in fill(model, tokenizer, options.text, options.top):
        print("  ".join(f"{token.lstrip('▁')} {p:.3f}" for token, p in answers))


def run_inspect(options: argparse.Namespace) -> None:
    """Print what ``analysis.inspect`` says."""
    print(inspect(*interchange.load_pretrained(options.model), options.corpus))


def _load(name: str, *heads: interchange.Part) -> tuple[AlbertForPretraining, Tokenizer]:
    """Return a model and its tokenizer; these heads must be there, too."""
    model, tokenizer = interchange.load_pretrained(name, ("tokenizer", *heads))
    assert tokenizer is not None, "it is required"
    return model, tokenizer


def _stream(
    options: argparse.Namespace, corpus: TokenizedCorpus, tokenizer: AlbertTokenizer, seed: int
) -> PretrainingStream:
    return PretrainingStream(
        corpus,
        tokenizer,
        objective=options.objective,
        batch_size=options.batch_size,
        sequence_length=options.sequence_length,
        seed=seed,
    )


def _warmup_steps(options: argparse.Namespace) -> int:
    """The steps that were asked for, or a tenth of all."""
    return options.steps // 10 if options.warmup_steps is None else options.warmup_steps


def _bytes_of(model: nn.Module) -> int:
    """How much room the weights of a model take."""
    return sum(p.numel() * p.element_size() for p in model.parameters())
