"""Answers to the exercise of notebook 06 on the head that tells the order, right and wrong."""

import torch
from torch import nn

from albert_edu.checks import check_sentence_order_head
from tests.bug_zoo.zoo import right, wrong


@right(check_sentence_order_head)
class PoolerAndScores(nn.Module):
    """Two linear maps with tanh between them."""

    def __init__(self, H):
        super().__init__()
        self.pooler, self.score = nn.Linear(H, H), nn.Linear(H, 2)

    def forward(self, hidden):
        return self.score(self.pool(hidden))

    def pool(self, hidden):
        return torch.tanh(self.pooler(hidden[:, 0]))


@right(check_sentence_order_head)
class ByHand(nn.Module):
    """Matrices that stand on the right, and tanh from exponentials."""

    def __init__(self, H):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.randn(H, H)), nn.Parameter(torch.zeros(H))
        self.c, self.d = nn.Parameter(torch.randn(H, 2)), nn.Parameter(torch.zeros(2))

    def forward(self, hidden):
        pooled = 2 * torch.sigmoid(2 * (torch.einsum("bh,hk->bk", hidden.select(1, 0), self.a) + self.b)) - 1
        return pooled @ self.c + self.d


@wrong(check_sentence_order_head, "leaving out tanh")
class NoTanh(PoolerAndScores):
    """Two maps in a row are one."""

    def pool(self, hidden):
        return self.pooler(hidden[:, 0])


@wrong(check_sentence_order_head, "GELU for tanh")
class GeluForTanh(PoolerAndScores):
    """As in the head for masked tokens."""

    def pool(self, hidden):
        return nn.functional.gelu(self.pooler(hidden[:, 0]))


@wrong(check_sentence_order_head, "bending the scores, and not")
class TanhLast(NoTanh):
    """The bend comes one map too late."""

    def forward(self, hidden):
        return super().forward(hidden).tanh()


@wrong(check_sentence_order_head, "is there a dropout?")
class DropsOut(PoolerAndScores):
    """As a classifier of BERT's does."""

    def pool(self, hidden):
        return nn.functional.dropout(super().pool(hidden), 0.1, self.training)


@wrong(check_sentence_order_head, "leaving out the pooler")
class NoPooler(nn.Module):
    """Scores straight from [CLS]."""

    def __init__(self, H):
        super().__init__()
        self.score = nn.Linear(H, 2)

    def forward(self, hidden):
        return self.score(hidden[:, 0].tanh())


@wrong(check_sentence_order_head, "making one score")
class OneScore(PoolerAndScores):
    """One logit, for a sigmoid."""

    def __init__(self, H):
        super().__init__(H)
        self.score = nn.Linear(H, 1)


@wrong(check_sentence_order_head, "other tokens than [CLS] have a vote")
class MeanOverTokens(PoolerAndScores):
    """A mean, in which padding would vote too."""

    def pool(self, hidden):
        return torch.tanh(self.pooler(hidden.mean(1)))


@wrong(check_sentence_order_head, "the last token")
class LastToken(PoolerAndScores):
    """Where GPT looks."""

    def pool(self, hidden):
        return torch.tanh(self.pooler(hidden[:, -1]))


@wrong(check_sentence_order_head, "one [CLS], at position 0")
class FirstSequence(PoolerAndScores):
    """All tokens of the first sequence instead of the first token of all."""

    def pool(self, hidden):
        return torch.tanh(self.pooler(hidden[0]))


@wrong(check_sentence_order_head, "one [CLS], at position 0")
class EveryToken(PoolerAndScores):
    """Two scores for each token."""

    def pool(self, hidden):
        return torch.tanh(self.pooler(hidden))


@wrong(check_sentence_order_head, "is there a detach()")
class FrozenEncoder(PoolerAndScores):
    """The encoder never learns from the order."""

    def pool(self, hidden):
        return super().pool(hidden.detach())


@wrong(check_sentence_order_head, "squeeze()")
class Squeezed(PoolerAndScores):
    """A batch of one loses its dimension."""

    def forward(self, hidden):
        return super().forward(hidden).squeeze()


@wrong(check_sentence_order_head, "ending with softmax")
class Probabilities(PoolerAndScores):
    """What cross_entropy does itself."""

    def forward(self, hidden):
        return super().forward(hidden).softmax(-1)


@wrong(check_sentence_order_head, "giving the second map no bias")
class NoLastBias(PoolerAndScores):
    """2H numbers instead of 2H + 2."""

    def __init__(self, H):
        super().__init__(H)
        self.score = nn.Linear(H, 2, bias=False)


@wrong(check_sentence_order_head, "you return function")
def a_function_without_weights(H):
    return lambda hidden: hidden[:, 0, :2].tanh()
