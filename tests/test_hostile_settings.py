"""Settings, texts and ids that cannot be: the error has the name, the value and what is allowed.

They are checked by the classes as users have them, without the type checks of the test suite, which would speak first.
"""

import importlib.util
import re
from functools import partial
from math import inf, nan
from pathlib import Path

import pytest
import torch

import albert_edu
from albert_edu.analysis.counting import flops_per_token
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.sentences import split_sentences
from albert_edu.text.stories import stories
from albert_edu.training.metrics import label_scores
from albert_edu.training.settings import TrainSettings, learning_rate

SHAPE = dict(embedding_size=8, hidden_size=16, num_layers=2, num_heads=2, max_positions=32)
LIBRARY = Path(albert_edu.__file__).parent


def unchecked(module: str):
    """The module as users have it."""
    spec = importlib.util.spec_from_file_location(
        f"unchecked_{Path(module).name}", LIBRARY / f"{module}.py"
    )
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


STREAM = unchecked("text/batches").PretrainingStream
SETTINGS = {
    unchecked("config").AlbertConfig: {
        "hidden_dropout": (1.0, -0.1, nan, None),
        "attention_dropout": (-0.1, "0.1"),
        "init_std": (0.0, -0.02),
        "layer_norm_eps": (-1, nan, "1e-12", None),
        "pad_id": (-1, "a", 30_000),
        "share": ("layers", None),
        "activation": ("relu", None),
        "vocab_size": (0, 2.0, "4", True, 10**9),
    },
    partial(unchecked("training/settings").TrainSettings, steps=10): {
        "steps": (2.5, -1, "10", nan),
        "learning_rate": (nan, inf, -1, "1e-3"),
        "warmup_steps": (-1, 11),
        "optimizer": ("sgd",),
        "precision": ("float16",),
        "compile": ("yes",),
        "weight_decay": (-1, nan),
        "seed": (-1, 1.5),
        "clip_norm": (-1.0, nan),
        "accumulate": (0, 10**9),
        "log_every": (-1,),
    },
    partial(unchecked("training/finetune").finetune, None, None, None): {"batch_size": (0, 2.0)},
    partial(STREAM, None, None): {
        "negatives": ("friends",),
        "batch_size": (0, 1, 10**6 + 1),
        "sequence_length": (0, 8193, 70_000),
        "seed": (-1, 2**40 + 1),
        "skip": (-1,),
        "short_probability": (7.0, nan),
    },
    stories: {
        "num_documents": (0, 10**6 + 1),
        "num_scripts": (0, 10**8),
        "topic_strength": (1.1, nan),
        "order_strength": (-0.1,),
        "topic_nouns": (-1,),
        "seed": (-1, 2**32 + 1),
    },
    partial(unchecked("training/lamb").Lamb, [], lr=0.1): {
        "lr": (-0.1, nan, "x"),
        "eps": (-1.0,),
        "weight_decay": (-1.0,),
    },
    partial(unchecked("text/corpora").hold_out, None): {"fraction": (-0.1, nan, None)},
    partial(unchecked("text/prepare").prepare, "stories"): {"vocab_size": ("9", 65_537)},
    partial(STREAM.batch, None): {"step": (-1, 1.5, 2**40 + 1)},
    unchecked("text/sentences").split_sentences: {"text": (None, 3, b"text")},
    partial(unchecked("text/tokenizer").AlbertTokenizer.encode, None): {"text": (None, 3)},
    partial(flops_per_token, AlbertConfig()): {"sequence_length": (-1,)},
}


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        (kind, field, value)
        for kind in SETTINGS
        for field, values in SETTINGS[kind].items()
        for value in values
    ],
    ids=lambda part: getattr(getattr(part, "func", part), "__name__", repr(part)),
)
def test_a_setting_that_cannot_be_is_refused_with_its_name_and_value(kind, field, value):
    with pytest.raises(ValueError, match=rf"{field} must be .* got {re.escape(repr(value))}\.$"):
        kind(**{field: value})


@pytest.mark.parametrize("text", ["half \ud83d a pair", "\udc80", "\ud800"])
def test_half_of_a_pair_of_surrogates_is_refused_wherever_text_is_read(text, story_text):
    for read in (story_text.tokenizer.encode, split_sentences):
        with pytest.raises(ValueError, match=r"position .* surrogates not allowed"):
            read(text)


@pytest.mark.parametrize("text", [None, 3, b"[MASK]", ["[MASK]"]])
def test_what_is_no_text_has_no_gaps(text, story_text):
    model = AlbertForPretraining(AlbertConfig(vocab_size=len(story_text.tokenizer), **SHAPE))
    said = rf"a text must be a str, got {re.escape(repr(text))}\."
    with pytest.raises(ValueError, match=said):
        unchecked("analysis/inspect").fill(model, story_text.tokenizer, text)


@pytest.mark.parametrize("ids", [[[0, 190]], [[-1]]])
def test_ids_that_the_tables_do_not_have_are_refused_with_their_sizes(ids):
    model = unchecked("model/albert").Albert(AlbertConfig(vocab_size=190, **SHAPE))
    with pytest.raises(
        ValueError, match=r"ids must be \[B,S\], of tokens below 190, of segments below 2 \(.*index"
    ):
        model(torch.tensor(ids))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"token_ids": torch.zeros(2, 4)}, r"token_ids must be whole numbers, .* torch\.float32"),
        ({"segment_ids": torch.zeros(2, 4)}, "segment_ids must be whole numbers"),
        ({"segment_ids": torch.zeros(1, 4).long()}, r"segment_ids must be \[2, 4\] .* \[1, 4\]"),
        ({"attention_mask": torch.ones(2, 1).long()}, r"mask must be \[2, 4\] .* \[2, 1\]"),
        ({"attention_mask": torch.zeros(2, 4)}, r"1 on tokens and 0 on padding, .* torch\.float32"),
    ],
)
def test_parts_of_a_batch_that_do_not_fit_are_told_apart(parts, said):
    model = unchecked("model/albert").Albert(AlbertConfig(vocab_size=190, **SHAPE))
    with pytest.raises(ValueError, match=said):
        model(**{"token_ids": torch.ones(2, 4).long()} | parts)


@pytest.mark.parametrize("batches", [0, -3, 1.5, True])
@pytest.mark.parametrize(
    ("module", "measure"), [("training/evaluate", "evaluate"), ("analysis/health", "health")]
)
def test_nothing_is_measured_on_no_batch(story_text, module, measure, batches):
    model = AlbertForPretraining(AlbertConfig(vocab_size=len(story_text.tokenizer), **SHAPE))
    stream = PretrainingStream(story_text.train, story_text.tokenizer, "sop", 2, 32)
    with pytest.raises(ValueError, match=rf"batches must be a whole .* got {batches}"):
        getattr(unchecked(module), measure)(model, stream, batches)


def test_numbers_that_no_run_has_are_refused():
    with pytest.raises(ValueError, match="num_layers must be a whole number from 1"):
        unchecked("model/sharing").layer_plan(0, "all")
    with pytest.raises(ValueError, match="step must be a whole number from 0 to 9, got 10"):
        learning_rate(10, TrainSettings(10))
    counting = unchecked("analysis/counting")
    config = AlbertConfig.named("albert-base-v2")
    with pytest.raises(ValueError, match="batch_size must be a whole number"):
        counting.training_memory(config, -1, 512, 77)
    with pytest.raises(ValueError, match="max_predictions must be a whole number from 0 to 512"):
        counting.training_memory(config, 1, 512, 513)
    with pytest.raises(ValueError, match="masked_rate must be a number from 0 to 1, got nan"):
        counting.flops_per_token(config, 512, nan)


def test_a_head_of_ones_own_is_told_what_it_must_give():
    for predictions in (torch.zeros(6, 2), torch.zeros(6)):
        with pytest.raises(ValueError, match="a head's predict must give labels"):
            label_scores(predictions, torch.tensor([0, 1] * 3))
