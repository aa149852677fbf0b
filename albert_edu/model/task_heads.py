"""Heads for fine-tuning: a class or a choice, and a span.

Every model gives logits for a ``TaskData`` batch, the loss of a batch, and its predictions in the
form of the labels. Lan et al. 2019, appendix A.3; built in notebook 11.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from albert_edu.model.albert import Albert, initialise, mean_loss
from albert_edu.text.masking import IGNORE
from albert_edu.text.tasks import TaskData

LONGEST_ANSWER = 30  # tokens, as in the authors' code


class AlbertForClassification(nn.Module):
    """The pooled vector of [CLS], dropout, and ``num_labels`` scores. Built in assignment 11.

    With one label it is the head for choices: an example, such as one of RACE with its passage and
    C = 4 answers, is C sequences, and the loss is that of a softmax over their scores.
    """

    def __init__(self, albert: Albert, num_labels: int, dropout: float = 0.1):
        super().__init__()
        self.albert = albert
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(albert.config.hidden_size, num_labels)
        initialise(self.head, albert.config.init_std)

    def forward(self, batch: TaskData) -> Float[Tensor, "B C"]:
        parts = (batch.token_ids, batch.segment_ids, batch.attention_mask)
        pooled = self.albert(*(part.flatten(0, -2) for part in parts)).pooled  # B H, or B*C H
        return self.head(self.dropout(pooled)).view(len(batch), -1)

    def loss(self, batch: TaskData) -> Float[Tensor, ""]:
        return mean_loss(self(batch), batch.labels)

    def predict(self, batch: TaskData) -> Int[Tensor, "B"]:
        return self(batch).argmax(-1)


class AlbertForSpan(nn.Module):
    """Scores of each token as the first and as the last of an answer, and one for "no answer".

    Only tokens of the context can answer. The score for "no answer" comes from the pooled vector of
    [CLS] and is trained jointly, at half weight; only SQuAD 2.0 needs it. The authors' head is
    larger: its scores of the last token also see the first, found by a beam search. Notebook 11.
    """

    def __init__(self, albert: Albert, dropout: float = 0.1):
        super().__init__()
        self.albert, self.dropout = albert, nn.Dropout(dropout)
        H = albert.config.hidden_size
        self.head = nn.ModuleDict({"span": nn.Linear(H, 2), "none": nn.Linear(H, 1)})
        self.head.apply(lambda module: initialise(module, albert.config.init_std))

    def forward(
        self, batch: TaskData
    ) -> tuple[Float[Tensor, "B S"], Float[Tensor, "B S"], Float[Tensor, "B"]]:
        hidden, pooled, _ = self.albert(batch.token_ids, batch.segment_ids, batch.attention_mask)
        segment = batch.segment_ids
        is_last = segment.cumsum(-1) == segment.sum(-1, keepdim=True)  # [SEP], and padding after it
        context = segment.bool() & ~is_last  # B S
        scores = self.head["span"](self.dropout(hidden))  # B S 2
        start, end = scores.masked_fill(~context[..., None], float("-inf")).unbind(-1)
        return start, end, self.head["none"](self.dropout(pooled))[:, 0]

    def loss(self, batch: TaskData) -> Float[Tensor, ""]:
        """Return the mean over both ends in nats, plus half of the loss of "no answer"."""
        start, end, none = self(batch)
        span = mean_loss(start, batch.labels[:, 0]) + mean_loss(end, batch.labels[:, 1])
        unanswerable = (batch.labels[:, 0] == IGNORE).float()
        return span / 2 + F.binary_cross_entropy_with_logits(none.float(), unanswerable) / 2

    def predict(self, batch: TaskData) -> Float[Tensor, "B 4"]:
        """Return the best first and last position, first <= last, and two scores.

        They are the log-probability that this span is the answer, by which the best window over a
        context is chosen, and the score for "no answer", which is likelier if it is above 0.
        """
        start, end, none = self(batch)
        span = start.log_softmax(-1)[:, :, None] + end.log_softmax(-1)[:, None, :]  # B S S
        allowed = torch.ones_like(span[0], dtype=torch.bool).triu().tril(LONGEST_ANSWER - 1)
        score, place = span.masked_fill(~allowed, float("-inf")).flatten(1).max(-1)
        first, last = place // span.shape[-1], place % span.shape[-1]
        return torch.stack((first, last, score + F.logsigmoid(-none), none), -1)


TaskModel = AlbertForClassification | AlbertForSpan
