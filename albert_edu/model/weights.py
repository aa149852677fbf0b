"""Write a model into a folder, and read one, with the names and checks of ``formats``.

``interchange`` calls these two for a model with pre-training heads and for a fine-tuned one.
"""

import dataclasses
import json
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from albert_edu.config import AlbertConfig
from albert_edu.model.folders import read_tensors
from albert_edu.model.formats import (
    OURS,
    InterchangeError,
    parameter_shapes,
    tensor_names,
    to_transformers,
    why_not_expressible,
)

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
PROJECTION = "albert.encoder.embedding_hidden_mapping_in"
TIED = {  # transformers' second name of a tensor -> its first
    "predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
    "predictions.decoder.bias": "predictions.bias",
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}


def _names(
    model: nn.Module, head: dict[str, str], column: str | None, inner: int = 1
) -> dict[str, str]:
    """Our parameter's name -> its name in a file; ``head`` has what pre-training lacks."""
    own = parameter_shapes(model)
    if column == OURS:
        return {name: name for name in own}
    names = tensor_names(model.albert.config, column, inner)
    for name in own.keys() - names.keys():
        module, kind = name.rsplit(".", 1)
        names[name] = f"{head[module]}.{kind}"
    return {name: names[name] for name in own}


def write_model(
    model: nn.Module, folder: Path, kind: str, head: dict[str, str], fields: dict
) -> None:
    """Write ``config.json`` and ``model.safetensors`` for transformers' Albert or Bert``kind``.

    ``head`` maps the modules that pre-training lacks to their names there, ``fields`` go into the
    config. Where transformers cannot express the encoder, fields and tensors keep our names.
    """
    config = model.albert.config
    native = why_not_expressible(config) is not None
    settings = to_transformers(config)
    if native:
        settings = {"model_type": OURS, **dataclasses.asdict(config)}
    family = "Bert" if settings["model_type"] == "bert" else "Albert"
    settings = {"architectures": [family + kind], **settings, **fields}
    state, names = model.state_dict(), _names(model, head, OURS if native else None)
    tensors = {theirs: state[ours].detach().cpu().contiguous() for ours, theirs in names.items()}
    if settings["model_type"] == "albert" and not config.factorised:
        tensors |= _identity(config)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(settings, indent=2) + "\n")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def read_model(
    folder: Path, settings: dict, build: Callable[[], nn.Module], head: dict[str, str],
    optional: tuple[str, ...],
) -> nn.Module:  # fmt: skip
    """Return ``build()`` with the weights of a folder whose config has the fields ``settings``.

    The file is compared with the model's shapes first, so that nothing is built that does not fit.
    Parameters that begin with an ``optional`` prefix may be missing; a warning names them.
    """
    with torch.device("meta"):  # shapes without memory
        blueprint = build()
    kind = settings["model_type"]
    tensors = read_tensors(folder)
    if "embeddings.word_embeddings.weight" in tensors:  # A bare encoder leaves out "albert.".
        tensors = {f"{kind}.{name}": tensor for name, tensor in tensors.items()}
    column = "tensorflow" if any("/" in name for name in tensors) else kind
    inner = settings.get("inner_group_num", 1) if kind == "albert" else 1
    names = _names(blueprint, head, column, inner)
    state = pick_tensors(tensors, names, parameter_shapes(blueprint), optional)
    _check_unused(blueprint.albert.config, tensors, set(names.values()), kind)
    if missing := names.keys() - state.keys():
        message = f"{folder} has no {', '.join(sorted(missing))}: these start untrained."
        warnings.warn(message, stacklevel=3)
    model = build()
    model.load_state_dict(state, strict=False)
    return model


def _check_unused(
    config: AlbertConfig, tensors: dict[str, Tensor], used: set[str], kind: str
) -> None:
    """Refuse tensors that would change the model's numbers; name the others in a warning."""
    for copy in TIED.keys() & tensors.keys():
        original = TIED[copy]
        if original in tensors and not torch.equal(tensors[copy], tensors[original]):
            raise InterchangeError(f"{copy} is not {original}; here the two are one (tied).")
    identity = {} if config.factorised else _identity(config)
    for name, tensor in identity.items():
        if name in tensors and not torch.equal(tensors[name], tensor):
            raise InterchangeError(
                "this ALBERT has E == H and a trained projection between them, which transformers "
                "adds and the authors' code does not."
            )
    known = used | TIED.keys() | identity.keys()
    unused = [name for name in tensors if name not in known and not name.endswith("_ids")]
    for name in unused:
        if name.startswith((f"{kind}.encoder", f"{kind}.embeddings")):
            raise InterchangeError(f"the file has {name}, which config.json does not describe.")
    if unused:
        message = f"{len(unused)} tensors are not used, for example {unused[0]}."
        warnings.warn(message, stacklevel=4)


def _identity(config: AlbertConfig) -> dict[str, Tensor]:
    """transformers always projects from E to H; where we do not, the identity says the same."""
    H = config.hidden_size
    return {f"{PROJECTION}.weight": torch.eye(H), f"{PROJECTION}.bias": torch.zeros(H)}


def pick_tensors(
    tensors: dict[str, Tensor], names: dict[str, str], shapes: dict[str, tuple[int, ...]],
    optional: tuple[str, ...],
) -> dict[str, Tensor]:  # fmt: skip
    """Return our name -> tensor, for the ``names`` (ours -> theirs) that are there.

    Raises InterchangeError when one is missing that does not begin with an ``optional`` prefix, has
    not the shape that the config implies, is not stored in floating point, or is not finite.
    """
    for ours, theirs in names.items():
        if theirs not in tensors:
            if not ours.startswith(optional):
                raise InterchangeError(
                    f"the file lacks tensors of the encoder, for example {theirs}. Is it another "
                    f"kind of model?"
                )
            continue
        tensor, shape = tensors[theirs], tuple(tensors[theirs].shape)
        if shape != shapes[ours]:
            implied = shapes[ours]
            raise InterchangeError(f"{theirs} has shape {shape}, config.json implies {implied}.")
        if tensor.dtype not in FLOATS:
            raise InterchangeError(
                f"{theirs} is stored as {tensor.dtype}: quantised weights are not read. Convert "
                f"the model to float32 first."
            )
        if not tensor.isfinite().all():
            raise InterchangeError(f"{theirs} holds NaN or infinity: its training had failed.")
    return {ours: tensors[theirs] for ours, theirs in names.items() if theirs in tensors}
