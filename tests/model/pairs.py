"""Small models in both hands: ours, and those of transformers, with folders of both."""

from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.weights import tensor_names
from tests.support import randomised

V = 150
BASE = AlbertConfig(V, 8, 16, num_layers=4, num_heads=2, max_positions=16)
THEIRS = {
    "vocab_size": V,
    "hidden_size": 16,
    "num_hidden_layers": 4,
    "num_attention_heads": 2,
    "intermediate_size": 64,
}
ALBERT, BERT = {}, dict(embedding_size=16, share="none")


def model_of(**changes) -> AlbertForPretraining:
    """A model whose every parameter is random, biases and norms too."""
    return randomised(AlbertForPretraining(BASE.replace(**changes)))


def theirs_of(kind: str = "AlbertForPreTraining", **changes):
    cls = getattr(transformers, kind)
    return cls(cls.config_class(**(THEIRS | dict(embedding_size=8) | changes)))


def names_there(config: AlbertConfig) -> dict[str, str]:
    with torch.device("meta"):
        return tensor_names(AlbertForPretraining(config))


def edit_tensors(folder: Path, change):
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, metadata={"format": "pt"})
