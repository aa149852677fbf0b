"""What the columns of a record measure, and how their values are written on a page."""

from typing import NamedTuple


class Label(NamedTuple):
    """What a column measures, and in which unit; a difference of percents is of points."""

    what: str
    unit: str = ""


LABELS = {  # by what a column ends in
    "labels_50.accuracy": Label("accuracy with 50 labels", "%"),
    "labels_200.accuracy": Label("accuracy with 200 labels", "%"),
    "third.masked_token_accuracy": Label("MLM accuracy on the third text", "%"),
    "third.masked_token_loss": Label("MLM loss on the third text (nats)"),
    "auc": Label("head: area under the curve"),
    "probe_mean.nsp-topic.accuracy": Label("classifier: accuracy", "%"),
    "probe_mean.sop.accuracy": Label("classifier: accuracy", "%"),
    "masked_token_accuracy": Label("held-out MLM accuracy", "%"),
    "accuracy": Label("accuracy", "%"),
    "mean_angle": Label("mean angle (degrees)", "°"),
    "mean_l2": Label("mean L2 distance"),
    "angle_at.24": Label("angle at application 24 (degrees)", "°"),
    "angle_at.36": Label("angle at application 36 (degrees)", "°"),
    "angle_at.100": Label("angle at application 100 (degrees)", "°"),
    "angle_at.1000": Label("angle at application 1,000 (degrees)", "°"),
    "l2_roughness": Label("mean bend of the L2 distance"),
    "relative_roughness": Label("mean bend, relative to the mean angle"),
    "roughness": Label("mean bend (degrees)", "°"),
    "never_learnt": Label("starts that never learnt", "%"),
    "gap": Label("held-out minus training loss"),
    "masked_token_loss": Label("held-out MLM loss (nats)"),
    "": Label(""),
}


def label(column: str) -> Label:
    """Return what a column measures, and its units."""
    return next(words for end, words in LABELS.items() if column.endswith(end))


def shown(found: dict, column: str, difference: bool) -> str:
    """Return a mean with its 95% interval and unit; seconds are whole."""
    if column.endswith("seconds"):
        return f"{found['mean']:.0f} ± {found['half']:.0f}"
    unit = label(column).unit
    scale = 100 if unit == "%" else 1
    digits = 1 if unit else 2
    unit = " points" if difference and unit == "%" else unit
    mean = round(found["mean"] * scale, digits) + 0.0  # which has no minus where it is 0
    return f"{mean:.{digits}f} ± {found['half'] * scale:.{digits}f}{unit}"
