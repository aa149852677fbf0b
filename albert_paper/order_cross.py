"""Table 5's cross: what a run knows of three order tasks, whichever one it was trained on.

A trained run goes in; for SOP, and for NSP with negatives of another document and of another topic,
come out the accuracy of its order head and of linear probes that are trained afresh. Explained in
notebook 06.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from albert_edu.analysis.probes import linear_probe
from albert_edu.model.albert import AlbertForPretraining, evaluation_mode
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.prepare import PreparedText
from albert_edu.training.evaluate import baselines, evaluate
from albert_paper.text_scores import BATCH, MEASURED, living_parts
from albert_paper.training_run import Run


class OrderTask(NamedTuple):
    """An objective, and where the second text of a negative example comes from."""

    objective: str
    negatives: str


TASKS = {
    "sop": OrderTask("sop", "document"),
    "nsp-document": OrderTask("nsp", "document"),
    "nsp-topic": OrderTask("nsp", "topic"),
}


class Features(NamedTuple):
    """What a probe reads of each row, and the right answer."""

    pooled: Tensor  # N H
    mean: Tensor  # N H: of the last hidden states, without padding
    labels: Tensor  # N


def order_cross(model: AlbertForPretraining, text: PreparedText, run: Run) -> dict:
    """Return MLM, and three order tasks by the head and by fresh linear probes.

    The head has an accuracy, its recalls, and the area under its curve: how often a swapped or
    random pair gets a higher score than one in order, whatever the head's threshold is.
    ``probe`` reads the pooled vector, which without an order loss is a random map of [CLS];
    ``probe_mean`` reads the mean of the last hidden states. Text that names no topics has another
    one in each document.
    """
    has_topics = len(np.unique(text.held_out.topics)) > 1
    found: dict[str, Any] = {"head": {}, "probe": {}, "probe_mean": {}}
    for name, task in TASKS.items():
        kind = {
            "objective": task.objective,
            "negatives": task.negatives if has_topics else "document",
            "batch_size": BATCH,
        }
        learn = run.stream(text, held_out=False, **kind)
        test = run.stream(text, held_out=True, **kind)
        accuracy = evaluate(model, test, MEASURED)["sentence_order_accuracy"]
        found["head"][name] = {"accuracy": accuracy, **head_curve(model, test)}
        seen = features(model, learn)
        unseen = features(model, test)
        probe, _ = linear_probe(seen.pooled, seen.labels, unseen.pooled, unseen.labels)
        found["probe"][name] = {"accuracy": probe}
        probe_mean, _ = linear_probe(seen.mean, seen.labels, unseen.mean, unseen.labels)
        found["probe_mean"][name] = {"accuracy": probe_mean}
    plain = run.stream(text, held_out=True, objective="none", batch_size=BATCH)
    found["held_out_masked_token_loss"] = evaluate(model, plain, MEASURED)["masked_token_loss"]
    found["copy_baseline"] = baselines(text.train, text.held_out, model.config.vocab_size).copy
    found["health"] = living_parts(model, text, run)
    return found


def head_curve(model: AlbertForPretraining, stream: PretrainingStream) -> dict[str, float]:
    """Return the area under the order head's curve, and its recalls of pairs in order and not.

    The area is the statistic of Mann and Whitney over the number of pairs.
    """
    device = next(model.parameters()).device
    score_parts = []
    label_parts = []
    with evaluation_mode(model):
        for step in range(MEASURED):
            batch = stream.batch(step).to(device)
            logits = model(batch).sentence_order_logits
            score_parts.append((logits[:, 1] - logits[:, 0]).cpu())
            label_parts.append(batch.order_labels.cpu())
    scores = torch.cat(score_parts).double().numpy()
    labels = torch.cat(label_parts).numpy()
    other = scores[labels == 1]
    in_order = scores[labels != 1]
    higher = stats.mannwhitneyu(other, in_order, method="asymptotic").statistic
    return {
        "auc": float(higher / (len(other) * len(in_order))),
        "recall_in_order": float((in_order <= 0).mean()),
        "recall_other": float((other > 0).mean()),
    }


def features(model: AlbertForPretraining, stream: PretrainingStream) -> Features:
    """Return what the probes read of the first batches of a stream, on the CPU."""
    device = next(model.parameters()).device
    pooled = []
    means = []
    labels = []
    with evaluation_mode(model):
        for step in range(MEASURED):
            batch = stream.batch(step).to(device)
            output = model.albert(*batch.unmasked())
            mask = batch.attention_mask
            weight = mask[:, :, None] / mask.sum(1)[:, None, None]  # B S 1
            pooled.append(output.pooled.cpu())
            means.append((output.last_hidden * weight).sum(1).cpu())
            labels.append(batch.order_labels.cpu())
    return Features(torch.cat(pooled), torch.cat(means), torch.cat(labels))
