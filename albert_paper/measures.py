"""The measures that a plan names: what is measured on a trained run, and where each is written.

Each takes (model, text, run) and returns plain numbers; ``sweep`` rounds and keeps them. A section
names one of them as its ``measure``. ``held_out_scores``, ``living_parts`` and ``third_domain`` are
quick enough to be looked at while a run trains (``watch``).
"""

from albert_paper.few_labels import few_labels
from albert_paper.layer_steps import layer_steps
from albert_paper.order_cross import order_cross
from albert_paper.school import school
from albert_paper.text_scores import (
    held_out_scores,
    living_parts,
    scores,
    scores_branch,
    third_domain,
)

__all__ = [
    "few_labels",
    "held_out_scores",
    "layer_steps",
    "living_parts",
    "order_cross",
    "school",
    "scores",
    "scores_branch",
    "third_domain",
]
