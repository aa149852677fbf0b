"""Heads for fine-tuning: a class or a choice, and a span.

Every model gives logits for a ``TaskData`` batch, the loss of a batch, and its predictions in the
form of the labels. Lan et al. 2019, appendix A.3; built in notebook 11.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from albert_edu.batch import TaskData, has_label
from albert_edu.model.albert import Albert, initialise, mean_loss

LONGEST_ANSWER = 30  # tokens, as in the authors' code


class AlbertForClassification(nn.Module):
    """The pooled vector of [CLS], dropout, and ``num_labels`` logits. Built in assignment 11.

    With one label it is the head for choices: an example, such as one of RACE with its passage and
    C = 4 answers, is C sequences, and the loss is that of a softmax over their logits.
    """

    def __init__(self, albert: Albert, num_labels: int, dropout: float = 0.1):
        super().__init__()
        self.albert = albert
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(albert.config.hidden_size, num_labels)
        initialise(self.head, albert.config.init_std)

    def forward(self, batch: TaskData) -> Float[Tensor, "B C"]:
        token_ids = batch.token_ids.flatten(0, -2)  # B S, or B*C S
        segment_ids = batch.segment_ids.flatten(0, -2)
        attention_mask = batch.attention_mask.flatten(0, -2)
        pooled = self.albert(token_ids, segment_ids, attention_mask).pooled  # B H, or B*C H
        logits = self.head(self.dropout(pooled))
        return logits.view(len(batch), -1)  # B C

    def loss(self, batch: TaskData) -> Float[Tensor, ""]:
        """Return the mean cross-entropy of the classes, or choices, in nats."""
        return mean_loss(self(batch), batch.labels)

    def predict(self, batch: TaskData) -> Int[Tensor, "B"]:
        """Return the likeliest class, or choice, of each example."""
        return self(batch).argmax(-1)


class AlbertForSpan(nn.Module):
    """Logits of each token as the first and as the last of an answer, and one for "no answer".

    Only tokens of the context can answer. The logit of "no answer" comes from the pooled vector of
    [CLS] and is trained jointly, at half weight; only SQuAD 2.0 needs it. The authors' head is
    larger: its logits of the last token also see the first, found by a beam search. Notebook 11.
    """

    def __init__(self, albert: Albert, dropout: float = 0.1):
        super().__init__()
        self.albert = albert
        self.dropout = nn.Dropout(dropout)
        H = albert.config.hidden_size
        self.head = nn.ModuleDict({"span": nn.Linear(H, 2), "none": nn.Linear(H, 1)})
        self.head.apply(lambda module: initialise(module, albert.config.init_std))

    def forward(
        self, batch: TaskData
    ) -> tuple[Float[Tensor, "B S"], Float[Tensor, "B S"], Float[Tensor, "B"]]:
        encoded = self.albert(batch.token_ids, batch.segment_ids, batch.attention_mask)
        logits = self.head["span"](self.dropout(encoded.last_hidden))  # B S 2
        outside = ~context_tokens(batch.segment_ids)  # B S
        start, end = logits.masked_fill(outside[:, :, None], float("-inf")).unbind(-1)
        none = self.head["none"](self.dropout(encoded.pooled))  # B 1
        return start, end, none[:, 0]

    def loss(self, batch: TaskData) -> Float[Tensor, ""]:
        """Return the mean over both ends in nats, plus half of the loss of "no answer"."""
        start, end, none = self(batch)
        first, last = batch.labels.unbind(-1)
        span_loss = (mean_loss(start, first) + mean_loss(end, last)) / 2
        unanswerable = (~has_label(first)).float()
        none_loss = F.binary_cross_entropy_with_logits(none.float(), unanswerable)
        return span_loss + none_loss / 2

    def predict(self, batch: TaskData) -> Float[Tensor, "B 4"]:
        """Return the best first and last position, first <= last, and two scores.

        They are the log-probability that this span is the answer, by which the best window over a
        context is chosen, and the logit of "no answer", which is likelier if it is above 0.
        """
        # bfloat16 knows no odd numbers above 256, and positions stand beside the scores.
        start, end, none = (logits.float() for logits in self(batch))
        span = start.log_softmax(-1)[:, :, None] + end.log_softmax(-1)[:, None, :]  # B S S
        S = span.shape[-1]
        ordered = torch.ones(S, S, dtype=torch.bool, device=span.device).triu()
        allowed = ordered.tril(LONGEST_ANSWER - 1)
        score, place = span.masked_fill(~allowed, float("-inf")).flatten(1).max(-1)  # B
        first = place // S
        last = place % S
        answered = F.logsigmoid(-none)  # ln of the probability that there is an answer
        return torch.stack((first, last, score + answered, none), -1)


def context_tokens(segment_ids: Int[Tensor, "B S"]) -> Bool[Tensor, "B S"]:
    """Return where the second text stands, without its [SEP] and the padding after it.

    The [SEP] is the last token of segment 1, and padding has segment 0.
    """
    seen = segment_ids.cumsum(-1)
    all_of_them = segment_ids.sum(-1, keepdim=True)
    return segment_ids.bool() & (seen != all_of_them)


TaskModel = AlbertForClassification | AlbertForSpan
