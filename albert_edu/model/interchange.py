"""Read and write model folders in the format of ``transformers``, for ALBERT and BERT.

A folder holds ``config.json``, ``model.safetensors`` and the tokenizer's files, as the released
ones do. ``formats`` translates names and fields.
"""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from albert_edu.errors import blame, read_file, read_json
from albert_edu.model import formats
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.formats import InterchangeError, why_not_expressible
from albert_edu.model.task_heads import AlbertForSpan, TaskModel
from albert_edu.text.hub_tokenizer import load_tokenizer
from albert_edu.text.tasks import Tokenizer

HEADS = ("masked_token_head.", "sentence_order_head.", "albert.pooler.")
SHIPPED = {"laptop": "laptop/albert", "laptop-unshared": "laptop/unshared"}
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
CONVERT = (  # what transformers reads and we do not: pickles
    "Two lines of transformers write one: model = AutoModelForPreTraining.from_pretrained(FOLDER), "
    "or the class of its head, and model.save_pretrained(NEW). TensorFlow's files need version 4 "
    "of it, and from_tf=True."
)
HUB_FILES = ["*.json", "*.safetensors", "spiece.model", "vocab.txt"]


def save_pretrained(
    model: AlbertForPretraining, tokenizer: Tokenizer | None, folder: str | Path
) -> None:
    """Write a folder that ``transformers`` loads as AlbertForPreTraining or BertForPreTraining.

    Where transformers has no such model an InterchangeError says why.
    """
    _write(model, tokenizer, Path(folder), "ForPreTraining", {})


def load_pretrained(
    folder: str | Path, optional: tuple[str, ...] = HEADS
) -> tuple[AlbertForPretraining, Tokenizer | None]:
    """Return model and tokenizer of a shipped model, a folder, or a Hub name (``model_folder``).

    Reads what we and transformers write. The tokenizer is None where the folder has none.
    ``optional`` heads that it lacks (the Hub's ALBERTs have no sentence-order head) start
    untrained; a warning names them, and another one the tensors that are not used. Raises
    InterchangeError where the folder cannot be used, and says why.
    """
    folder = model_folder(folder)
    settings = read_json(folder / "config.json", InterchangeError)
    config = formats.from_transformers(settings)
    with torch.device("meta"):  # sizes that no file fills must not fill the memory
        blueprint = AlbertForPretraining(config)
    tensors = _read_tensors(folder)
    weights = formats.our_weights(folder, tensors, settings["model_type"], blueprint, optional)
    model = AlbertForPretraining(config)
    model.load_state_dict(weights, strict=False)
    tokenizer = load_tokenizer(folder, config.vocab_size)
    model.vocabulary = tokenizer and tokenizer.fingerprint
    return model, tokenizer


def load_with_tokenizer(
    folder: str | Path, optional: tuple[str, ...] = HEADS
) -> tuple[AlbertForPretraining, Tokenizer]:
    """Return what ``load_pretrained`` does. Raises ValueError for a folder without tokenizer."""
    model, tokenizer = load_pretrained(folder, optional)
    if tokenizer is None:
        raise ValueError(f"{folder} has no tokenizer, so the rows of its table mean nothing.")
    return model, tokenizer


def save_task_model(
    model: TaskModel,
    tokenizer: Tokenizer | None,
    folder: str | Path,
    label_names: Sequence[str] | None = None,
) -> str:
    """Write a fine-tuned model; return which of transformers' classes reads it.

    ``label_names`` are the classes in the order of the logits. Of a span model transformers reports
    ``no_answer`` and the pooler below it as unexpected, because its class has neither. Raises
    InterchangeError where transformers has no such encoder.
    """
    fields = {"classifier_dropout_prob": model.dropout.p, "classifier_dropout": model.dropout.p}
    outputs = 0 if isinstance(model, AlbertForSpan) else model.head.out_features
    heads = {0: "ForQuestionAnswering", 1: "ForMultipleChoice"}
    kind = heads.get(outputs, "ForSequenceClassification")
    if outputs > 1:
        names = list(label_names or (f"LABEL_{i}" for i in range(outputs)))
        if len(names) != outputs:
            raise ValueError(f"{len(names)} label names for a head with {outputs} outputs.")
        fields["id2label"] = {str(i): name for i, name in enumerate(names)}
        fields["label2id"] = {name: i for i, name in enumerate(names)}
    _write(model, tokenizer, Path(folder), kind, fields)
    return kind


def model_folder(name: str | Path) -> Path:
    """Return the folder of a model, given a folder, the name of a shipped model, or a Hub name.

    ``huggingface_hub`` fetches a Hub name such as "albert/albert-base-v2" into its cache, where it
    is found again without a network. Raises InterchangeError for a name that is none of the three.
    """
    folder, name = Path(str(name)), str(name)
    if folder.exists():
        return folder
    if name in SHIPPED:
        return Path(str(files("albert_edu"))) / "pretrained" / SHIPPED[name]
    from huggingface_hub import errors, snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=HUB_FILES))
    except Exception as error:  # a dozen kinds: its own, those of HTTP and of the network
        away = isinstance(error, errors.LocalEntryNotFoundError)
        reason = "the Hub is out of reach, and the cache lacks it." if away else error
        raise InterchangeError(
            f"{name} is no folder, no shipped model ({', '.join(SHIPPED)}), and no model of that "
            f"name came from the Hub: {reason}"
        ) from error


def _read_tensors(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of a folder, which are in one file or in shards."""
    shards = [WEIGHTS]
    if (folder / INDEX).exists() and not (folder / WEIGHTS).exists():
        with blame(folder / INDEX, InterchangeError):
            named = read_json(folder / INDEX, InterchangeError)["weight_map"].values()
            shards = sorted({Path(str(shard)).name for shard in named})  # of this folder alone
    elif not (folder / WEIGHTS).exists():
        found = ", ".join(sorted(path.name for path in folder.iterdir()))
        raise InterchangeError(f"{folder} has no {WEIGHTS} (found: {found}). {CONVERT}")
    tensors = {}
    for shard in shards:
        tensors |= read_file(folder / shard, load_file, InterchangeError, largest=None)
    return tensors


def _write(
    model: nn.Module, tokenizer: Tokenizer | None, folder: Path, kind: str, fields: dict
) -> None:
    """Write the files of a folder for transformers' class, such as BertForPreTraining.

    ``kind`` is the class's name after the family's, here "ForPreTraining". ``fields`` go
    into its config.
    """
    config = model.albert.config
    if reason := why_not_expressible(config):
        raise InterchangeError(f"transformers cannot express this model: {reason}")
    settings = formats.to_transformers(config)
    family = "Bert" if settings["model_type"] == "bert" else "Albert"
    names, state = formats.tensor_names(model, settings["model_type"]), model.state_dict()
    tensors = {theirs: state[ours].detach().cpu().contiguous() for ours, theirs in names.items()}
    if settings["model_type"] == "albert" and not config.factorised:
        tensors |= formats.identity_projection(config)
    settings = {"architectures": [family + kind], **settings, **fields}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(settings, indent=2) + "\n")
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    if tokenizer:
        tokenizer.save(folder)
        path = folder / "tokenizer_config.json"  # It also says how long a text the model takes.
        limits = {
            "model_max_length": config.max_positions,
            "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
        }
        path.write_text(json.dumps(json.loads(path.read_text()) | limits, indent=2) + "\n")
