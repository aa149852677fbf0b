"""Name of a corpus in, tokenizer and tokenised train and held-out parts out, kept on disk between runs."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from datasets import Dataset, concatenate_datasets

from albert_edu.text.corpora import hold_out, load_corpus
from albert_edu.text.stories import spelling_lesson
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import AlbertTokenizer

CACHE_VERSION = 3  # raise it when the way text is prepared changes, so that old caches are left alone


class PreparedText(NamedTuple):
    """A tokenizer and the two parts of a corpus it was learnt for."""

    tokenizer: AlbertTokenizer
    train: TokenizedCorpus
    held_out: TokenizedCorpus


def cache_folder() -> Path:
    """Where prepared text is kept: $ALBERT_EDU_CACHE, or albert_edu in the user's cache folder."""
    return Path(os.environ.get("ALBERT_EDU_CACHE") or Path.home() / ".cache" / "albert_edu")


def default_vocabulary(name: str) -> int:
    """Pieces we learn for a corpus unless told otherwise; the stories have some 140 words and no more."""
    return 190 if is_synthetic(name) else 4000


def is_synthetic(name: str) -> bool:
    """Whether a corpus is our generator, with whatever strengths."""
    return str(name).split(":")[0] == "stories"


def prepare(
    name: str, vocab_size: int | None = None, held_out: float = 0.1, seed: int = 0, tokenizer: AlbertTokenizer | None = None
) -> PreparedText:
    """Load a corpus, hold out whole documents, learn a tokenizer on the rest (unless one is given), tokenise both.

    ``sotu+imdb`` is both, each with the same documents held out as on its own. Named corpora (sotu, imdb, stories) are kept
    in ``cache_folder()``; folders and Hub sets are read afresh, since they may have changed.
    """
    vocab_size = default_vocabulary(name) if vocab_size is None else vocab_size
    plain = str(name).replace(":", "-")  # Windows knows no colons
    key = f"{plain}-V{tokenizer.fingerprint if tokenizer else vocab_size}-held{held_out}-seed{seed}-{CACHE_VERSION}"
    named = all(part in ("sotu", "imdb") or is_synthetic(part) for part in str(name).split("+"))
    folder = cache_folder() / key if named else None
    if folder and folder.exists():
        return load_prepared(folder)
    parts = [hold_out(load_corpus(part), held_out, seed) for part in (str(name).split("+") if named else [name])]
    train, held = (_joined(side) for side in zip(*parts, strict=True))
    texts = [sentence for sentences in train["sentences"] for sentence in sentences]
    texts += spelling_lesson() if is_synthetic(name) else []
    tokenizer = tokenizer or AlbertTokenizer.train(texts, vocab_size, seed=seed)
    text = PreparedText(tokenizer, TokenizedCorpus.encode(train, tokenizer), TokenizedCorpus.encode(held, tokenizer))
    if folder:
        save_prepared(text, folder)
    return text


def _joined(parts: Sequence[Dataset]) -> Dataset:
    if len(parts) == 1:
        return parts[0]
    return concatenate_datasets([part.select_columns(["id", "sentences"]) for part in parts])


def save_prepared(text: PreparedText, folder: Path) -> None:
    """Write to a neighbouring folder and rename, so that a folder that exists is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".preparing-"))
    text.tokenizer.save(temporary)
    text.train.save(temporary / "train")
    text.held_out.save(temporary / "held_out")
    try:
        temporary.rename(folder)
    except OSError:  # somebody else prepared the same text meanwhile
        shutil.rmtree(temporary)


def load_prepared(folder: Path) -> PreparedText:
    parts = (TokenizedCorpus.load(folder / part) for part in ("train", "held_out"))
    return PreparedText(AlbertTokenizer.load(folder), *parts)
