"""A model's weights under the names that ``transformers`` gives them, and under ours.

Nothing that comes from a file is trusted. The names are a table, ``tensor_names.txt``.
"""

import re
import warnings
from collections.abc import Collection
from pathlib import Path

import torch
from torch import Tensor

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.formats import InterchangeError, to_transformers
from albert_edu.model.task_heads import TaskModel

# Quantised weights mean nothing without their scales.
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
WORD = "albert.embeddings.word.weight"
DECODER_BIAS = "masked_token_head.decoder.bias"
OPTIONAL_HEADS = {  # what a folder may lack, and how the names of its parameters begin
    "masked_token_head": "masked_token_head.",
    "sentence_order_head": "sentence_order_head.",
    "pooler": "albert.pooler.",
}


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
