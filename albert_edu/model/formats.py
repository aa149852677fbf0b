"""Config fields and tensors as ``transformers`` has them, and as they are here.

Nothing that comes from a file is trusted. The tensors' names are a table, ``tensor_names.txt``;
``interchange`` opens the folders.
"""

import re
import warnings
from pathlib import Path

import torch
from torch import Tensor, nn

from albert_edu.config import AlbertConfig, check_choices
from albert_edu.errors import CourseError, errors_about
from albert_edu.model.albert import AlbertForPretraining

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
REQUIRED = list(FIELDS.values())[:5]  # sizes that a config.json must have
DEFAULTS = {  # what transformers assumes, and we do not, when a config.json leaves a field out
    "albert": {"hidden_act": "gelu_new", "embedding_size": 128, "num_hidden_groups": 1},
    "bert": {"hidden_act": "gelu", "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1},
}
ACTIVATIONS = {"gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu_erf"}
SUPPORTED = {  # fields that change what a model computes, with the values that ours has
    "model_type": ("albert", "bert"),
    "inner_group_num": (1, None),
    "position_embedding_type": ("absolute", None),
    "tie_word_embeddings": (True, None),
    "pruned_heads": ({}, None),
    **dict.fromkeys(("is_decoder", "is_encoder_decoder", "add_cross_attention"), (False, None)),
    **dict.fromkeys(("quantization_config", "auto_map"), (None,)),
}
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


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
        del settings["embedding_size"], settings["num_hidden_groups"]
        return {"model_type": "bert", **settings}
    L = config.num_layers
    G = L if config.share == "none" else config.num_groups
    if [int(i / (L / G)) for i in range(L)] != [i * G // L for i in range(L)]:
        raise InterchangeError(f"transformers, with floats, cuts {L} layers into {G} other groups.")
    return {"model_type": "albert", **settings, "num_hidden_groups": G}


def from_transformers(settings: dict) -> AlbertConfig:
    """Return our config for the fields of a ``config.json``.

    Fields that are left out take transformers' defaults. Raises InterchangeError for another kind
    of model, for sizes that cannot be, and for what our layers do not compute: relative positions,
    decoders, other activations, layers that repeat as a unit.
    """
    with errors_about("config.json", InterchangeError, "It must describe an ALBERT or a BERT."):
        check_choices(dict.fromkeys(SUPPORTED) | settings, **SUPPORTED)
        kind = settings["model_type"]
        settings = dict.fromkeys(REQUIRED) | DEFAULTS[kind] | settings
        fields = {ours: settings[theirs] for ours, theirs in FIELDS.items() if theirs in settings}
        activation = settings["hidden_act"]
        fields["activation"] = ACTIVATIONS.get(str(activation), activation)
        fields["pad_id"] = fields.get("pad_id") or 0
        if kind == "bert":
            fields |= {"embedding_size": fields["hidden_size"], "share": "none"}
        config = AlbertConfig(**fields)
    # Where E == H, an unshared ALBERT stays "all" in L groups: "none" would make it a BERT, whose
    # tensors have other names.
    unshared = config.has_projection and 1 < config.num_groups == config.num_layers
    return config.replace(share="none") if unshared else config


def tensor_names(model: nn.Module) -> dict[str, str]:
    """Return our name -> transformers' name for each parameter of a model; a tied one has one name.

    ``model`` is a task model, or one for pre-training.
    """
    column = to_transformers(model.albert.config)["model_type"]
    lines = Path(__file__).with_name("tensor_names.txt").read_text().splitlines()
    header, layer, *rows = (line.split() for line in lines if not line.startswith("#"))
    place, names = header.index(column), {}
    table = {row[0]: row[place].replace("LAYER", layer[place]) for row in rows}
    for name, _ in model.named_parameters():
        module, kind = name.rsplit(".", 1)
        numbers = re.findall(r"\.(\d+)\.", module)  # the block's; there is none outside the encoder
        theirs = table[re.sub(r"\.\d+\.", ".{block}.", module)]
        names[name] = f"{theirs.format(block=''.join(numbers))}.{kind}"
    return names


def our_weights(
    folder: Path, tensors: dict[str, Tensor], model: AlbertForPretraining, optional: tuple[str, ...]
) -> dict[str, Tensor]:
    """Return our name -> tensor for the parameters of ``model``; the model is left as it is.

    ``tensors`` are those of ``folder``. Parameters that begin with an ``optional`` prefix may be
    missing; a warning names them, and another one what is not used. Raises InterchangeError when
    another is missing, when a tensor has not the parameter's shape, is not stored in floating point
    or is not finite, and when there are tensors that would change the model's numbers and have no
    place in it.
    """
    # The Hub's oldest BERT has norms with gamma and beta, and a bare encoder leaves out "albert.".
    for old, new in (("gamma", "weight"), ("beta", "bias")):
        tensors = {name.replace(f"Norm.{old}", f"Norm.{new}"): tensors[name] for name in tensors}
    names = tensor_names(model)
    encoder, _, table = names["albert.embeddings.word.weight"].partition(".")
    if table in tensors:
        tensors = {f"{encoder}.{name}": tensor for name, tensor in tensors.items()}
    weights = {name: tensors.pop(theirs) for name, theirs in names.items() if theirs in tensors}
    missing = sorted(names.keys() - weights.keys())
    if lost := [names[name] for name in missing if not name.startswith(optional)]:
        raise InterchangeError(f"{folder} lacks {lost[0]}. Is it another kind of model?")
    for name, tensor in weights.items():
        shape, has = model.get_parameter(name).shape, f"{names[name]} of {folder} has"
        if tensor.shape != shape or tensor.dtype not in FLOATS:  # quantised need their scales
            found = f"shape {tuple(tensor.shape)} as {tensor.dtype}"
            raise InterchangeError(f"{has} {found}, config.json implies floats of {tuple(shape)}.")
        if not tensor.float().isfinite().all():  # a float64 may be too large for a float32
            raise InterchangeError(f"{has} NaN or infinity: its training had failed.")
    # transformers may write a tied weight twice, and a projection where ours has none.
    bias = "masked_token_head.decoder.bias"
    decoder = names[bias].replace("bias", "decoder")
    copies = {f"{decoder}.weight": "albert.embeddings.word.weight", f"{decoder}.bias": bias}
    implied = identity_projection(model.config)
    implied |= {copy: weights[name] for copy, name in copies.items() if name in weights}
    same = {name for name in implied.keys() & tensors if tensors[name].equal(implied[name])}
    unused = [name for name in tensors if name not in same and not name.endswith("_ids")]
    for name in unused:
        if name in implied or re.match(r"(albert|bert)\.(encoder|embeddings)\b", name):
            raise InterchangeError(
                f"{folder} has {name}, and the model of its config.json has no place for it: here "
                f"the decoder is the table of embeddings, and E == H means no projection."
            )
    if missing:
        warnings.warn(f"{folder} has no {', '.join(missing)}: these start untrained.", stacklevel=3)
    if unused:
        warnings.warn(f"{len(unused)} tensors are not used, for example {unused[0]}.", stacklevel=3)
    return weights


def identity_projection(config: AlbertConfig) -> dict[str, Tensor]:
    """Return what transformers' ALBERT projects with where E == H and we do not: the identity."""
    if config.has_projection or config.share == "none":
        return {}
    name, H = "albert.encoder.embedding_hidden_mapping_in", config.hidden_size
    return {f"{name}.weight": torch.eye(H), f"{name}.bias": torch.zeros(H)}
