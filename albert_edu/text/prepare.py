"""Name of a corpus in; tokenizer and tokenised train and held-out parts out, kept between runs.

Notebook 01 shows the held-out part and the vocabulary that is learnt without it.
"""

import hashlib
import os
import tempfile
import warnings
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sentencepiece

from albert_edu.config import check_whole
from albert_edu.errors import errors_about
from albert_edu.names import warn_of_namesake
from albert_edu.text.corpora import hold_out, is_named, load_corpus
from albert_edu.text.files import hub_rows, text_files
from albert_edu.text.hub_tokenizer import check_is_albert
from albert_edu.text.sentences import CorpusError
from albert_edu.text.stories import spelling_lesson
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import AlbertTokenizer, TokenizerError
from albert_edu.text.unknown import WARN_ABOVE, check_known

# Change it with the way text is prepared: old caches are ignored.
CACHE_VERSION = "held0.1-seed0-10"
SHIPPED = Path(__file__).parents[1] / "pretrained" / "vocabularies"
LEARNT_BYTES = 16 << 20  # of longer text, the tokenizer learns from a sample of this size
STORY_TOKENS = 190  # the stories have some 140 words
ADVICE = "Set ALBERT_EDU_CACHE to a folder of yours, where prepared text is kept."
USUAL_TOKENS = 4000  # of a vocabulary, when nobody says how many


class PreparedText(NamedTuple):
    """A tokenizer and the two parts of a corpus it was learnt for."""

    tokenizer: AlbertTokenizer
    train: TokenizedCorpus
    held_out: TokenizedCorpus


def cache_folder() -> Path:
    """Where prepared text is kept: $ALBERT_EDU_CACHE, or albert_edu in the user's cache folder.

    Raises CorpusError where there is no home folder either.
    """
    given = os.environ.get("ALBERT_EDU_CACHE")
    if given:
        return Path(given)
    try:
        home = Path.home()
    except RuntimeError as error:
        raise CorpusError(f"there is no home folder to keep prepared text in. {ADVICE}") from error
    return home / ".cache" / "albert_edu"


def shipped_vocabulary(name: str) -> AlbertTokenizer | None:
    """Return the vocabulary that comes with the course for a corpus of our records, or None.

    It was learnt once, with SentencePiece 0.2.3, by ``prepare`` with its defaults. The models
    that come with the course know no other ids.
    """
    file = SHIPPED / f"{name.replace(':', '-')}.model"
    return AlbertTokenizer.load(file) if file.is_file() else None


def corpus_of_vocabulary(tokenizer: AlbertTokenizer) -> str | None:
    """Return the corpus whose shipped vocabulary a tokenizer is, or None for any other."""
    for file in sorted(SHIPPED.glob("*.model")):
        if AlbertTokenizer.load(file).fingerprint == tokenizer.fingerprint:
            return file.stem.replace("-", ":", 1)
    return None


def prepare(
    name: str | Path, vocab_size: int | None = None, tokenizer: AlbertTokenizer | None = None
) -> PreparedText:
    """Load a corpus, hold out a tenth of it, learn a tokenizer on the rest, and tokenise both.

    A given ``tokenizer`` is used instead, and for the corpora of our records the vocabulary that
    comes with the course (``shipped_vocabulary``), because each release of SentencePiece learns
    another one. A text that is too short for the usual ``vocab_size`` gets as many tokens as it
    supports, which is said; a size that was asked for is not changed. ``sotu+imdb`` is both
    corpora, each with the same documents held out as on its own. What is prepared is kept in
    ``cache_folder()``: named corpora by their name, files and folders by their content, sets of the
    Hub by the version that ``datasets`` has. Raises CorpusError for text that cannot be used, and
    TokenizerError for text that the tokenizer does not know (``unknown.check_known``).
    """
    name = str(name)
    usual = STORY_TOKENS if _course_corpora(name) == {"stories"} else USUAL_TOKENS
    size = usual if vocab_size is None else vocab_size
    check_whole("vocab_size", size, 6, 65_536)
    if tokenizer is not None:
        check_is_albert(tokenizer)
    if tokenizer is None and size == usual:
        tokenizer = shipped_vocabulary(name)
    # Each release of SentencePiece learns another vocabulary.
    asked = f"up-to-{usual}" if vocab_size is None else vocab_size
    learnt = f"{asked}-sentencepiece-{sentencepiece.__version__}"
    vocabulary = tokenizer.fingerprint if tokenizer else learnt
    folder = cache_folder() / f"{_key(name)}-V{vocabulary}-{CACHE_VERSION}"
    if folder.exists():
        if _course_corpora(name):
            warn_of_namesake(name, "a corpus")  # as where it is loaded
    else:
        _write_copy(folder, name, tokenizer, size, may_be_smaller=vocab_size is None)
    return PreparedText(
        tokenizer=AlbertTokenizer.load(folder),
        train=TokenizedCorpus.load(folder / "train"),
        held_out=TokenizedCorpus.load(folder / "held_out"),
    )


def _write_copy(
    folder: Path, name: str, tokenizer: AlbertTokenizer | None, size: int, may_be_smaller: bool
) -> None:
    """Prepare a text aside and rename it: a copy is whole or not there."""
    with errors_about(folder.parent, CorpusError, ADVICE):
        folder.parent.mkdir(parents=True, exist_ok=True)
        # On the disk of the cache, where renaming is all or nothing.
        temporary = tempfile.TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True)
    with temporary as scratch:
        train, held_out = _load_parts(name, Path(scratch))
        if tokenizer is None:
            tokenizer = _learn(name, train, size, may_be_smaller)
        whole = Path(scratch, "whole")
        learnt_from = TokenizedCorpus.write(chain.from_iterable(train), tokenizer, whole / "train")
        TokenizedCorpus.write(chain.from_iterable(held_out), tokenizer, whole / "held_out")
        if learnt_from.unknown_share > WARN_ABOVE:
            check_known(tokenizer, _sentences(train), f"{name} (the training part)")
        tokenizer.save(whole)
        try:
            whole.rename(folder)
        except OSError:
            if not folder.exists():  # else another process has prepared the same meanwhile
                raise


def _load_parts(name: str, scratch: Path) -> tuple[list, list]:
    """Return the training parts and the held-out parts of the corpora in a name."""
    train = []
    held_out = []
    for part in name.split("+") if _course_corpora(name) else [name]:
        seen, unseen = hold_out(load_corpus(part, scratch))
        train.append(seen)
        held_out.append(unseen)
    return train, held_out


def _learn(name: str, train: list, size: int, may_be_smaller: bool) -> AlbertTokenizer:
    """Learn a vocabulary from text; where allowed, of as many tokens as a short text supports."""
    try:
        return AlbertTokenizer.train(_lesson(name, train), size)
    except TokenizerError as error:
        if not may_be_smaller or error.largest is None:
            raise
        warnings.warn(
            f"{name} is too short for {size:,} tokens, so its vocabulary has {error.largest:,}.",
            stacklevel=4,
        )
        return AlbertTokenizer.train(_lesson(name, train), error.largest)


def _lesson(name: str, train: list) -> Iterator[str]:
    """Yield the sentences that a tokenizer learns from: of a long text of somebody's, a sample."""
    corpora = _course_corpora(name)
    # The vocabulary of a named corpus is recorded, so it is learnt from all of it.
    share = 1 if corpora else LEARNT_BYTES / sum(corpus.data.nbytes for corpus in train)
    rng = np.random.default_rng(0)
    yield from (sentence for sentence in _sentences(train) if rng.random() < share)
    if corpora == {"stories"}:
        yield from spelling_lesson()


def _sentences(corpora: list) -> Iterator[str]:
    return chain.from_iterable(document["sentences"] for document in chain.from_iterable(corpora))


def _course_corpora(name: str) -> set[str]:
    """Return the corpora of the course in a name such as "sotu+imdb"; none for any other name."""
    parts = name.split("+")
    if not all(map(is_named, parts)):
        return set()
    return {part.partition(":")[0] for part in parts}


def _key(name: str) -> str:
    """What stands for the text in the cache: a name, or what changes with the content."""
    if _course_corpora(name):
        return name.replace(":", "-")  # Windows knows no colons
    if not name or not Path(name).exists():
        return f"hub-{hub_rows(name)._fingerprint}"
    digest = hashlib.sha256()
    for file in text_files(name):
        with file.open("rb") as content:
            digest.update(os.fsencode(file.name) + hashlib.file_digest(content, "sha256").digest())
    return f"files-{digest.hexdigest()[:16]}"
