"""Name of a corpus in; tokenizer and tokenised train and held-out parts out, kept between runs."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sentencepiece

from albert_edu.config import check_numbers
from albert_edu.errors import errors_about
from albert_edu.text.corpora import NAMED, hold_out, load_corpus
from albert_edu.text.files import hub_rows, text_files
from albert_edu.text.sentences import CorpusError
from albert_edu.text.stories import spelling_lesson
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import AlbertTokenizer
from albert_edu.text.unknown import MANY, check_known

CACHE_VERSION = "held0.1-seed0-9"  # change it with the way text is prepared: old caches are ignored
SHIPPED = Path(__file__).parents[1] / "pretrained" / "vocabularies"
LEARNT_BYTES = 16 << 20  # of longer text, the tokenizer learns from a sample of this size


class PreparedText(NamedTuple):
    """A tokenizer and the two parts of a corpus it was learnt for."""

    tokenizer: AlbertTokenizer
    train: TokenizedCorpus
    held_out: TokenizedCorpus


def cache_folder() -> Path:
    """Where prepared text is kept: $ALBERT_EDU_CACHE, or albert_edu in the user's cache folder."""
    return Path(os.environ.get("ALBERT_EDU_CACHE") or Path.home() / ".cache" / "albert_edu")


def shipped_vocabulary(name: str) -> AlbertTokenizer | None:
    """Return the vocabulary that comes with the course for a corpus of our records, or None.

    It was learnt once, with SentencePiece 0.2.3, by ``prepare`` with its defaults. The models
    that come with the course know no other ids.
    """
    file = SHIPPED / f"{name.replace(':', '-')}.model"
    return AlbertTokenizer.load(file) if file.is_file() else None


def prepare(
    name: str | Path, vocab_size: int | None = None, tokenizer: AlbertTokenizer | None = None
) -> PreparedText:
    """Load a corpus, hold out a tenth of it, learn a tokenizer on the rest, and tokenise both.

    A given ``tokenizer`` is used instead, and for the corpora of our records the vocabulary that
    comes with the course (``shipped_vocabulary``), because each release of SentencePiece learns
    another one. ``sotu+imdb`` is both corpora, each with the same documents held out as on its
    own. What is prepared is kept in ``cache_folder()``: named corpora by their name, files and
    folders by their content, sets of the Hub by the version that ``datasets`` has. Raises
    CorpusError for text that cannot be used, and TokenizerError for text that the tokenizer does
    not know (``unknown.check_known``).
    """
    name = str(name)
    kinds = _ours(name)
    usual = 190 if kinds == {"stories"} else 4000  # tokens; the stories have some 140 words
    vocab_size = usual if vocab_size is None else vocab_size
    check_numbers(locals(), 6, 65_536, "vocab_size")
    tokenizer = tokenizer or (shipped_vocabulary(name) if vocab_size == usual else None)
    # Each release of SentencePiece learns another vocabulary.
    learnt = f"{vocab_size}-sentencepiece-{sentencepiece.__version__}"
    key = f"{_key(name)}-V{tokenizer.fingerprint if tokenizer else learnt}"
    folder = cache_folder() / f"{key}-{CACHE_VERSION}"
    if not folder.exists():
        advice = "Prepared text is kept there. Set ALBERT_EDU_CACHE to a folder of yours."
        with errors_about(folder.parent, CorpusError, advice):
            folder.parent.mkdir(parents=True, exist_ok=True)
            temporary = tempfile.TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True)
        with temporary as scratch:  # on the disk of the cache, where renaming is all or nothing
            names = name.split("+") if kinds else [name]
            parts = (hold_out(load_corpus(part, Path(scratch))) for part in names)
            train, held = map(list, zip(*parts, strict=True))
            if tokenizer is None:
                # The vocabulary of a named corpus is recorded, so it is learnt from all of it.
                size = sum(corpus.data.nbytes for corpus in train)
                share = 1 if kinds else LEARNT_BYTES / size
                rng = np.random.default_rng(0)
                sample = (sentence for sentence in _sentences(train) if rng.random() < share)
                lesson = spelling_lesson() if kinds == {"stories"} else []
                tokenizer = AlbertTokenizer.train(chain(sample, lesson), vocab_size)
            whole = Path(scratch, "whole")
            for part, side in (("train", train), ("held_out", held)):
                TokenizedCorpus.write(chain.from_iterable(side), tokenizer, whole / part)
            if TokenizedCorpus.load(whole / "train").unknown_share > MANY:
                check_known(tokenizer, _sentences(train), f"{name} (the training part)")
            tokenizer.save(whole)
            try:
                whole.rename(folder)
            except OSError:
                if not folder.exists():  # else another process has prepared the same meanwhile
                    raise
    parts = (TokenizedCorpus.load(folder / part) for part in ("train", "held_out"))
    return PreparedText(AlbertTokenizer.load(folder), *parts)


def _sentences(corpora: list) -> Iterator[str]:
    return chain.from_iterable(document["sentences"] for document in chain.from_iterable(corpora))


def _ours(name: str) -> set[str]:
    """Return the corpora of the course in a name such as "sotu+imdb"; none for any other name."""
    kinds = {"stories" if part.startswith("stories:") else part for part in name.split("+")}
    return kinds if NAMED.keys() >= kinds else set()


def _key(name: str) -> str:
    """What stands for the text in the cache: a name, or what changes with the content."""
    if _ours(name):
        return name.replace(":", "-")  # Windows knows no colons
    if not name or not Path(name).exists():
        return f"hub-{hub_rows(name)._fingerprint}"
    digest = hashlib.sha256()
    for file in text_files(name):
        with file.open("rb") as content:
            digest.update(os.fsencode(file.name) + hashlib.file_digest(content, "sha256").digest())
    return f"files-{digest.hexdigest()[:16]}"
