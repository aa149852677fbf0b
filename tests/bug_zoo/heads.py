"""Answers to the exercises of notebook 05 on the head that guesses pieces, right and wrong."""

import torch
import torch.nn.functional as F
from torch import nn

from albert_edu.checks import check_masked_token_head
from albert_edu.model.heads import MaskedTokenHead
from tests.bug_zoo.zoo import right

right(check_masked_token_head)(MaskedTokenHead)


@right(check_masked_token_head)
class WithTheEmbeddingItself(nn.Module):
    """Keeps the module, multiplies by hand, and writes GELU and the norm out."""

    def __init__(self, config, word_embedding):
        super().__init__()
        self.words, E = word_embedding, config.embedding_size
        self.back, self.shift = nn.Parameter(torch.randn(config.hidden_size, E) / 9), nn.Parameter(torch.zeros(E))
        self.gain, self.beta = nn.Parameter(torch.ones(E)), nn.Parameter(torch.zeros(E))
        self.prior = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, hidden):
        x = hidden @ self.back + self.shift
        x = x * 0.5 * (1 + torch.erf(x / 2**0.5))
        x = (x - x.mean(-1, keepdim=True)) / x.var(-1, keepdim=True, correction=0).sqrt()
        return torch.einsum("...e,ve->...v", x * self.gain + self.beta, self.words.weight) + self.prior


@right(check_masked_token_head)
class WithAHiddenTable(nn.Module):
    """The table is no parameter of the head; the encoder has it."""

    def __init__(self, config, word_embedding):
        super().__init__()
        sizes = config.hidden_size, config.embedding_size
        self.layers = nn.Sequential(nn.Linear(*sizes), nn.GELU("tanh"), nn.LayerNorm(sizes[1]))
        self.bias, self.table = nn.Parameter(torch.randn(config.vocab_size)), lambda: word_embedding.weight

    def forward(self, hidden):
        return F.linear(self.layers(hidden), self.table(), self.bias)
