"""Read and write model folders in the format of ``transformers``, for ALBERT and BERT.

A folder holds ``config.json``, ``model.safetensors`` and the tokenizer's files. What that format
cannot say (sharing only one half of the layers) is refused, or written in a format of our own when
asked for. ``formats`` has the names, and ``folders`` opens the files.
"""

import dataclasses
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from albert_edu.config import AlbertConfig
from albert_edu.errors import blame, read_file, read_json
from albert_edu.model import folders, formats
from albert_edu.model.albert import Albert, AlbertForPretraining
from albert_edu.model.formats import OURS, InterchangeError, why_not_expressible
from albert_edu.model.task_heads import TASKS, AlbertForClassification, TaskModel
from albert_edu.text.hub_tokenizer import HubTokenizer
from albert_edu.text.tokenizer import AlbertTokenizer

Tokenizer = AlbertTokenizer | HubTokenizer
HEADS = ("masked_token_head.", "sentence_order_head.", "albert.pooler.")
NOT_OF_THE_SHAPE = (
    "model_type",
    "architectures",
    "classifier_dropout_prob",
    "classifier_dropout",
    "problem_type",
    "id2label",
    "label2id",
)
TOKENIZERS = {"spiece.model": AlbertTokenizer, **dict.fromkeys(HubTokenizer.FILES, HubTokenizer)}


def save_pretrained(
    model: AlbertForPretraining,
    tokenizer: Tokenizer | None,
    folder: str | Path,
    native: bool = False,
) -> None:
    """Write a folder that ``transformers`` loads as AlbertForPreTraining or BertForPreTraining.

    Where transformers has no such model an InterchangeError says why; ``native=True`` then writes
    our own layout instead: the same files, with our field and tensor names.
    """
    if (reason := why_not_expressible(model.config)) and not native:
        raise InterchangeError(f"transformers cannot express this model: {reason} Use native=True.")
    _write(model, tokenizer, Path(folder), "ForPreTraining", {})


def load_pretrained(
    folder: str | Path, optional: tuple[str, ...] = HEADS
) -> tuple[AlbertForPretraining, Tokenizer | None]:
    """Return model and tokenizer of a shipped model, a folder, or a Hub name (``model_folder``).

    Reads what we, transformers and the authors (as ``model.npz``) write. The tokenizer is None
    where the folder has none. ``optional`` heads that it lacks (the Hub's ALBERTs have no
    sentence-order head) start untrained; a warning names them, and another one the tensors that are
    not used. Raises InterchangeError where the folder cannot be used, and says why.
    """
    folder = folders.model_folder(folder)
    settings = folders.read_config(folder)
    config = _config(settings)
    model = _read(folder, settings, lambda: AlbertForPretraining(config), optional)
    tokenizer = _load_tokenizer(folder, config)
    model.vocabulary = tokenizer and tokenizer.fingerprint
    return model, tokenizer


def load_with_tokenizer(folder: str | Path, load: Callable = load_pretrained, **options) -> tuple:
    """Return what ``load`` returns: a model, its tokenizer, and for ``load_task_model`` its labels.

    ``options`` are further arguments of ``load``. Raises ValueError for a folder without tokenizer.
    """
    loaded = load(folder, **options)
    if loaded[1] is None:
        raise ValueError(f"{folder} has no tokenizer, so the rows of its table mean nothing.")
    return loaded


def save_task_model(
    model: TaskModel,
    tokenizer: Tokenizer | None,
    folder: str | Path,
    label_names: Sequence[str] | None = None,
) -> None:
    """Write a fine-tuned model for transformers' class with the same head (``TASKS``).

    Where transformers has no such encoder the layout is our own. ``label_names`` are the classes in
    the order of the logits. Of a span model transformers reports ``no_answer``, the score that
    there is no answer, and the pooler below it as unexpected, because its class has neither. Used
    in notebook 11.
    """
    kind = next(kind for kind, task in TASKS.items() if isinstance(model, task))
    fields = {"classifier_dropout_prob": model.dropout.p, "classifier_dropout": model.dropout.p}
    if isinstance(model, AlbertForClassification):
        outputs = model.head.out_features
        names = list(label_names or (f"LABEL_{i}" for i in range(outputs)))
        if len(names) != outputs:
            raise ValueError(f"{len(names)} label names for a head with {outputs} outputs.")
        fields["problem_type"] = "regression" if outputs == 1 else "single_label_classification"
        fields["id2label"] = {str(i): name for i, name in enumerate(names)}
        fields["label2id"] = {name: i for i, name in enumerate(names)}
    _write(model, tokenizer, Path(folder), kind, fields)


def load_task_model(folder: str | Path) -> tuple[TaskModel, Tokenizer | None, list[str] | None]:
    """Return a fine-tuned model, its tokenizer, and its classes' names (None without classes).

    Reads the folders of ``save_task_model``, and those of transformers with the same kinds of head.
    Raises InterchangeError for a folder without such a head.
    """
    folder = folders.model_folder(folder)
    settings = folders.read_config(folder)
    config, architecture = _config(settings), str(settings.get("architectures"))
    task = next((task for kind, task in TASKS.items() if kind in architecture), None)
    if task is None:
        raise InterchangeError(f"{folder} holds {architecture}, and none of {', '.join(TASKS)}.")
    labels, names = settings.get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"}, None
    dropout = settings.get("classifier_dropout_prob", settings.get("classifier_dropout")) or 0.0
    config.replace(hidden_dropout=dropout)  # The head's has the same limits.
    if task is AlbertForClassification:  # in the order of the logits
        with blame(f"id2label in {folder / 'config.json'}", InterchangeError):
            names = [str(labels[str(number)]) for number in range(len(labels))]
    sizes, optional = [len(names)] if names else [], ("head.none.", "albert.pooler.")
    model = _read(folder, settings, lambda: task(Albert(config), *sizes, dropout=dropout), optional)
    return model, _load_tokenizer(folder, config), names


def _write(
    model: nn.Module, tokenizer: Tokenizer | None, folder: Path, architecture: str, fields: dict
) -> None:
    """Write the files of a folder for transformers' Albert or Bert``architecture``.

    ``fields`` go into its config. Where transformers cannot express the encoder, fields and tensors
    keep our names.
    """
    config = model.albert.config
    settings = formats.to_transformers(config)
    family = "Bert" if settings["model_type"] == "bert" else "Albert"
    if why_not_expressible(config):
        settings = {"model_type": OURS, **dataclasses.asdict(config)}
    names, state = formats.tensor_names(model, settings["model_type"]), model.state_dict()
    tensors = {theirs: state[ours].detach().cpu().contiguous() for ours, theirs in names.items()}
    if settings["model_type"] == "albert" and not config.factorised:
        tensors |= folders.identity_projection(config)
    settings = {"architectures": [family + architecture], **settings, **fields}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(settings, indent=2) + "\n")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    if tokenizer is None:
        return
    tokenizer.save(folder)
    path = folder / "tokenizer_config.json"  # It also says how long a text the model takes.
    limits = {
        "model_max_length": config.max_positions,
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
    }
    path.write_text(json.dumps(json.loads(path.read_text()) | limits, indent=2) + "\n")


def _read(
    folder: Path, settings: dict, build: Callable[[], nn.Module], optional: tuple[str, ...]
) -> nn.Module:
    """Return ``build()`` with the weights of a folder whose config has the fields ``settings``."""
    with torch.device("meta"):  # Shapes without memory, so that nothing is built that does not fit.
        blueprint = build()
    weights = folders.read_weights(folder, settings, blueprint, optional)
    model = build()
    model.load_state_dict(weights, strict=False)
    return model


def _load_tokenizer(folder: Path, config: AlbertConfig) -> Tokenizer | None:
    file = next((file for file in TOKENIZERS if (folder / file).exists()), None)
    if file is None:
        return None
    tokenizer = read_file(
        folder / file, lambda path: TOKENIZERS[file].load(path.parent), InterchangeError
    )
    if file == "spiece.model" and (folder / "tokenizer_config.json").exists():
        kept = read_json(folder / "tokenizer_config.json", InterchangeError)
        if kept.get("do_lower_case") is False or kept.get("keep_accents"):
            warnings.warn(f"{folder} keeps capitals or accents; here they are lost.", stacklevel=3)
    if len(tokenizer) != config.vocab_size:
        message = (
            f"the tokenizer of {folder} has {len(tokenizer):,} tokens, its model "
            f"{config.vocab_size:,} rows for them."
        )
        if len(tokenizer) > config.vocab_size:
            raise InterchangeError(message)
        warnings.warn(message, stacklevel=3)
    return tokenizer


def _config(settings: dict) -> AlbertConfig:
    if settings.get("model_type") != OURS:
        return formats.from_transformers(settings)
    return formats.checked_config(
        {name: value for name, value in settings.items() if name not in NOT_OF_THE_SHAPE}
    )
