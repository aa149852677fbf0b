"""The library behind the ALBERT course.

Text to batch, batch to logits, logits to checkpoint, checkpoint to figures.
"""

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import Albert, AlbertForPretraining
from albert_edu.text.tokenizer import AlbertTokenizer

__all__ = ["Albert", "AlbertConfig", "AlbertForPretraining", "AlbertTokenizer"]
