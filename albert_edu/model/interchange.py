"""Read and write model folders in the format of ``transformers``, for ALBERT and BERT.

A folder holds ``config.json``, ``model.safetensors`` and the tokenizer's files, as the released
ones do. ``formats`` translates names and fields.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from albert_edu.errors import InputError, errors_about, read_file, read_json
from albert_edu.model import formats
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.formats import InterchangeError
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
    model: AlbertForPretraining | TaskModel,
    tokenizer: Tokenizer | None,
    folder: str | Path,
    label_names: Sequence[str] = (),
) -> str:
    """Write a folder that ``transformers`` loads; return the class, such as "ForPreTraining".

    Its name begins with Albert, Bert or AutoModel. ``label_names`` are the classes in the order of
    the logits. Of a span model transformers reports ``no_answer`` and the pooler below it as
    unexpected, because its class has neither. Where transformers has no such model an
    InterchangeError says why.
    """
    folder, config, kind = Path(folder), model.albert.config, "ForPreTraining"
    settings = formats.to_transformers(config)
    if isinstance(model, TaskModel):
        outputs = 0 if isinstance(model, AlbertForSpan) else model.head.out_features
        heads = {0: "ForQuestionAnswering", 1: "ForMultipleChoice"}
        kind = heads.get(outputs, "ForSequenceClassification")
        settings["classifier_dropout_prob"] = settings["classifier_dropout"] = model.dropout.p
        if outputs > 1:
            if len(label_names) != outputs:
                raise InputError(f"{len(label_names)} label names for a head of {outputs} outputs.")
            settings["id2label"] = dict(enumerate(label_names))
            settings["label2id"] = {name: i for i, name in enumerate(label_names)}
    settings["architectures"] = [settings["model_type"].title() + kind]
    names, state = formats.tensor_names(model), model.state_dict()
    tensors = {theirs: state[ours].detach().cpu().contiguous() for ours, theirs in names.items()}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(settings, indent=2) + "\n")
    tensors |= formats.identity_projection(config)
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    if tokenizer:  # says how long a text the model takes
        inputs = ["input_ids", "token_type_ids", "attention_mask"]
        tokenizer.save(folder, model_max_length=config.max_positions, model_input_names=inputs)
    return kind


def load_pretrained(
    folder: str | Path, optional: tuple[str, ...] = (*HEADS, "tokenizer")
) -> tuple[AlbertForPretraining, Tokenizer | None]:
    """Return model and tokenizer of a shipped model, a folder, or a Hub name (``model_folder``).

    Reads what we and transformers write. Of what is ``optional``, heads that the folder lacks (the
    Hub's ALBERTs have no sentence-order head) start untrained, and a tokenizer is None; a warning
    names these heads, and another one the tensors that are not used. Raises InterchangeError where
    the folder cannot be used, TokenizerError or FileError where its tokenizer cannot.
    """
    folder = model_folder(folder)
    config = formats.from_transformers(read_json(folder / "config.json", InterchangeError))
    with torch.device("meta"):  # sizes that no file fills must not fill the memory
        blueprint = AlbertForPretraining(config)
    weights = formats.our_weights(folder, _read_tensors(folder), blueprint, optional)
    model = AlbertForPretraining(config)
    model.load_state_dict(weights, strict=False)
    tokenizer = load_tokenizer(folder, config.vocab_size)
    if tokenizer is None and "tokenizer" not in optional:
        raise InterchangeError(f"{folder} has no tokenizer, so the rows of its table mean nothing.")
    model.vocabulary = tokenizer and tokenizer.fingerprint
    return model, tokenizer


def model_folder(name: str | Path) -> Path:
    """Return the folder of a model, given a folder, the name of a shipped model, or a Hub name.

    ``huggingface_hub`` fetches a Hub name such as "albert/albert-base-v2" into its cache, where it
    is found again without a network. Raises InterchangeError for a name that is none of the three.
    """
    folder, name = Path(str(name)), str(name)
    if folder.exists():
        return folder
    if name in SHIPPED:
        return Path(__file__).parents[1] / "pretrained" / SHIPPED[name]
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=HUB_FILES))
    except Exception as error:  # a dozen kinds: its own, those of HTTP and of the network
        tried = f"{name} is no folder, no shipped model ({', '.join(SHIPPED)})"
        why = " ".join(str(error).split())  # an error may have several lines
        raise InterchangeError(f"{tried}, and none came from the Hub: {why}") from error


def _read_tensors(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of a folder, which are in one file or in shards."""
    shards = {WEIGHTS}
    if (folder / INDEX).exists() and not (folder / WEIGHTS).exists():
        with errors_about(folder / INDEX, InterchangeError):
            named = read_json(folder / INDEX, InterchangeError)["weight_map"].values()
            shards = {Path(str(shard)).name for shard in named}  # of this folder alone
    tensors = {}
    for shard in sorted(shards):
        tensors |= read_file(folder / shard, load_file, InterchangeError, CONVERT)
    return tensors
