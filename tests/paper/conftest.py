"""What tests of several files of this room need: small measures, and jobs in this process."""

from itertools import islice

import pytest

from albert_edu.text import corpora
from albert_edu.training.settings import TrainSettings
from albert_paper import few_labels, layer_steps, order_cross, sweep, text_scores
from tests.support import run_here


@pytest.fixture(scope="session")
def cache_of_few_documents(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def few_documents(monkeypatch, cache_of_few_documents):
    """Every sixth speech and 80th review: where nothing is kept yet, all of them take minutes."""
    monkeypatch.setenv("ALBERT_EDU_CACHE", str(cache_of_few_documents))
    for name, step in (("sotu", 6), ("imdb", 80)):
        few = islice(corpora.NAMED[name](), 0, None, step)
        monkeypatch.setitem(corpora.NAMED, name, lambda kept=list(few): iter(kept))


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
