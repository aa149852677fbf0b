"""The tokenizer that the drawings share: the one that comes with the course's trained models."""

from albert_edu import AlbertTokenizer
from albert_edu.model.interchange import load_pretrained


def course_tokenizer() -> AlbertTokenizer:
    """Return the tokenizer with V = 4,000 that was trained on the State of the Union addresses."""
    return load_pretrained("laptop")[1]


def words(tokens: list[str]) -> list[str]:
    """Return the tokens without the mark that begins a word."""
    return [token.replace("▁", "") for token in tokens]
