"""How many parameters, FLOPs and bytes a model costs: by formula and by counting.

Used in notebooks 00, 03, 04, 10 and 12. The paper's printed counts mix two conventions (row by row:
``albert_paper.published.printed_and_counted``). Rows with any sharing include the pooler,
not-shared rows leave it out, and nobody counts the pre-training heads.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from albert_edu.config import AlbertConfig, check_between, check_whole
from albert_edu.model.albert import AlbertForPretraining

FLOAT32 = 4  # bytes of a number


class ParameterCount(NamedTuple):
    """Parameters of each component; a weight used twice is counted once."""

    embeddings: int  # tables and their norm, all of width E
    projection: int  # E to H, 0 where E == H
    encoder: int
    pooler: int
    masked_token_head: int  # without the table it shares with the embeddings
    sentence_order_head: int

    @property
    def without_pooler(self) -> int:
        """The paper's convention for rows without sharing."""
        return self.embeddings + self.projection + self.encoder

    @property
    def total(self) -> int:
        """With the pooler: the paper's convention for rows with any sharing."""
        return self.without_pooler + self.pooler

    @property
    def with_heads(self) -> int:
        """Everything pre-training updates."""
        return self.total + self.masked_token_head + self.sentence_order_head


def count_parameters(config: AlbertConfig) -> ParameterCount:
    """Return the parameters of each component, counted on a model built without memory.

    >>> count_parameters(AlbertConfig.named("albert-base-v2")).total
    11683584
    """
    with torch.device("meta"):
        model = AlbertForPretraining(config)
    embeddings = model.albert.embeddings
    projection = _size(embeddings.project)
    return ParameterCount(
        embeddings=_size(embeddings) - projection,
        projection=projection,
        encoder=_size(model.albert.encoder),
        pooler=_size(model.albert.pooler),
        masked_token_head=_size(model.masked_token_head) - _size(embeddings.word),
        sentence_order_head=_size(model.sentence_order_head),
    )


def _size(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def flops_per_token(
    config: AlbertConfig, sequence_length: int, masked_rate: float = 0.0, training: bool = False
) -> float:
    """Return the FLOPs per token: L (8H² + 4HF + 4SH) + 2EH, a multiply-add counting as two.

    Sharing changes nothing, because a shared matrix is multiplied L times all the same. Norms,
    softmax and GELU are left out. ``masked_rate`` adds that share of the masked-token head,
    2HE + 2EV. Training costs three times the forward pass. Used in notebooks 10 and 12.
    """
    check_whole("sequence_length", sequence_length, 0, 1_000_000)  # 0: without attention
    check_between("masked_rate", masked_rate, 0.0, 1.0)
    E = config.embedding_size
    H = config.hidden_size
    F = config.ffn_size
    V = config.vocab_size
    layer = 8 * H * H + 4 * H * F + 4 * sequence_length * H
    projection = 2 * E * H if config.has_projection else 0
    head = 2 * H * E + 2 * E * V
    forward = config.num_layers * layer + projection + masked_rate * head
    return 3 * forward if training else forward


class TrainingMemory(NamedTuple):
    """Bytes that a training step holds in float32."""

    weights: int
    gradients: int
    optimizer: int  # two moments
    activations: int  # stored for the backward pass: grows with L, shared or not
    logits: int  # of the masked positions, and their gradient

    @property
    def total(self) -> int:
        """All of it, in bytes."""
        return sum(self)


def training_memory(
    config: AlbertConfig, batch_size: int, sequence_length: int, max_predictions: int
) -> TrainingMemory:
    """Return the bytes that a training step must hold, to first order and without dropout.

    A layer stores 8H + 2F floats per token, which is 16H when F = 4H. Fused attention never stores
    the A S attention weights per token, which attention written out does. Notebooks 04, 10 and 12.
    """
    check_whole("batch_size", batch_size, 0, 1_000_000_000)
    check_whole("sequence_length", sequence_length, 0, 1_000_000)
    check_whole("max_predictions", max_predictions, 0, sequence_length)
    parameters = count_parameters(config).with_heads
    tokens = batch_size * sequence_length
    per_token = config.num_layers * (8 * config.hidden_size + 2 * config.ffn_size)
    logits = batch_size * max_predictions * config.vocab_size
    return TrainingMemory(
        weights=FLOAT32 * parameters,
        gradients=FLOAT32 * parameters,
        optimizer=2 * FLOAT32 * parameters,
        activations=FLOAT32 * tokens * per_token,
        logits=2 * FLOAT32 * logits,
    )


def saved_bytes(run: Callable[[], object], model: nn.Module) -> int:
    """Return the bytes that autograd stores in ``run()`` for backward.

    The model's weights are not counted, since they are there in any case.
    """
    kept = set()  # of storages, because two views of one tensor are stored once

    def pack(tensor: Tensor) -> Tensor:
        """Note the memory of a tensor that autograd keeps."""
        kept.add(tensor.untyped_storage())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        run()
    weights = {weight.untyped_storage() for weight in model.parameters()}
    return sum(storage.nbytes() for storage in kept - weights)
