"""The paper's numbers, for the drawings that quote them."""

from albert_edu.paper.published import TRAINING


def training_setting(name: str):
    """Return a published setting of the authors' training, for example ``"learning_rate"``."""
    return TRAINING[name].value
