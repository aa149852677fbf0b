"""What tests of several files of this room need: small measures, and jobs in this process."""

import pytest

from albert_edu.training.settings import TrainSettings
from albert_paper import few_labels, layer_steps, order_cross, sweep, text_scores
from tests.support import run_here


@pytest.fixture
def small_measures(monkeypatch):
    """Processes of their own cost seconds each, and so do whole measures."""
    monkeypatch.setattr(sweep, "run_all", run_here)
    monkeypatch.setattr(text_scores, "MEASURED", 2)
    monkeypatch.setattr(text_scores, "WATCHED", 1)
    monkeypatch.setattr(text_scores, "SILENCED", 1)
    monkeypatch.setattr(order_cross, "MEASURED", 2)
    monkeypatch.setattr(layer_steps, "FAR", 40)
    monkeypatch.setattr(layer_steps, "FAR_ROWS", 2)
    monkeypatch.setattr(few_labels, "EXAMPLES", 400)
    monkeypatch.setattr(few_labels, "FINETUNE_SETTINGS", TrainSettings(steps=2, warmup_steps=1))
