"""The whole model, and the model with its two pre-training losses (notebooks 04 to 06)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from albert_edu.batch import IGNORE, PretrainingBatch, count_labels
from albert_edu.config import AlbertConfig
from albert_edu.errors import InputError
from albert_edu.model.embeddings import FactorizedEmbedding
from albert_edu.model.encoder import SharedEncoder
from albert_edu.model.heads import MaskedTokenHead, SentenceOrderHead
from albert_edu.text.hub_tokenizer import Tokenizer


class EncoderOutput(NamedTuple):
    """last_hidden[B,S,H], pooled[B,H], and on request hidden_states: h_0 to h_L, each [B,S,H]."""

    last_hidden: Tensor
    pooled: Tensor
    hidden_states: tuple[Tensor, ...] | None = None


class PretrainingOutput(NamedTuple):
    """What the model answers to a batch, and its losses: sums that add up over micro-batches.

    The losses without ``_sum`` are means in nats over masked positions and over labelled pairs;
    they are 0 where the batch has none.
    """

    masked_token_logits: Tensor  # B K V
    sentence_order_logits: Tensor  # B 2
    masked_token_loss_sum: Tensor  # in nats, over the masked positions
    masked_count: Tensor  # how many there are
    sentence_order_loss_sum: Tensor  # in nats, over the labelled pairs
    pair_count: Tensor

    @property
    def masked_token_loss(self) -> Tensor:
        """The mean over the masked positions, in nats."""
        return self.masked_token_loss_sum / self.masked_count.clamp(min=1)

    @property
    def sentence_order_loss(self) -> Tensor:
        """The mean over the labelled pairs, in nats."""
        return self.sentence_order_loss_sum / self.pair_count.clamp(min=1)

    @property
    def loss(self) -> Tensor:
        """The sum of the two means, which is what training minimises."""
        return self.masked_token_loss + self.sentence_order_loss


def initialise(module: nn.Module, std: float) -> None:
    """Set a module's weights to the start of the authors' code.

    Matrices and tables are normal, cut at two standard deviations; biases are 0, and norms start as
    the identity, which is PyTorch's default.
    """
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.trunc_normal_(module.weight, std=std, a=-2 * std, b=2 * std)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)


class Albert(nn.Module):
    """Embeddings, L layer applications, and a pooler on [CLS].

    ``attention_mask`` is 1 on tokens and 0 on padding; None means that nothing is padding.
    ``tokenizer_fingerprint`` is that of the tokenizer whose ids the weights were trained on, None
    before any training. Lan et al. 2019, section 3; notebook 04.
    """

    tokenizer_fingerprint: str | None = None

    def __init__(self, config: AlbertConfig):
        super().__init__()
        self.config = config
        self.embeddings = FactorizedEmbedding(config)
        self.encoder = SharedEncoder(config)
        self.pooler = nn.Linear(config.hidden_size, config.hidden_size)
        self.apply(lambda module: initialise(module, config.init_std))

    def forward(
        self,
        token_ids: Int[Tensor, "B S"],
        segment_ids: Int[Tensor, "B S"] | None = None,
        attention_mask: Int[Tensor, "B S"] | None = None,
        return_hidden_states: bool = False,
    ) -> EncoderOutput:
        if segment_ids is None:
            segment_ids = torch.zeros_like(token_ids)
        mask = None if attention_mask is None else as_mask(attention_mask, token_ids)
        hidden = self.embed(token_ids, segment_ids)  # B S H
        if return_hidden_states:
            states = (hidden, *self.encoder.steps(hidden, mask))
            last_hidden = states[-1]
        else:
            states = None
            last_hidden = self.encoder(hidden, mask)
        pooled = torch.tanh(self.pooler(last_hidden[:, 0]))  # B H
        return EncoderOutput(last_hidden, pooled, states)

    def embed(
        self, token_ids: Int[Tensor, "B S"], segment_ids: Int[Tensor, "B S"]
    ) -> Float[Tensor, "B S H"]:
        """Return what the first layer reads. Raises InputError for ids that have no vectors."""
        config = self.config
        S = token_ids.shape[-1]
        for name, ids in {"token_ids": token_ids, "segment_ids": segment_ids}.items():
            check_ids(name, ids, token_ids.shape)
        if not token_ids.numel():
            raise InputError(f"there is no token in ids of shape {tuple(token_ids.shape)}.")
        if S > config.max_positions:
            raise InputError(
                f"a sequence of {S} tokens, but max_positions is {config.max_positions}: shorten "
                f"the sequence, or build the model with max_positions={S}."
            )
        try:
            return self.embeddings(token_ids, segment_ids)
        except IndexError as error:
            raise InputError(
                f"ids must be [B,S], of tokens below {config.vocab_size}, of segments below "
                f"{config.num_segments} ({error})."
            ) from error


def check_ids(name: str, ids: Tensor, shape: torch.Size) -> None:
    """Raise InputError unless ids are whole numbers of this shape."""
    if ids.dtype not in (torch.int32, torch.int64):
        raise InputError(f"{name} must be whole numbers, torch.int64, got {ids.dtype}.")
    if ids.shape != shape:
        raise InputError(f"{name} must be {list(shape)} like token_ids, got {list(ids.shape)}.")


def as_mask(attention_mask: Tensor, token_ids: Int[Tensor, "B S"]) -> Bool[Tensor, "B S"]:
    """Return a mask of ones and zeros as truth values: True on tokens, False on padding.

    Raises InputError for another shape than that of the ids. And for floats: a mask of 0 on tokens
    and -inf on padding, which is added to attention scores, would mean the opposite here.
    """
    if attention_mask.is_floating_point():
        raise InputError(
            f"attention_mask must be 1 on tokens and 0 on padding, in whole numbers or truth "
            f"values, got {attention_mask.dtype}."
        )
    if attention_mask.shape != token_ids.shape:
        raise InputError(
            f"attention_mask must be {list(token_ids.shape)} like token_ids, "
            f"got {list(attention_mask.shape)}."
        )
    return attention_mask.bool()


class AlbertForPretraining(nn.Module):
    """Albert with the masked-token head and the sentence-order head (notebooks 05 and 06).

    Its forward gives the losses of a batch. The decoder sees masked positions only: K of S
    positions go through the V-wide product, as in the authors' code.
    """

    def __init__(self, config: AlbertConfig):
        super().__init__()
        self.config = config
        self.albert = Albert(config)
        self.masked_token_head = MaskedTokenHead(config, self.albert.embeddings.word)
        self.sentence_order_head = SentenceOrderHead(config)
        # The table is the embeddings' own and has its values already, so it is not drawn again.
        initialise(self.masked_token_head.dense, config.init_std)
        initialise(self.sentence_order_head, config.init_std)
        nn.init.zeros_(self.masked_token_head.decoder.bias)

    def forward(self, batch: PretrainingBatch) -> PretrainingOutput:
        encoded = self.albert(batch.token_ids, batch.segment_ids, batch.attention_mask)
        H = self.config.hidden_size
        positions = batch.masked_positions.unsqueeze(-1).expand(-1, -1, H)  # B K H
        masked_hidden = encoded.last_hidden.gather(1, positions)  # B K H
        masked_token_logits = self.masked_token_head(masked_hidden)  # B K V
        sentence_order_logits = self.sentence_order_head(encoded.pooled)  # B 2
        return PretrainingOutput(
            masked_token_logits=masked_token_logits,
            sentence_order_logits=sentence_order_logits,
            masked_token_loss_sum=loss_sum(masked_token_logits, batch.masked_labels),
            masked_count=batch.masked_count,
            sentence_order_loss_sum=loss_sum(sentence_order_logits, batch.order_labels),
            pair_count=batch.pair_count,
        )


def loss_sum(logits: Float[Tensor, "*N C"], labels: Int[Tensor, "*N"]) -> Float[Tensor, ""]:
    """Return the cross-entropy in nats, summed over the labels that are not IGNORE."""
    logits = logits.flatten(0, -2).float()  # N C
    return F.cross_entropy(logits, labels.flatten(), ignore_index=IGNORE, reduction="sum")


def mean_loss(logits: Float[Tensor, "*N C"], labels: Int[Tensor, "*N"]) -> Float[Tensor, ""]:
    """Return ``loss_sum`` per label that is not IGNORE, or 0 without any."""
    return loss_sum(logits, labels) / count_labels(labels).clamp(min=1)


def check_tokenizer(albert: Albert, tokenizer: Tokenizer) -> None:
    """Raise InputError where a tokenizer's ids mean other tokens to a model, or none at all.

    Two vocabularies of one size differ silently: each release of SentencePiece learns another one
    from the same text, and a foreign one raises the loss by two nats without any other sign.
    """
    tokens = len(tokenizer)
    rows = albert.config.vocab_size
    if tokens > rows:
        raise InputError(f"the tokenizer has {tokens} tokens, the model's vocab_size is {rows}.")
    if albert.tokenizer_fingerprint not in (None, tokenizer.fingerprint):
        raise InputError(
            f"this is another tokenizer ({tokenizer.fingerprint}) than the model's "
            f"({albert.tokenizer_fingerprint}): the same ids mean other tokens. load_pretrained "
            f"returns a model with its own, and prepare(name, tokenizer=tokenizer) cuts text by it."
        )


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Switch dropout and gradients off for a block; restore the mode, also after an error."""
    was_training = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in was_training.items():
            module.training = training
