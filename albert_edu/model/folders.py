"""Find a model's folder and read its files, none of which is trusted. Used by ``interchange``.

Only regular files of a plausible size are opened, and of a pickle only the tensors are read.
"""

import re
import warnings
from importlib.resources import files
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from albert_edu.config import AlbertConfig
from albert_edu.errors import read_file, read_json
from albert_edu.model.formats import InterchangeError, tensor_names
from albert_edu.text.files import is_hub_out_of_reach

SHIPPED = {"laptop": "laptop/albert", "laptop-unshared": "laptop/unshared"}
HUB_FILES = ["*.json", "*.safetensors", "pytorch_model.bin", "spiece.model", "vocab.txt"]
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
TIED = {  # transformers' second name of a tensor -> its first
    "predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
    "predictions.decoder.bias": "predictions.bias",
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}


def model_folder(name: str | Path) -> Path:
    """Return the folder of a model, given a folder, the name of a shipped model, or a Hub name.

    Shipped are "laptop" and "laptop-unshared". ``huggingface_hub`` fetches a Hub name such as
    "albert/albert-base-v2" into its cache, where it is found again without a network. Raises
    InterchangeError for a name that is none of the three.
    """
    folder, name = Path(str(name)), str(name)
    if folder.exists():
        return folder
    if name in SHIPPED:
        return Path(str(files("albert_edu"))) / "pretrained" / SHIPPED[name]
    is_path = len(folder.parts) > 1 and folder.parent.exists()
    if is_path or not re.fullmatch(r"\w[\w.-]*(/[\w.-]+)?", name):
        raise InterchangeError(f"{name} is not a folder (found: no such folder).")
    from huggingface_hub import snapshot_download

    offline = is_hub_out_of_reach()
    try:
        return Path(snapshot_download(name, allow_patterns=HUB_FILES, local_files_only=offline))
    except Exception as error:  # It has a dozen kinds: its own, those of HTTP and of the network.
        reason = "the Hub is out of reach, and the cache lacks it" if offline else error
        raise InterchangeError(
            f"{name} is no folder, no shipped model ({', '.join(SHIPPED)}), and no model of that "
            f"name came from the Hub: {reason}"
        ) from error


def read_config(folder: Path) -> dict:
    """Return the fields of ``config.json``, or of the authors' ``albert_config.json``."""
    if (folder / "albert_config.json").exists() and not (folder / "config.json").exists():
        settings = read_json(folder / "albert_config.json", InterchangeError)
        # The authors' "gelu" is the tanh approximation; transformers' is not.
        return {"model_type": "albert", **settings, "hidden_act": "gelu_new"}
    return read_json(folder / "config.json", InterchangeError)


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of a folder's weight file, under the names that they have there."""
    readers = {
        "model.safetensors": load_file,
        "model.safetensors.index.json": _read_shards,
        "pytorch_model.bin": _read_pickle,
        "model.npz": tensorflow_variables,
    }
    file = next((file for file in readers if (folder / file).exists()), "model.safetensors")
    if file == "pytorch_model.bin":
        warnings.warn(f"{folder / file} is a pickle; only its tensors are read.", stacklevel=4)
    tensors = read_file(folder / file, readers[file], InterchangeError, largest=None)
    for old, new in (("gamma", "weight"), ("beta", "bias")):  # as in the Hub's oldest BERT
        tensors = {name.replace(f"Norm.{old}", f"Norm.{new}"): tensors[name] for name in tensors}
    return tensors


def _read_shards(index: Path) -> dict[str, Tensor]:
    tensors = {}
    for shard in sorted(set(read_json(index, InterchangeError)["weight_map"].values())):
        if Path(shard).name != shard or not shard.strip("."):
            raise InterchangeError(f"{index} names {shard!r}, which is not a file of its folder.")
        tensors |= read_file(index.parent / shard, load_file, InterchangeError, largest=None)
    return tensors


def _read_pickle(path: Path) -> dict[str, Tensor]:
    content = torch.load(path, map_location="cpu", weights_only=True)
    if not all(isinstance(tensor, Tensor) for tensor in content.values()):
        raise InterchangeError(f"{path} holds something else than tensors by name.")
    return {str(name): tensor for name, tensor in content.items()}


def tensorflow_variables(path: Path) -> dict[str, Tensor]:
    """Return the variables of one of the authors' checkpoints, saved as a NumPy archive.

    The names end in .weight or .bias, kernels are transposed, the optimizer's moments are left out.
    Where TensorFlow is installed, with ``reader = tf.train.load_checkpoint("model.ckpt-best")``:
    ``names = reader.get_variable_to_shape_map()``, and then
    ``np.savez("model.npz", **{name: reader.get_tensor(name) for name in names})``.
    """
    tensors = {}
    with np.load(path, allow_pickle=False) as archive:
        for variable in archive.files:
            if re.search(r"/(adam|lamb)_[mv]$|global_step$", variable):
                continue
            name = re.sub(r"/(kernel|gamma|output_weights)$", ".weight", variable)
            name = re.sub(r"/(bias|beta|output_bias)$", ".bias", name.removeprefix("module/"))
            name = name if "." in name else f"{name}.weight"  # a table
            array = archive[variable].T if variable.endswith("/kernel") else archive[variable]
            tensors[name] = torch.from_numpy(np.ascontiguousarray(array))
    return tensors


def read_weights(
    folder: Path, settings: dict, model: nn.Module, optional: tuple[str, ...] = ()
) -> dict[str, Tensor]:
    """Return our name -> tensor for the parameters of ``model``; the model is left as it is.

    ``settings`` are the fields of the folder's config. Parameters that begin with an ``optional``
    prefix may be missing; a warning names them. Raises InterchangeError when another is missing,
    when a tensor has not the parameter's shape, is not stored in floating point or is not finite,
    and when the file holds what would change the model's numbers and has no place in it.
    """
    kind, tensors = settings["model_type"], read_tensors(folder)
    if "embeddings.word_embeddings.weight" in tensors:  # A bare encoder leaves out "albert.".
        tensors = {f"{kind}.{name}": tensor for name, tensor in tensors.items()}
    column = "tensorflow" if any("/" in name for name in tensors) else kind
    names = tensor_names(model, column, settings.get("inner_group_num", 1))
    for name, theirs in names.items():
        if theirs in tensors:
            _check_tensor(theirs, tensors[theirs], tuple(model.get_parameter(name).shape))
        elif not name.startswith(optional):
            part = "encoder" if name.startswith("albert.") else name.split(".")[0]
            raise InterchangeError(
                f"{folder} lacks tensors of the {part}, for example {theirs}. Is it another kind "
                f"of model?"
            )
    _check_unused(model.albert.config, tensors, set(names.values()))
    if missing := [name for name in names if names[name] not in tensors]:
        message = f"{folder} has no {', '.join(sorted(missing))}: these start untrained."
        warnings.warn(message, stacklevel=4)
    return {name: tensors[theirs] for name, theirs in names.items() if theirs in tensors}


def _check_tensor(name: str, tensor: Tensor, shape: tuple[int, ...]) -> None:
    if tensor.shape != shape:
        has = tuple(tensor.shape)
        raise InterchangeError(f"{name} has shape {has}, config.json implies {shape}.")
    if tensor.dtype not in FLOATS:
        raise InterchangeError(
            f"{name} is stored as {tensor.dtype}; quantised weights must become float32 first."
        )
    if not tensor.float().isfinite().all():  # a float64 may be too large for a float32
        raise InterchangeError(f"{name} holds NaN or infinity: its training had failed.")


def _check_unused(config: AlbertConfig, tensors: dict[str, Tensor], used: set[str]) -> None:
    """Refuse tensors that would change the model's numbers; name the others in a warning."""
    for copy, original in TIED.items():
        if {copy, original} <= tensors.keys() and not tensors[copy].equal(tensors[original]):
            raise InterchangeError(f"{copy} is not {original}; here the two are one (tied).")
    identity = {} if config.factorised else identity_projection(config)
    for name in identity.keys() & tensors.keys():
        if not tensors[name].equal(identity[name]):
            raise InterchangeError(
                "this ALBERT has E == H and a trained projection between them, which transformers "
                "adds and the authors' code does not."
            )
    known = used | TIED.keys() | identity.keys()
    unused = [name for name in tensors if name not in known and not name.endswith("_ids")]
    for name in unused:
        if re.match(r"(albert|bert)[./](encoder|embeddings)\b", name):
            raise InterchangeError(f"the file has {name}, which config.json does not describe.")
    if unused:
        message = f"{len(unused)} tensors are not used, for example {unused[0]}."
        warnings.warn(message, stacklevel=5)


def identity_projection(config: AlbertConfig) -> dict[str, Tensor]:
    """Return what transformers' ALBERT projects with where E == H and we do not: the identity."""
    name, H = "albert.encoder.embedding_hidden_mapping_in", config.hidden_size
    return {f"{name}.weight": torch.eye(H), f"{name}.bias": torch.zeros(H)}
