"""The library behind the ALBERT course: from a text to batches, logits, checkpoints and figures.

What a user of the library needs is imported from here, by one line:

>>> from albert_edu import AlbertConfig, count_parameters
>>> count_parameters(AlbertConfig.named("albert-base-v2")).total
11683584

A name is loaded when it is first asked for, so that ``import albert_edu`` itself costs nothing. The
longer paths, such as ``albert_edu.model.albert.Albert``, are the same objects.

Below text, model, training and analysis lie batch (what goes between them), config, output, errors,
names and progress; above them command_line and cli.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for editors and type checkers, which do not run what stands below
    from albert_edu.analysis.counting import count_parameters as count_parameters
    from albert_edu.analysis.health import health as health
    from albert_edu.analysis.similarity import layer_similarity as layer_similarity
    from albert_edu.config import AlbertConfig as AlbertConfig
    from albert_edu.model.albert import Albert as Albert
    from albert_edu.model.albert import AlbertForPretraining as AlbertForPretraining
    from albert_edu.model.interchange import load_pretrained as load_pretrained
    from albert_edu.model.interchange import save_pretrained as save_pretrained
    from albert_edu.text.batches import PretrainingStream as PretrainingStream
    from albert_edu.text.prepare import prepare as prepare
    from albert_edu.text.tokenizer import AlbertTokenizer as AlbertTokenizer
    from albert_edu.training.evaluate import evaluate as evaluate
    from albert_edu.training.finetune import finetune as finetune
    from albert_edu.training.pretrain import pretrain as pretrain
    from albert_edu.training.settings import TrainSettings as TrainSettings

_DEFINED_IN = {
    "Albert": "albert_edu.model.albert",
    "AlbertConfig": "albert_edu.config",
    "AlbertForPretraining": "albert_edu.model.albert",
    "AlbertTokenizer": "albert_edu.text.tokenizer",
    "PretrainingStream": "albert_edu.text.batches",
    "TrainSettings": "albert_edu.training.settings",
    "count_parameters": "albert_edu.analysis.counting",
    "evaluate": "albert_edu.training.evaluate",
    "finetune": "albert_edu.training.finetune",
    "health": "albert_edu.analysis.health",
    "layer_similarity": "albert_edu.analysis.similarity",
    "load_pretrained": "albert_edu.model.interchange",
    "prepare": "albert_edu.text.prepare",
    "pretrain": "albert_edu.training.pretrain",
    "save_pretrained": "albert_edu.model.interchange",
}
__all__ = list(_DEFINED_IN)


def __getattr__(name: str) -> object:
    """Import a name of the interface when it is first asked for."""
    if name not in _DEFINED_IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_DEFINED_IN[name]), name)


def __dir__() -> list[str]:
    """Return the names that are loaded, and those of the interface, which may not be yet."""
    return sorted({*globals(), *__all__})
