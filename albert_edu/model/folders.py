"""Find a model's folder and read its files, none of which is trusted. Used by ``weights``.

Only regular files of a plausible size are opened, and of a pickle only the tensors are read.
"""

import json
import re
import warnings
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from albert_edu.model.formats import InterchangeError

SHIPPED = {"laptop": "laptop/albert", "laptop-unshared": "laptop/unshared"}
HUB_FILES = ["*.json", "*.safetensors", "pytorch_model.bin", "spiece.model", "vocab.txt"]
LARGEST_TEXT = 100_000_000  # bytes of a config, a vocabulary or an index
TENSORFLOW_ENDINGS = {
    "kernel": "weight", "gamma": "weight", "output_weights": "weight",
    "bias": "bias", "beta": "bias", "output_bias": "bias",
}  # fmt: skip
OPTIMIZER_STATE = ("adam_m", "adam_v", "lamb_m", "lamb_v", "global_step")


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
    return read_json(_existing(folder, "config.json"))


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of a folder's weight file, under the names that they have there."""
    readers = {
        "model.safetensors": load_file, "model.safetensors.index.json": _read_shards,
        "pytorch_model.bin": _read_pickle, "model.npz": tensorflow_variables,
    }  # fmt: skip
    file = next((file for file in readers if (folder / file).exists()), "model.safetensors")
    if file == "pytorch_model.bin":
        warnings.warn(f"{folder / file} is a pickle; only its tensors are read.", stacklevel=4)
    tensors = read_file(_existing(folder, file), readers[file])
    for old, new in (("gamma", "weight"), ("beta", "bias")):  # as in the Hub's oldest BERT
        tensors = {name.replace(f"Norm.{old}", f"Norm.{new}"): tensors[name] for name in tensors}
    return tensors


def _existing(folder: Path, file: str) -> Path:
    if not (folder / file).exists():
        names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else ["no folder"]
        raise InterchangeError(f"{folder} has no {file} (found: {', '.join(names)}).")
    return folder / file


def _read_shards(index: Path) -> dict[str, Tensor]:
    tensors = {}
    for shard in sorted(set(read_json(index)["weight_map"].values())):
        if Path(shard).name != shard:
            raise InterchangeError(f"{index} names {shard!r}, which is not a file of its folder.")
        tensors |= read_file(index.parent / shard, load_file)
    return tensors


def _read_pickle(path: Path) -> dict[str, Tensor]:
    return torch.load(path, map_location="cpu", weights_only=True)


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
            module, _, last = variable.removeprefix("module/").rpartition("/")
            if last in OPTIMIZER_STATE:
                continue
            array = archive[variable].T if last == "kernel" else archive[variable]
            ending = TENSORFLOW_ENDINGS.get(last)
            name = f"{module}.{ending}" if ending else f"{module}/{last}.weight"  # a table
            tensors[name] = torch.from_numpy(np.ascontiguousarray(array))
    return tensors
