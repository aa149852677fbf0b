"""What config fields and tensors are called by transformers and by the authors, and here.

The names of the tensors are a table, ``tensor_names.txt``. Used by ``folders`` and ``interchange``.
"""

import re
from importlib.resources import files

from torch import nn

from albert_edu.config import AlbertConfig

OURS = "albert_edu"  # model_type of the format of our own
FIELDS = {  # our field -> transformers' field; the first five must be in a config.json
    "vocab_size": "vocab_size",
    "hidden_size": "hidden_size",
    "num_layers": "num_hidden_layers",
    "num_heads": "num_attention_heads",
    "ffn_size": "intermediate_size",
    "max_positions": "max_position_embeddings",
    "num_segments": "type_vocab_size",
    "pad_id": "pad_token_id",
    "layer_norm_eps": "layer_norm_eps",
    "init_std": "initializer_range",
    "hidden_dropout": "hidden_dropout_prob",
    "attention_dropout": "attention_probs_dropout_prob",
}
DEFAULTS = {  # what transformers assumes, and we do not, when a config.json leaves a field out
    "albert": {
        "hidden_act": "gelu_new",
        "embedding_size": 128,
        "num_hidden_groups": 1,
        "inner_group_num": 1,
    },
    "bert": {"hidden_act": "gelu", "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1},
}
ACTIVATIONS = {"gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu_erf"}
SUPPORTED = {
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
    "tie_word_embeddings": True,
}


class InterchangeError(ValueError):
    """The model cannot be written in that format, or the folder cannot be read; it says why."""


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
    """Return the ``config.json`` of transformers for this shape, without ``architectures``.

    Its ``model_type`` is "bert" for the corner without factorisation and without sharing.
    """
    settings = {theirs: getattr(config, ours) for ours, theirs in FIELDS.items()}
    settings["hidden_act"] = {"gelu_tanh": "gelu_new", "gelu_erf": "gelu"}[config.activation]
    if not config.factorised and config.share == "none":
        return {"model_type": "bert", **settings}
    return {
        "model_type": "albert",
        **settings,
        "embedding_size": config.embedding_size,
        "num_hidden_groups": _groups(config),
        "inner_group_num": 1,
        "bos_token_id": 2,
        "eos_token_id": 3,
    }


def from_transformers(settings: dict) -> AlbertConfig:
    """Return our config for the fields of a ``config.json``.

    Fields that are left out take transformers' defaults. Raises InterchangeError for another kind
    of model, for sizes that cannot be, and for what our layers do not compute: relative positions,
    decoders, other activations.
    """
    kind = settings.get("model_type")
    if str(kind) not in DEFAULTS:
        raise InterchangeError(f"model_type {kind!r} is neither albert nor bert.")
    settings = DEFAULTS[kind] | settings
    sizes = list(FIELDS.values())[:5]
    if lacking := [theirs for theirs in sizes if settings.get(theirs) is None]:
        raise InterchangeError(f"config.json lacks {', '.join(lacking)}.")
    for field, value in SUPPORTED.items():
        if settings.get(field, value) not in (value, None):
            raise InterchangeError(f"{field} {settings[field]!r} is not supported, {value!r} is.")
    activation = settings["hidden_act"]
    if str(activation) not in ACTIVATIONS:
        raise InterchangeError(f"hidden_act {activation!r} is not one of {', '.join(ACTIVATIONS)}.")

    fields = {ours: settings[theirs] for ours, theirs in FIELDS.items() if theirs in settings}
    fields |= {"activation": ACTIVATIONS[activation], "pad_id": fields.get("pad_id") or 0}
    if kind == "bert":
        fields |= {"embedding_size": fields["hidden_size"], "share": "none"}
    else:
        layers, groups = fields["num_layers"], settings["num_hidden_groups"]
        inner = settings["inner_group_num"]
        if inner != 1:
            if groups != layers or not (isinstance(layers, int) and isinstance(inner, int)):
                raise InterchangeError(
                    f"inner_group_num {inner!r} with {groups} groups of {layers} layers: different "
                    f"layers that repeat as a unit have no counterpart here."
                )
            layers = groups = layers * inner  # Nothing repeats: each layer has its own.
        fields |= {"num_layers": layers, "num_groups": groups}
        fields["embedding_size"] = settings["embedding_size"]
    config = checked_config(fields)
    if reason := why_not_expressible(config):
        raise InterchangeError(f"this is another model in transformers than here: {reason}")
    # Where E == H, an unshared ALBERT stays "all" in L groups: "none" would make it a BERT, whose
    # tensors have other names.
    if config.factorised and 1 < config.num_groups == config.num_layers:
        return config.replace(share="none")
    return config


def checked_config(fields: dict) -> AlbertConfig:
    """Return AlbertConfig(**fields) for fields of a file, which may hold anything.

    Raises InterchangeError for fields that it has not, and for values that no model has.
    """
    try:
        return AlbertConfig(**fields)
    except (TypeError, ValueError) as error:
        raise InterchangeError(f"config.json describes no model: {error}") from error


def tensor_names(model: nn.Module, column: str, inner: int = 1) -> dict[str, str]:
    """Return our name -> its name in another format, for each parameter of a model.

    ``column`` is "albert", "bert", "tensorflow" (which ends in .weight or .bias too), or OURS.
    ``inner`` is a file's ``inner_group_num``. A tied parameter appears once.
    """
    names = {name: name for name, _ in model.named_parameters()}
    if column == OURS:
        return names
    table = _table(column)
    for name in names:
        module, kind = name.rsplit(".", 1)
        block = int((re.search(r"\.(\d+)\.", module) or "00")[1])
        theirs = table[re.sub(r"\.\d+\.", ".{block}.", module)]
        theirs = theirs.format(block=block, group=block // inner, inner=block % inner)
        names[name] = f"{theirs}.{kind}"
    return names


def _table(column: str) -> dict[str, str]:
    """Our module -> theirs, from one column of ``tensor_names.txt``."""
    lines = (files("albert_edu.model") / "tensor_names.txt").read_text().splitlines()
    header, layer, *rows = (line.split() for line in lines if not line.startswith("#"))
    place = header.index(column)
    return {row[0]: row[place].replace("LAYER", layer[place]) for row in rows}
