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
from albert_edu.text.corpora import NAMED, hold_out, load_corpus
from albert_edu.text.files import hub_rows, text_files
from albert_edu.text.offsets import MANY, check_known
from albert_edu.text.segments import PairSampler
from albert_edu.text.sentences import CorpusError
from albert_edu.text.stories import spelling_lesson
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import AlbertTokenizer

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


def default_vocabulary(name: str) -> int:
    """Tokens that we learn for a corpus unless told otherwise; the stories have some 140 words."""
    return 190 if is_synthetic(name) else 4000


def is_synthetic(name: str) -> bool:
    """Whether a corpus is our generator, with any strengths."""
    return str(name).split(":")[0] == "stories"


def shipped_vocabulary(name: str, vocab_size: int) -> AlbertTokenizer | None:
    """Return the vocabulary that comes with the course for a corpus of our records, or None.

    It was learnt once, with SentencePiece 0.2.3, by ``prepare`` with its defaults. The models
    that come with the course know no other ids.
    """
    file = SHIPPED / f"{name.replace(':', '-')}.model"
    if vocab_size != default_vocabulary(name) or not file.is_file():
        return None
    return AlbertTokenizer.load(file)


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
    not know (``offsets.check_known``).
    """
    name = str(name)
    vocab_size = default_vocabulary(name) if vocab_size is None else vocab_size
    check_numbers(locals(), 6, 65_536, "vocab_size")
    tokenizer = tokenizer or shipped_vocabulary(name, vocab_size)
    # Each release of SentencePiece learns another vocabulary.
    learnt = f"{vocab_size}-sentencepiece-{sentencepiece.__version__}"
    key = f"{_key(name)}-V{tokenizer.fingerprint if tokenizer else learnt}"
    folder = cache_folder() / f"{key}-{CACHE_VERSION}"
    if not folder.exists():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            temporary = tempfile.TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True)
        except OSError as error:
            raise CorpusError(
                f"prepared text is kept in {folder.parent}, which cannot be written "
                f"({error.strerror}). Set ALBERT_EDU_CACHE to a folder of yours."
            ) from error
        with temporary as scratch:  # on the disk of the cache, where renaming is all or nothing
            names = name.split("+") if _is_named(name) else [name]
            parts = (hold_out(load_corpus(part, Path(scratch))) for part in names)
            train, held = map(list, zip(*parts, strict=True))
            if tokenizer is None:
                # The vocabulary of a named corpus is recorded, so it is learnt from all of it.
                size = sum(corpus.data.nbytes for corpus in train)
                share = 1 if _is_named(name) else LEARNT_BYTES / size
                rng = np.random.default_rng(0)
                sample = (sentence for sentence in _sentences(train) if rng.random() < share)
                lesson = spelling_lesson() if is_synthetic(name) else []
                tokenizer = AlbertTokenizer.train(chain(sample, lesson), vocab_size)
            whole = Path(scratch, "whole")
            for part, side in (("train", train), ("held_out", held)):
                TokenizedCorpus.encode(chain.from_iterable(side), tokenizer, whole / part)
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


def describe_text(text: PreparedText, sequence_length: int) -> str:
    """Return what a run with pairs of ``sequence_length`` tokens can use of a text, in lines."""
    train, held_out = (f"{part}, {part.unknown_share:.2%} unknown" for part in text[1:])
    used = PairSampler(text.train, "none", sequence_length).coverage
    return (
        f"training: {train}\nheld out: {held_out}\n{used:.1%} of the training tokens are in "
        f"sentences that fit a pair of {sequence_length} tokens."
    )


def _is_named(name: str) -> bool:
    """Whether a name means corpora that come with the course, one or several with plus signs."""
    return all(part in NAMED or is_synthetic(part) for part in name.split("+"))


def _key(name: str) -> str:
    """What stands for the text in the cache: a name, or what changes with the content."""
    if _is_named(name):
        return name.replace(":", "-")  # Windows knows no colons
    if not name or not Path(name).exists():
        return f"hub-{hub_rows(name)._fingerprint}"
    digest = hashlib.sha256()
    for file in text_files(name):
        with file.open("rb") as content:
            digest.update(os.fsencode(file.name) + hashlib.file_digest(content, "sha256").digest())
    return f"files-{digest.hexdigest()[:16]}"
