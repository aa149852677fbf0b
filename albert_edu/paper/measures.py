"""What is measured on a trained run. Each takes (model, text, run) and returns plain numbers to be kept as JSON."""

from albert_edu.analysis.counting import count_parameters
from albert_edu.analysis.probes import linear_probe, pooled_features
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.prepare import PreparedText
from albert_edu.training.evaluate import evaluate

MEASURED = 32  # batches of 64 that a score is measured on, and as many for a probe to learn from
TASKS = {"sop": ("sop", "document"), "nsp-document": ("nsp", "document"), "nsp-topic": ("nsp", "topic")}


def scores(model: AlbertForPretraining, text: PreparedText, run) -> dict:
    """Masked-token loss and accuracy on held-out and on training text, and the parameters."""
    found = {"parameters": count_parameters(model.config).with_heads}
    for name, held_out in (("held_out", True), ("train", False)):
        measured = evaluate(model, run.stream(text, held_out, batch_size=64), MEASURED)
        found |= {f"{name}_{key}": value for key, value in measured.items()}
    return rounded(found)


def order_cross(model: AlbertForPretraining, text: PreparedText, run) -> dict:
    """Table 5's cross: masked tokens, and three order tasks, by the head as it is and by a fresh linear probe."""
    head, probe = {}, {}
    for task, (objective, negatives) in TASKS.items():
        kind = {"objective": objective, "negatives": negatives, "batch_size": 64}
        found = evaluate(model, run.stream(text, held_out=True, **kind), MEASURED)
        head[task] = {"accuracy": found["sentence_order_accuracy"], "recall": [found["in_order_recall"], found["swapped_recall"]]}
        features, test = (pooled_features(model, run.stream(text, held_out, **kind), MEASURED) for held_out in (False, True))
        fitted = linear_probe(*features, *test)
        probe[task] = {"accuracy": fitted.accuracy, "recall": list(fitted.per_class)}
    plain = evaluate(model, run.stream(text, held_out=True, objective="none", batch_size=64), MEASURED)
    return rounded({"masked_token_accuracy": plain["masked_token_accuracy"], "head": head, "probe": probe})


def rounded(value, digits: int = 4):
    """Every float in a nest of dicts and lists, rounded for keeping."""
    if isinstance(value, dict):
        return {name: rounded(inner, digits) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(inner, digits) for inner in value]
    return round(value, digits) if isinstance(value, float) else value
