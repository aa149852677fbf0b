"""Read and write model folders in the format of ``transformers``, for ALBERT and BERT.

A folder holds ``config.json``, ``model.safetensors`` and the tokenizer's files, as the released
ones do. ``formats`` translates fields, ``weights`` names.
"""

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal, get_args

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from albert_edu.config import check_one_of
from albert_edu.errors import InputError, errors_about, read_file, read_json
from albert_edu.model import formats
from albert_edu.model.albert import AlbertForPretraining, check_tokenizer
from albert_edu.model.formats import InterchangeError
from albert_edu.model.task_heads import AlbertForSpan, TaskModel
from albert_edu.model.weights import identity_projection, our_weights, tensor_names
from albert_edu.names import did_you_mean, is_meant_for_here, warn_of_namesake
from albert_edu.text.hub_tokenizer import Tokenizer, load_tokenizer

Part = Literal["masked_token_head", "sentence_order_head", "pooler", "tokenizer"]
PRETRAINED = Path(__file__).parents[1] / "pretrained"
SHIPPED_MODELS = {  # name -> folder
    "laptop": PRETRAINED / "laptop" / "albert",
    "laptop-unshared": PRETRAINED / "laptop" / "unshared",
}
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
CONVERT = (  # what transformers reads and we do not: pickles
    "Two lines of transformers write one: model = AutoModelForPreTraining.from_pretrained(FOLDER), "
    "or the class of its head, and model.save_pretrained(NEW). TensorFlow's files need version 4 "
    "of it, and from_tf=True."
)
TOKENIZER_FILES = (
    "spiece.model",
    "tokenizer.json",
    "vocab.txt",
    "special_tokens_map.json",
    "added_tokens.json",
)
HUB_FILES = ["*.json", "*.safetensors", "spiece.model", "vocab.txt"]


def save_pretrained(
    model: AlbertForPretraining | TaskModel,
    tokenizer: Tokenizer | None,
    folder: str | Path,
    label_names: Sequence[str] = (),
) -> str:
    """Write a folder that ``transformers`` loads; return how its class ends, "ForPreTraining".

    The name of the class begins with Albert, Bert or AutoModel. ``label_names`` are the classes in
    the order of the logits; where they are not as many, an InputError is raised. Of a span model
    transformers reports ``no_answer`` and the pooler below it as unexpected, because its class has
    neither. A model that the folder held before is replaced, and its tokenizer with it. Where
    transformers has no such model an InterchangeError says why. Raises InputError for a tokenizer
    whose ids mean other tokens to the model, and for none where the folder keeps an old one.
    """
    folder = Path(folder)
    if tokenizer:
        check_tokenizer(model.albert, tokenizer)
    config = model.albert.config
    settings = formats.to_transformers(config)
    kind = class_of_head(model)
    if isinstance(model, TaskModel):
        settings |= _head_settings(model, label_names)
    settings["architectures"] = [settings["model_type"].title() + kind]
    state = model.state_dict()
    tensors = {
        theirs: state[ours].detach().cpu().contiguous()
        for ours, theirs in tensor_names(model).items()
    }
    tensors |= identity_projection(config)
    _make_room_for_tokenizer(folder, tokenizer)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(settings, indent=2) + "\n")
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    if tokenizer:  # says how long a text the model takes
        inputs = ["input_ids", "token_type_ids", "attention_mask"]
        tokenizer.save(folder, model_max_length=config.max_positions, model_input_names=inputs)
    return kind


def _make_room_for_tokenizer(folder: Path, tokenizer: Tokenizer | None) -> None:
    """Take the tokenizer of the model that a folder held before away: it would be read first.

    Raises InputError where no other takes its place: it would be taken for the new model's.
    """
    if not (folder / "config.json").exists():
        return
    old = [folder / name for name in TOKENIZER_FILES if (folder / name).exists()]
    if old and tokenizer is None:
        raise InputError(
            f"{folder} has the tokenizer of a model ({old[0].name}): give this model's own, or "
            "another folder."
        )
    for file in old:
        file.unlink()


def class_of_head(model: AlbertForPretraining | TaskModel) -> str:
    """Return the end of the name of transformers' class for a model with such a head."""
    if isinstance(model, AlbertForPretraining):
        return "ForPreTraining"
    if isinstance(model, AlbertForSpan):
        return "ForQuestionAnswering"
    if model.head.out_features == 1:
        return "ForMultipleChoice"
    return "ForSequenceClassification"


def _head_settings(model: TaskModel, label_names: Sequence[str]) -> dict:
    """Return what a task head adds to config.json: its dropout, and the names of its classes."""
    dropout = model.dropout.p
    settings: dict = {"classifier_dropout_prob": dropout, "classifier_dropout": dropout}
    if class_of_head(model) == "ForSequenceClassification":
        classes = model.head.out_features
        if len(label_names) != classes:
            raise InputError(f"{len(label_names)} label names for a head of {classes} outputs.")
        settings["id2label"] = dict(enumerate(label_names))
        settings["label2id"] = {name: i for i, name in enumerate(label_names)}
    return settings


def load_pretrained(
    folder: str | Path, required: Collection[Part] = ()
) -> tuple[AlbertForPretraining, Tokenizer | None]:
    """Return model and tokenizer of a shipped model, a folder, or a Hub name (``model_folder``).

    Reads what we and transformers write. Heads that the folder lacks (the Hub's ALBERTs have no
    sentence-order head) start untrained, and a missing tokenizer is None, unless they are
    ``required``; a warning names these heads, and another one the tensors that are not used. Raises
    InterchangeError where the folder cannot be used, TokenizerError or FileError where its
    tokenizer cannot.
    """
    for part in required:
        check_one_of("required", part, get_args(Part))
    folder = model_folder(folder)
    config = formats.from_transformers(read_json(folder / "config.json", InterchangeError))
    with torch.device("meta"):  # sizes that no file fills must not fill the memory
        blueprint = AlbertForPretraining(config)
    weights = our_weights(folder, _read_tensors(folder), blueprint, required)
    model = AlbertForPretraining(config)
    model.load_state_dict(weights, strict=False)
    tokenizer = load_tokenizer(folder, config.vocab_size)
    if tokenizer is None and "tokenizer" in required:
        raise InterchangeError(f"{folder} has no tokenizer, so the rows of its table mean nothing.")
    model.albert.tokenizer_fingerprint = tokenizer.fingerprint if tokenizer else None
    return model, tokenizer


def model_folder(name: str | Path) -> Path:
    """Return the folder of a model, given the name of a shipped model, a folder, or a Hub name.

    Where a folder is called as a shipped model, the shipped one is taken, and said.
    ``huggingface_hub`` fetches a Hub name such as "albert/albert-base-v2" into its cache, where it
    is found again without a network. Raises InterchangeError for a name that is none of the three.
    """
    name = str(name)
    if name in SHIPPED_MODELS:
        warn_of_namesake(name, "a model")
        return SHIPPED_MODELS[name]
    if Path(name).exists():
        return Path(name)
    unknown = f"{name} is no folder, no shipped model ({', '.join(SHIPPED_MODELS)})"
    if is_meant_for_here(name, SHIPPED_MODELS):
        raise InterchangeError(f"{unknown}.{did_you_mean(name, SHIPPED_MODELS)}")
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=HUB_FILES))
    except Exception as error:  # a dozen kinds: its own, those of HTTP and of the network
        why = " ".join(str(error).split())  # an error may have several lines
        raise InterchangeError(f"{unknown}, and none came from the Hub: {why}") from error


def _read_tensors(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of a folder, which are in one file or in shards."""
    tensors: dict[str, Tensor] = {}
    for file in _weight_files(folder):
        tensors |= read_file(file, load_file, InterchangeError, CONVERT)
    return tensors


def _weight_files(folder: Path) -> list[Path]:
    """Return the one file of a folder's weights, or the shards that its index names."""
    whole = folder / WEIGHTS
    index = folder / INDEX
    if whole.exists() or not index.exists():
        return [whole]
    with errors_about(index, InterchangeError):
        named = read_json(index, InterchangeError)["weight_map"].values()
        shards = {Path(str(shard)).name for shard in named}  # of this folder alone
    return [folder / shard for shard in sorted(shards)]
