"""The reader's own model goes along: notebook 00 keeps it, and later ones meet it again.

It lies in the cache folder of the library (``cache_folder``). Where there is none, it is trained as
in notebook 00, which takes about half a minute.
"""

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import torch

from albert_edu.config import AlbertConfig
from albert_edu.errors import CourseError
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import load_pretrained, save_pretrained
from albert_edu.output import write_whole
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.corpora import hold_out, load_corpus
from albert_edu.text.prepare import cache_folder
from albert_edu.text.stories import spelling_lesson
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import AlbertTokenizer
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings

# How notebook 00 trains, where the reader sees it; a test compares the two.
VOCABULARY = 190
LENGTH = 64  # tokens of a row
STEPS = 500
RATE = 2e-3
SPLIT: Any = {"fraction": 0.2, "by": "script"}  # of the stories: what the model never sees


class OwnModel(NamedTuple):
    """A model, its tokenizer, and batches of stories whose scripts it has not seen."""

    model: AlbertForPretraining
    tokenizer: AlbertTokenizer
    unseen: PretrainingStream


def keep_model(model: AlbertForPretraining, tokenizer: AlbertTokenizer) -> None:
    """Keep a model for the later notebooks, in the place of the one that was kept before."""
    write_whole(model_place(), lambda folder: save_pretrained(model, tokenizer, folder))


def my_model() -> OwnModel:
    """Return the model that was kept, or train one as notebook 00 does, and keep it.

    A folder that cannot be read is replaced, and a warning says why.
    """
    _, unseen = hold_out(load_corpus("stories"), **SPLIT)
    model, tokenizer = _kept() or _trained()
    length = min(LENGTH, model.config.max_positions)
    text = TokenizedCorpus.encode(unseen, tokenizer)
    return OwnModel(model, tokenizer, PretrainingStream(text, tokenizer, "sop", 64, length, seed=1))


def my_lessons(tokenizer: AlbertTokenizer) -> PretrainingStream:
    """Return the batches of stories that notebook 00 trains on."""
    train, _ = hold_out(load_corpus("stories"), **SPLIT)
    text = TokenizedCorpus.encode(train, tokenizer)
    return PretrainingStream(text, tokenizer, "sop", batch_size=32, sequence_length=LENGTH)


def model_place() -> Path:
    """Return the folder in which the model is kept."""
    return cache_folder() / "my_model"


def _kept() -> tuple[AlbertForPretraining, AlbertTokenizer] | None:
    """Return the model that was kept and its tokenizer, or None where there is none."""
    if not (model_place() / "config.json").exists():
        return None
    try:
        model, tokenizer = load_pretrained(model_place(), ["masked_token_head", "tokenizer"])
    except CourseError as error:
        warnings.warn(f"the model that was kept cannot be read ({error})", stacklevel=3)
        return None
    return (model.eval(), tokenizer) if isinstance(tokenizer, AlbertTokenizer) else None


def _trained() -> tuple[AlbertForPretraining, AlbertTokenizer]:
    """Train a model on the stories as notebook 00 does, keep it and return it."""
    print("No model of yours is kept here, so one is trained now, as in notebook 00.", flush=True)
    stories, _ = hold_out(load_corpus("stories"), **SPLIT)
    lines = [sentence for story in stories["sentences"] for sentence in story]
    tokenizer = AlbertTokenizer.train(lines + spelling_lesson(), vocab_size=VOCABULARY)
    sizes = {"vocab_size": len(tokenizer), "max_positions": LENGTH}
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        model = AlbertForPretraining(AlbertConfig.named("albert-tiny", **sizes))
    settings = TrainSettings(STEPS, learning_rate=RATE, warmup_steps=STEPS // 10)
    # On the CPU, where load_pretrained puts a kept model, too.
    pretrain(model, my_lessons(tokenizer), settings, device="cpu", describe=None)
    model.eval()
    keep_model(model, tokenizer)
    return model, tokenizer
