"""Answers to the exercises of notebook 11 on the head for classes, right and wrong."""

import torch
import torch.nn.functional as F
from torch import nn

from albert_edu.checks import check_classification_head
from tests.bug_zoo.zoo import right, wrong


@right(check_classification_head)
class HeadOfModules(nn.Module):
    """Dropout, then a linear map."""

    def __init__(self, hidden_size, num_labels, dropout):
        super().__init__()
        self.drop, self.map = nn.Dropout(dropout), nn.Linear(hidden_size, num_labels)

    def forward(self, pooled):
        return self.after(self.map(self.drop(self.before(pooled))))

    def before(self, pooled):
        return pooled

    def after(self, logits):
        return logits


@right(check_classification_head)
def head_as_sequential(hidden_size, num_labels, dropout):
    return nn.Sequential(nn.Dropout(dropout), nn.Linear(hidden_size, num_labels))


@right(check_classification_head)
class HeadByHand(nn.Module):
    """A mask drawn by hand, and a product written out."""

    def __init__(self, H, C, p):
        super().__init__()
        self.p, self.weight, self.bias = p, nn.Parameter(torch.randn(C, H)), nn.Parameter(torch.zeros(C))

    def forward(self, x):
        if self.training:
            x = x * (torch.rand_like(x) >= self.p) / (1 - self.p)
        return torch.einsum("bh,ch->bc", x, self.weight) + self.bias


@wrong(check_classification_head, "applying softmax")
class WithSoftmax(HeadOfModules):
    """Probabilities instead of logits."""

    def after(self, logits):
        return logits.softmax(-1)


@wrong(check_classification_head, "tanh to the logits")
class WithTanhBehind(HeadOfModules):
    """Logits between -1 and 1."""

    def after(self, logits):
        return logits.tanh()


@wrong(check_classification_head, "tanh already")
class WithTanhBefore(HeadOfModules):
    """A second tanh."""

    def before(self, pooled):
        return pooled.tanh()


@wrong(check_classification_head, "ReLU to pooled")
class WithReLU(HeadOfModules):
    """A ReLU between pooled and map."""

    def before(self, pooled):
        return pooled.relu()


@wrong(check_classification_head, "returning the class")
class ClassOnly(HeadOfModules):
    """The decision, which has no gradient."""

    def after(self, logits):
        return logits.argmax(-1)


@wrong(check_classification_head, "one nn.Linear(H, C) is left")
class SecondPooler(HeadOfModules):
    """Another dense layer and tanh, as RoBERTa's head has, whose encoder has no pooler."""

    def __init__(self, hidden_size, num_labels, dropout):
        super().__init__(hidden_size, num_labels, dropout)
        self.dense = nn.Linear(hidden_size, hidden_size)

    def before(self, pooled):
        return self.dense(pooled).tanh()


@wrong(check_classification_head, "one nn.Linear(H, C) is left")
class NoBias(HeadOfModules):
    """A map through 0."""

    def __init__(self, hidden_size, num_labels, dropout):
        super().__init__(hidden_size, num_labels, dropout)
        self.map = nn.Linear(hidden_size, num_labels, bias=False)


@wrong(check_classification_head, "one nn.Linear(H, C) is left")
class TwoClasses(HeadOfModules):
    """Good for SST-2 alone."""

    def __init__(self, hidden_size, num_labels, dropout):
        super().__init__(hidden_size, 2, dropout)


@wrong(check_classification_head, "nothing is dropped in training")
class NoDropout(HeadOfModules):
    """Forgets what it built."""

    def forward(self, pooled):
        return self.map(pooled)


@wrong(check_classification_head, "dropout is still on in eval mode")
class AlwaysDropping(HeadOfModules):
    """F.dropout without training=self.training."""

    def before(self, pooled):
        return F.dropout(pooled, 0.3)


@wrong(check_classification_head, "dropout comes before the map")
class ScoresDropped(HeadOfModules):
    """Drops scores of classes."""

    def forward(self, pooled):
        return self.drop(self.map(pooled))


@wrong(check_classification_head, "not scaled up")
class NotScaled(HeadOfModules):
    """A mask without 1 / (1 - p)."""

    def forward(self, pooled):
        return self.map(pooled * (torch.rand_like(pooled) >= self.drop.p) if self.training else pooled)


@wrong(check_classification_head, "to keep for that to drop")
class KeepProbability(HeadOfModules):
    """Takes dropout for what is kept."""

    def __init__(self, hidden_size, num_labels, dropout):
        super().__init__(hidden_size, num_labels, 1 - dropout)


@wrong(check_classification_head, "always taking 0.1")
class AlwaysATenth(HeadOfModules):
    """Does not look at its argument."""

    def __init__(self, hidden_size, num_labels, dropout):
        super().__init__(hidden_size, num_labels, 0.1)


@wrong(check_classification_head, "nn.Module as its base")
def head_as_function(hidden_size, num_labels, dropout):
    return lambda pooled: nn.Linear(hidden_size, num_labels)(pooled)


@wrong(check_classification_head, "is the return missing?")
class NothingReturned(HeadOfModules):
    """Computes and keeps it."""

    def forward(self, pooled):
        self.map(self.drop(pooled))


@wrong(check_classification_head, "still to do")
def not_begun(hidden_size, num_labels, dropout):
    raise NotImplementedError("Exercise 11.4")
