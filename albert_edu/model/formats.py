"""What config fields and tensors are called by transformers and by the authors, and here.

The names of the tensors are a table, ``tensor_names.txt``. Used by ``interchange``.
"""

import dataclasses
import re
from functools import cache
from importlib.resources import files

import torch
from torch import nn

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining

OURS = "albert_edu"  # model_type of the format of our own
SIZES = {  # our field -> transformers' field
    "vocab_size": "vocab_size", "hidden_size": "hidden_size", "num_layers": "num_hidden_layers",
    "num_heads": "num_attention_heads", "ffn_size": "intermediate_size",
}  # fmt: skip
OPTIONAL_SIZES = {
    "max_positions": "max_position_embeddings", "num_segments": "type_vocab_size",
    "pad_id": "pad_token_id",
}  # fmt: skip
REALS = {
    "hidden_dropout": "hidden_dropout_prob", "attention_dropout": "attention_probs_dropout_prob",
    "layer_norm_eps": "layer_norm_eps", "init_std": "initializer_range",
}  # fmt: skip
FIELDS = SIZES | OPTIONAL_SIZES | REALS
ACTIVATIONS = {"gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu_erf"}
SUPPORTED = {
    "position_embedding_type": "absolute", "is_decoder": False, "add_cross_attention": False,
}  # fmt: skip
LAYER = {  # what LAYER stands for in the table
    "albert": "albert.encoder.albert_layer_groups.{group}.albert_layers.{inner}",
    "bert": "bert.encoder.layer.{block}",
    "tensorflow": "bert/encoder/transformer/group_{group}/inner_group_{inner}",
}


class InterchangeError(ValueError):
    """The model cannot be written in that format, or the folder cannot be read; it says why."""


def is_bert(config: AlbertConfig) -> bool:
    """Return whether this is BERT: the corner without factorisation and without sharing."""
    return not config.factorised and config.share == "none"


def why_not_expressible(config: AlbertConfig) -> str | None:
    """Return why ``transformers`` has no such model, or None when it has (notebook 04)."""
    if config.share in ("attention", "ffn"):
        return f"its ALBERT shares whole layers, here only the {config.share} blocks are shared."
    L, G = config.num_layers, _groups(config)
    if [int(i / (L / G)) for i in range(L)] == [i * G // L for i in range(L)]:
        return None
    return (
        f"for {L} layers in {G} groups its float arithmetic puts some layers in another group "
        f"than integers do."
    )


def _groups(config: AlbertConfig) -> int:
    return config.num_layers if config.share == "none" else config.num_groups


def to_transformers(config: AlbertConfig) -> dict:
    """Return the ``config.json`` of transformers for this shape, without ``architectures``."""
    settings = {theirs: getattr(config, ours) for ours, theirs in FIELDS.items()}
    settings["hidden_act"] = {"gelu_tanh": "gelu_new", "gelu_erf": "gelu"}[config.activation]
    if is_bert(config):
        return {"model_type": "bert", **settings}
    return {
        "model_type": "albert", **settings, "embedding_size": config.embedding_size,
        "num_hidden_groups": _groups(config), "inner_group_num": 1,
        "bos_token_id": 2, "eos_token_id": 3,
    }  # fmt: skip


def from_transformers(settings: dict) -> AlbertConfig:
    """Return our config for the fields of a ``config.json``.

    Fields that are left out take transformers' defaults. Raises InterchangeError for another kind
    of model, for sizes that cannot be, and for what our layers do not compute: relative positions,
    decoders, other activations.
    """
    kind = settings.get("model_type")
    if kind not in ("albert", "bert"):
        raise InterchangeError(f"model_type {kind!r} is neither albert nor bert.")
    if lacking := [theirs for theirs in SIZES.values() if settings.get(theirs) is None]:
        raise InterchangeError(f"config.json lacks {', '.join(lacking)}.")
    for field, value in SUPPORTED.items():
        if settings.get(field, value) not in (value, None):
            raise InterchangeError(f"{field} {settings[field]!r} is not supported, {value!r} is.")
    activation = settings.get("hidden_act", "gelu_new" if kind == "albert" else "gelu")
    if str(activation) not in ACTIVATIONS:
        raise InterchangeError(f"hidden_act {activation!r} is not one of {', '.join(ACTIVATIONS)}.")

    dropout = 0.0 if kind == "albert" else 0.1
    fields = {"hidden_dropout": dropout, "attention_dropout": dropout}
    fields |= {ours: settings[theirs] for ours, theirs in FIELDS.items() if theirs in settings}
    fields["pad_id"] = fields.get("pad_id") or 0
    layers, groups, inner = fields["num_layers"], fields["num_layers"], 1
    fields["embedding_size"] = fields["hidden_size"]
    if kind == "albert":
        fields["embedding_size"] = settings.get("embedding_size", 128)
        groups, inner = settings.get("num_hidden_groups", 1), settings.get("inner_group_num", 1)
    if inner != 1:
        if groups != layers or not (isinstance(layers, int) and isinstance(inner, int)):
            raise InterchangeError(
                f"inner_group_num {inner!r} with {groups} groups of {layers} layers: different "
                f"layers that repeat as a unit have no counterpart here."
            )
        groups = fields["num_layers"] = layers * inner  # Nothing repeats: each layer has its own.
    config = checked_config(fields | {"activation": ACTIVATIONS[activation], "num_groups": groups})
    if reason := why_not_expressible(config):
        raise InterchangeError(f"this is another model in transformers than here: {reason}")
    # Where E == H, an unshared ALBERT stays "all" in L groups: "none" would make it a BERT, whose
    # tensors have other names.
    if groups == config.num_layers and (kind == "bert" or (config.factorised and groups > 1)):
        return config.replace(share="none", num_groups=1)
    return config


def checked_config(fields: dict) -> AlbertConfig:
    """Return AlbertConfig(**fields) for fields of a file, which may hold anything.

    Raises InterchangeError for fields that it has not, and for values that no model has.
    """
    if unknown := fields.keys() - {field.name for field in dataclasses.fields(AlbertConfig)}:
        raise InterchangeError(f"config.json has unknown fields: {', '.join(sorted(unknown))}.")
    try:
        reals = {name: float(fields[name]) for name in REALS if name in fields}
        return AlbertConfig(**fields | reals)
    except (TypeError, ValueError) as error:
        raise InterchangeError(f"config.json describes no model: {error}") from error


def parameter_shapes(model: nn.Module) -> dict[str, tuple[int, ...]]:
    """Return name -> shape of every parameter; a tied parameter appears once."""
    return {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}


def tensor_names(config: AlbertConfig, column: str | None = None, inner: int = 1) -> dict[str, str]:
    """Return our name -> the name in another format, for each parameter of AlbertForPretraining.

    ``column`` is "albert", "bert" or "tensorflow" (which ends in .weight or .bias too); when it is
    left out, the class of transformers that fits. ``inner`` is a file's ``inner_group_num``.
    """
    table = _table(column or ("bert" if is_bert(config) else "albert"))
    with torch.device("meta"):
        parameters = parameter_shapes(AlbertForPretraining(config))
    names = {}
    for name in parameters:
        module, kind = name.rsplit(".", 1)
        block = int((re.search(r"\.(\d+)\.", module) or [0, 0])[1])
        theirs = table[re.sub(r"\.\d+\.", ".{block}.", module)]
        theirs = theirs.format(block=block, group=block // inner, inner=block % inner)
        names[name] = f"{theirs}.{kind}"
    return names


@cache
def _table(column: str) -> dict[str, str]:
    """Our module -> theirs, from one column of ``tensor_names.txt``."""
    lines = (files("albert_edu.model") / "tensor_names.txt").read_text().splitlines()
    header, *rows = (line.split() for line in lines if not line.startswith("#"))
    place = header.index(column)
    return {row[0]: row[place].replace("LAYER", LAYER[column]) for row in rows}
