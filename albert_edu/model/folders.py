"""Find a model's folder and read its files, none of which is trusted. Used by ``interchange``.

Only regular files of a plausible size are opened, and of a pickle only the tensors are read.
"""

import json
import re
import warnings
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from albert_edu.config import AlbertConfig
from albert_edu.model.formats import InterchangeError, tensor_names

SHIPPED = {"laptop": "laptop/albert", "laptop-unshared": "laptop/unshared"}
HUB_FILES = ["*.json", "*.safetensors", "pytorch_model.bin", "spiece.model", "vocab.txt"]
LARGEST_TEXT = 100_000_000  # bytes of a config, a vocabulary or an index
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
    folder, name = Path(name), str(name)
    if folder.exists():
        return folder
    if name in SHIPPED:
        return Path(str(files("albert_edu"))) / "pretrained" / SHIPPED[name]
    is_path = len(folder.parts) > 1 and folder.parent.exists()
    if is_path or not re.fullmatch(r"\w[\w.-]*(/[\w.-]+)?", name):
        raise InterchangeError(f"{name} is not a folder (found: no such folder).")
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=HUB_FILES))
    except Exception as error:  # It has a dozen kinds: its own, those of HTTP and of the network.
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InterchangeError(
            f"{name} is no folder, no shipped model ({', '.join(SHIPPED)}), and no model of that "
            f"name came from the Hub: {reason}"
        ) from error


def read_file(path: Path, reader: Callable, largest: int | None = None):
    """Return ``reader(path)`` for a regular file of at most ``largest`` bytes.

    Raises InterchangeError for another file, and for one that the reader cannot read.
    """
    if not path.exists():
        folder = path.parent
        found = sorted(file.name for file in folder.iterdir()) if folder.is_dir() else ["no folder"]
        raise InterchangeError(f"{folder} has no {path.name} (found: {', '.join(found)}).")
    if not path.is_file():
        raise InterchangeError(f"{path} is not a regular file.")
    if largest and path.stat().st_size > largest:
        raise InterchangeError(f"{path} has more than {largest:,} bytes, which no such file has.")
    try:
        return reader(path)
    except InterchangeError:
        raise
    except Exception as error:  # Each library has errors of its own for a file that breaks off.
        message = f"{path} is damaged, perhaps a copy that broke off: {error}"
        raise InterchangeError(message) from error


def read_json(path: Path) -> dict:
    """Return the fields of a JSON file. Raises InterchangeError for a file that holds no object."""
    content = read_file(path, lambda file: json.loads(file.read_text()), LARGEST_TEXT)
    if not isinstance(content, dict):
        raise InterchangeError(f"{path} holds {repr(content)[:50]} and not an object of fields.")
    return content


def read_config(folder: Path) -> dict:
    """Return the fields of ``config.json``, or of the authors' ``albert_config.json``."""
    if (folder / "albert_config.json").exists() and not (folder / "config.json").exists():
        settings = read_json(folder / "albert_config.json")
        # The authors' "gelu" is the tanh approximation; transformers' is not.
        return {"model_type": "albert", **settings, "hidden_act": "gelu_new"}
    return read_json(folder / "config.json")


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of a folder's weight file, under the names that they have there."""
    readers = {
        "model.safetensors": load_file, "model.safetensors.index.json": _read_shards,
        "pytorch_model.bin": partial(torch.load, map_location="cpu", weights_only=True),
        "model.npz": tensorflow_variables,
    }  # fmt: skip
    file = next((file for file in readers if (folder / file).exists()), "model.safetensors")
    if file == "pytorch_model.bin":
        warnings.warn(f"{folder / file} is a pickle; only its tensors are read.", stacklevel=4)
    tensors = read_file(folder / file, readers[file])
    for old, new in (("gamma", "weight"), ("beta", "bias")):  # as in the Hub's oldest BERT
        tensors = {name.replace(f"Norm.{old}", f"Norm.{new}"): tensors[name] for name in tensors}
    return tensors


def _read_shards(index: Path) -> dict[str, Tensor]:
    tensors = {}
    for shard in sorted(set(read_json(index)["weight_map"].values())):
        if Path(shard).name != shard:
            raise InterchangeError(f"{index} names {shard!r}, which is not a file of its folder.")
        tensors |= read_file(index.parent / shard, load_file)
    return tensors


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
    for name, parameter in model.named_parameters():
        if names[name] in tensors:
            _check_tensor(names[name], tensors[names[name]], tuple(parameter.shape))
        elif not name.startswith(optional):
            raise InterchangeError(
                f"the file lacks tensors of the encoder, for example {names[name]}. Is it another "
                f"kind of model?"
            )
    _check_unused(model.albert.config, tensors, set(names.values()), kind)
    if missing := [name for name in names if names[name] not in tensors]:
        message = f"{folder} has no {', '.join(sorted(missing))}: these start untrained."
        warnings.warn(message, stacklevel=4)
    return {name: tensors[theirs] for name, theirs in names.items() if theirs in tensors}


def _check_tensor(name: str, tensor: Tensor, shape: tuple[int, ...]) -> None:
    if tensor.shape != shape:
        raise InterchangeError(
            f"{name} has shape {tuple(tensor.shape)}, config.json implies {shape}."
        )
    if tensor.dtype not in FLOATS:
        raise InterchangeError(
            f"{name} is stored as {tensor.dtype}: quantised weights are not read. Convert the "
            f"model to float32 first."
        )
    if not tensor.isfinite().all():
        raise InterchangeError(f"{name} holds NaN or infinity: its training had failed.")


def _check_unused(
    config: AlbertConfig, tensors: dict[str, Tensor], used: set[str], kind: str
) -> None:
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
        if name.startswith((f"{kind}.encoder", f"{kind}.embeddings")):
            raise InterchangeError(f"the file has {name}, which config.json does not describe.")
    if unused:
        message = f"{len(unused)} tensors are not used, for example {unused[0]}."
        warnings.warn(message, stacklevel=5)


def identity_projection(config: AlbertConfig) -> dict[str, Tensor]:
    """Return what transformers' ALBERT projects with where E == H and we do not: the identity."""
    name, H = "albert.encoder.embedding_hidden_mapping_in", config.hidden_size
    return {f"{name}.weight": torch.eye(H), f"{name}.bias": torch.zeros(H)}
