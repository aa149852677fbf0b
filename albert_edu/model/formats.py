"""Config fields and tensors as ``transformers`` has them, and as they are here.

Nothing that comes from a file is trusted. The tensors' names are a table, ``tensor_names.txt``;
``interchange`` opens the folders.
"""

import re
import warnings
from collections.abc import Collection
from pathlib import Path

import torch
from torch import Tensor

from albert_edu.config import AlbertConfig, check_one_of, check_whole
from albert_edu.errors import CourseError, errors_about
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.task_heads import TaskModel

FIELDS = {  # our field -> transformers' field
    "vocab_size": "vocab_size",
    "hidden_size": "hidden_size",
    "num_layers": "num_hidden_layers",
    "num_heads": "num_attention_heads",
    "ffn_size": "intermediate_size",
    "max_positions": "max_position_embeddings",
    "num_segments": "type_vocab_size",
    "embedding_size": "embedding_size",
    "num_groups": "num_hidden_groups",
    "pad_id": "pad_token_id",
    "layer_norm_eps": "layer_norm_eps",
    "init_std": "initializer_range",
    "hidden_dropout": "hidden_dropout_prob",
    "attention_dropout": "attention_probs_dropout_prob",
}
SIZES = (  # fields that a config.json must have
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
)
DEFAULTS = {  # what transformers assumes, and we do not, when a config.json leaves a field out
    "albert": {"hidden_act": "gelu_new", "embedding_size": 128, "num_hidden_groups": 1},
    "bert": {"hidden_act": "gelu", "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1},
}
ACTIVATIONS = {"gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu_erf"}
SUPPORTED: dict[str, tuple] = {  # fields that change what a model computes, and the values of ours
    "model_type": ("albert", "bert"),
    "inner_group_num": (1, None),
    "position_embedding_type": ("absolute", None),
    "tie_word_embeddings": (True, None),
    "pruned_heads": ({}, None),
    "is_decoder": (False, None),
    "is_encoder_decoder": (False, None),
    "add_cross_attention": (False, None),
    "quantization_config": (None,),
    "auto_map": (None,),
}
# Quantised weights mean nothing without their scales.
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
WORD = "albert.embeddings.word.weight"
DECODER_BIAS = "masked_token_head.decoder.bias"
OPTIONAL_HEADS = {  # what a folder may lack, and how the names of its parameters begin
    "masked_token_head": "masked_token_head.",
    "sentence_order_head": "sentence_order_head.",
    "pooler": "albert.pooler.",
}


class InterchangeError(CourseError, ValueError):
    """The model cannot be written in that format, or the folder cannot be read; it says why."""


def to_transformers(config: AlbertConfig) -> dict:
    """Return the ``config.json`` of transformers for this shape, without ``architectures``.

    Its ``model_type`` is "bert" for the corner without factorisation and without sharing. Raises
    InterchangeError where ``transformers`` has no such model.
    """
    if config.share in ("attention", "ffn"):
        raise InterchangeError(f"transformers shares whole layers, not {config.share} alone.")
    settings = {theirs: getattr(config, ours) for ours, theirs in FIELDS.items()}
    settings["hidden_act"] = {"gelu_tanh": "gelu_new", "gelu_erf": "gelu"}[config.activation]
    if not config.has_projection and config.share == "none":
        del settings["embedding_size"]
        del settings["num_hidden_groups"]
        return {"model_type": "bert", **settings}
    L = config.num_layers
    G = L if config.share == "none" else config.num_groups
    our_groups = [i * G // L for i in range(L)]
    their_groups = [int(i / (L / G)) for i in range(L)]
    if our_groups != their_groups:
        raise InterchangeError(f"transformers, with floats, cuts {L} layers into {G} other groups.")
    settings["num_hidden_groups"] = G
    return {"model_type": "albert", **settings}


def from_transformers(settings: dict) -> AlbertConfig:
    """Return our config for the fields of a ``config.json``.

    Fields that are left out take transformers' defaults. Raises InterchangeError for another kind
    of model, for sizes that cannot be, and for what our layers do not compute: relative positions,
    decoders, other activations, layers that repeat as a unit.
    """
    with errors_about("config.json", InterchangeError, "It must describe an ALBERT or a BERT."):
        for field, values in SUPPORTED.items():
            check_one_of(field, settings.get(field), values)
        for size in SIZES:
            check_whole(size, settings.get(size), 1, 10_000_000)
        return _our_config(settings)


def _our_config(settings: dict) -> AlbertConfig:
    """Return our config for fields that have been checked to be those of an ALBERT or a BERT."""
    kind = settings["model_type"]
    said = DEFAULTS[kind] | settings
    fields = {ours: said[theirs] for ours, theirs in FIELDS.items() if theirs in said}
    activation = said["hidden_act"]
    fields["activation"] = ACTIVATIONS.get(str(activation), activation)
    fields["pad_id"] = fields.get("pad_id") or 0  # it may be null
    if kind == "bert":
        fields["embedding_size"] = fields["hidden_size"]
        fields["share"] = "none"
    config = AlbertConfig(**fields)
    # Where E == H, an unshared ALBERT stays "all" in L groups: "none" would make it a BERT, whose
    # tensors have other names.
    if config.has_projection and 1 < config.num_groups == config.num_layers:
        return config.replace(share="none")
    return config


def tensor_names(model: AlbertForPretraining | TaskModel) -> dict[str, str]:
    """Return our name -> transformers' name for each parameter; a tied one has one name."""
    kind = to_transformers(model.albert.config)["model_type"]
    modules = _module_names(kind)
    names = {}
    for name, _ in model.named_parameters():
        module, parameter = name.rsplit(".", 1)  # such as albert.encoder.ffn.3.up and bias
        number = re.search(r"\.(\d+)\.", module)  # of the block; there is none outside the encoder
        block = number[1] if number else ""
        theirs = modules[re.sub(r"\.\d+\.", ".{block}.", module)]
        names[name] = f"{theirs.replace('{block}', block)}.{parameter}"
    return names


def _module_names(kind: str) -> dict[str, str]:
    """Return the rows of ``tensor_names.txt`` for "albert" or "bert": our module -> theirs."""
    lines = Path(__file__).with_name("tensor_names.txt").read_text().splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    header, layer, *modules = rows
    column = header.index(kind)
    return {module[0]: module[column].replace("LAYER", layer[column]) for module in modules}


def our_weights(
    folder: Path,
    tensors: dict[str, Tensor],
    model: AlbertForPretraining,
    required: Collection[str] = (),
) -> dict[str, Tensor]:
    """Return our name -> tensor for the parameters of ``model``; the model is left as it is.

    ``tensors`` are those of ``folder``. Heads that are not ``required`` may be missing; a warning
    names them, and another one what is not used. Raises InterchangeError when anything else is
    missing, for a tensor that does not fit (``check_tensor``), and for tensors that would change
    the model's numbers and have no place in it (``unused_tensors``).
    """
    names = tensor_names(model)
    tensors = with_todays_names(tensors, names)
    weights = {ours: tensors[theirs] for ours, theirs in names.items() if theirs in tensors}
    missing = sorted(names.keys() - weights.keys())
    may_lack = tuple(start for head, start in OPTIONAL_HEADS.items() if head not in required)
    for name in missing:
        if not name.startswith(may_lack):
            raise InterchangeError(f"{folder} lacks {names[name]}. Is it another kind of model?")
    for name, tensor in weights.items():
        check_tensor(f"{names[name]} of {folder}", tensor, model.get_parameter(name).shape)
    unused = unused_tensors(folder, tensors, names, model.config)
    if missing:
        warnings.warn(f"{folder} has no {', '.join(missing)}: these start untrained.", stacklevel=3)
    if unused:
        warnings.warn(f"{len(unused)} tensors are not used, for example {unused[0]}.", stacklevel=3)
    return weights


def with_todays_names(tensors: dict[str, Tensor], names: dict[str, str]) -> dict[str, Tensor]:
    """Return tensors under the names that transformers gives them today.

    The Hub's oldest BERT has norms with gamma and beta. A bare encoder leaves out the "albert." or
    "bert." in front. ``names`` are those of ``tensor_names``.
    """
    renamed = {}
    for name, tensor in tensors.items():
        today = name.replace("Norm.gamma", "Norm.weight").replace("Norm.beta", "Norm.bias")
        renamed[today] = tensor
    encoder, _, table = names[WORD].partition(".")
    if table in renamed:
        return {f"{encoder}.{name}": tensor for name, tensor in renamed.items()}
    return renamed


def check_tensor(what: str, tensor: Tensor, shape: torch.Size) -> None:
    """Raise InterchangeError unless a tensor has that shape and consists of finite floats."""
    if tensor.shape != shape or tensor.dtype not in FLOATS:
        raise InterchangeError(
            f"{what} has shape {tuple(tensor.shape)} as {tensor.dtype}, config.json implies floats "
            f"of {tuple(shape)}."
        )
    if not tensor.float().isfinite().all():  # a float64 may be too large for a float32
        raise InterchangeError(f"{what} has NaN or infinity: its training had failed.")


def unused_tensors(
    folder: Path, tensors: dict[str, Tensor], names: dict[str, str], config: AlbertConfig
) -> list[str]:
    """Return the names of tensors that our model has no place for and that change nothing in it.

    transformers may write a tied weight twice, and an identity where we have no projection: these
    are neither unused nor wrong if they are equal to what ours has. Raises InterchangeError for
    such a tensor with other numbers, and for any other part of an encoder.
    """
    implied = implied_tensors(tensors, names, config)
    unused = []
    for name in sorted(tensors.keys() - names.values()):
        repeats = name in implied and tensors[name].equal(implied[name])
        if repeats or name.endswith("_ids"):  # the positions 0, 1, 2 ... of an older version
            continue
        if name in implied or re.match(r"(albert|bert)\.(encoder|embeddings)\b", name):
            raise InterchangeError(
                f"{folder} has {name}, and the model of its config.json has no place for it: here "
                f"the decoder is the table of embeddings, and E == H means no projection."
            )
        unused.append(name)
    return unused


def implied_tensors(
    tensors: dict[str, Tensor], names: dict[str, str], config: AlbertConfig
) -> dict[str, Tensor]:
    """Return what a folder may hold beside our parameters, with the numbers that ours implies."""
    implied = identity_projection(config)
    decoder = names[DECODER_BIAS].removesuffix(".bias") + ".decoder"
    if names[WORD] in tensors:
        implied[f"{decoder}.weight"] = tensors[names[WORD]]
    if names[DECODER_BIAS] in tensors:
        implied[f"{decoder}.bias"] = tensors[names[DECODER_BIAS]]
    return implied


def identity_projection(config: AlbertConfig) -> dict[str, Tensor]:
    """Return what transformers' ALBERT projects with where E == H and we do not: the identity."""
    if config.has_projection or config.share == "none":
        return {}
    name = "albert.encoder.embedding_hidden_mapping_in"
    H = config.hidden_size
    return {f"{name}.weight": torch.eye(H), f"{name}.bias": torch.zeros(H)}
