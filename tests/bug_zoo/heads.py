"""Answers to the exercises of notebook 05 on the head that guesses pieces, right and wrong."""

import torch
import torch.nn.functional as F
from torch import nn

from albert_edu.checks import check_masked_token_head
from albert_edu.model.heads import MaskedTokenHead
from tests.bug_zoo.zoo import right, wrong

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


class TokenHead(nn.Module):
    """What most wrong answers below have in common."""

    def __init__(self, config, words, last=True):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.embedding_size)
        self.norm = nn.LayerNorm(config.embedding_size)
        self.decoder = nn.Linear(config.embedding_size, config.vocab_size, bias=last)
        self.decoder.weight = words.weight

    def forward(self, hidden):
        return self.decoder(self.norm(F.gelu(self.dense(hidden))))


@wrong(check_masked_token_head, "untied")
class Untied(TokenHead):
    """A decoder of its own."""

    def __init__(self, config, words):
        super().__init__(config, words)
        self.decoder = nn.Linear(config.embedding_size, config.vocab_size)


@wrong(check_masked_token_head, "untied")
class CopiedOnce(TokenHead):
    """Starts from the table and goes its own way."""

    def __init__(self, config, words):
        super().__init__(config, words)
        self.decoder.weight = nn.Parameter(words.weight.detach().clone())


@wrong(check_masked_token_head, "sharing .data")
class SharedData(TokenHead):
    """Two Parameters over the same numbers."""

    def __init__(self, config, words):
        super().__init__(config, words)
        self.decoder.weight = nn.Parameter(words.weight.data)


@wrong(check_masked_token_head, "no gradient reaches the table")
class DetachedTable(TokenHead):
    """The table is read and never taught."""

    def forward(self, hidden):
        return F.linear(self.norm(F.gelu(self.dense(hidden))), self.decoder.weight.detach(), self.decoder.bias)


@wrong(check_masked_token_head, "the vocabulary no bias")
class NoVocabularyBias(TokenHead):
    """The product alone."""

    def __init__(self, config, words):
        super().__init__(config, words, last=False)


@wrong(check_masked_token_head, "not adding it")
class UnusedBias(TokenHead):
    """The bias is made, as in transformers, and forgotten."""

    def forward(self, hidden):
        return self.norm(F.gelu(self.dense(hidden))) @ self.decoder.weight.T


@wrong(check_masked_token_head, "leaving out GELU")
class WithoutGelu(TokenHead):
    """Linear all the way."""

    def forward(self, hidden):
        return self.decoder(self.norm(self.dense(hidden)))


@wrong(check_masked_token_head, "norming before GELU")
class NormFirst(TokenHead):
    """The order of a pre-norm block."""

    def forward(self, hidden):
        return self.decoder(F.gelu(self.norm(self.dense(hidden))))


@wrong(check_masked_token_head, "leaving out the norm")
class NormUnused(TokenHead):
    """The norm is made and not called."""

    def forward(self, hidden):
        return self.decoder(F.gelu(self.dense(hidden)))


@wrong(check_masked_token_head, "leaving out the norm")
class NoNorm(NormUnused):
    """The norm is not even made."""

    def __init__(self, config, words):
        super().__init__(config, words)
        del self.norm


@wrong(check_masked_token_head, "ReLU for GELU")
class WithRelu(TokenHead):
    """Another bend."""

    def forward(self, hidden):
        return self.decoder(self.norm(self.dense(hidden).relu()))


@wrong(check_masked_token_head, "ending with log_softmax")
class LogProbabilities(TokenHead):
    """What cross_entropy does itself."""

    def forward(self, hidden):
        return super().forward(hidden).log_softmax(-1)


@wrong(check_masked_token_head, "mapping H to H first")
class AsInBert(TokenHead):
    """BERT's transform keeps the width; ALBERT's goes back to E."""

    def __init__(self, config, words):
        super().__init__(config, words)
        self.wide = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden):
        return super().forward(self.wide(hidden))


@wrong(check_masked_token_head, "is there a dropout?")
class DropsOut(TokenHead):
    """As the layers of the encoder do."""

    def forward(self, hidden):
        return super().forward(F.dropout(hidden, 0.1, self.training))


@wrong(check_masked_token_head, "in forward, line")
class ThreeDimensionsOnly(TokenHead):
    """Gathered positions come as [N,H], a single one as [H]."""

    def forward(self, hidden):
        B, K, H = hidden.shape
        return super().forward(hidden.reshape(B * K, H)).view(B, K, -1)


@wrong(check_masked_token_head, "a dimension of its own")
class AtLeastTwoDimensions(TokenHead):
    """A row is made of a single vector and never taken apart again."""

    def forward(self, hidden):
        return super().forward(torch.atleast_2d(hidden))


@wrong(check_masked_token_head, "the shape is (2, 3, 8)")
class StopsAtTheNorm(TokenHead):
    """Comes back to E and forgets the table."""

    def forward(self, hidden):
        return self.norm(F.gelu(self.dense(hidden)))


@wrong(check_masked_token_head, "you return Tensor")
def scores_at_once(config, words):
    return torch.zeros(config.vocab_size)


@wrong(check_masked_token_head, "still to do")
class HeadNotBegun(nn.Module):
    """To do."""

    def __init__(self, config, words):
        raise NotImplementedError("Exercise 05.5")
