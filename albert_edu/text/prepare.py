"""Name of a corpus in; tokenizer and tokenised train and held-out parts out, kept between runs."""

import hashlib
import os
import shutil
import tempfile
import warnings
from collections.abc import Sequence
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sentencepiece

from albert_edu.config import check_numbers
from albert_edu.errors import read_text
from albert_edu.text.corpora import load_corpus, text_files
from albert_edu.text.documents import CorpusError, hold_out
from albert_edu.text.stories import spelling_lesson
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import AlbertTokenizer, TokenizerError

CACHE_VERSION = 6  # raise it when the way text is prepared changes, so that old caches are ignored
MANY_UNKNOWN = 0.005  # share of unknown tokens from which we warn
SHIPPED = Path(str(files("albert_edu"))) / "pretrained" / "vocabularies"
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


def shipped_vocabulary(
    name: str, vocab_size: int, held_out: float = 0.1, seed: int = 0
) -> AlbertTokenizer | None:
    """Return the vocabulary that comes with the course for a corpus of our records, or None.

    It was learnt once, with SentencePiece 0.2.3, by ``prepare`` with these defaults. The models
    that come with the course know no other ids.
    """
    file = SHIPPED / f"{name.replace(':', '-')}.model"
    if (vocab_size, held_out, seed) != (default_vocabulary(name), 0.1, 0) or not file.is_file():
        return None
    return AlbertTokenizer.load(file)


def prepare(
    name: str | Path,
    vocab_size: int | None = None,
    held_out: float = 0.1,
    seed: int = 0,
    tokenizer: AlbertTokenizer | None = None,
) -> PreparedText:
    """Load a corpus, hold out a part, learn a tokenizer on the rest, and tokenise both.

    A given ``tokenizer`` is used instead, and for the corpora of our records the vocabulary that
    comes with the course (``shipped_vocabulary``), because each release of SentencePiece learns
    another one. ``sotu+imdb`` is both corpora, each with the same documents held out as on its
    own. What is prepared is kept in ``cache_folder()``: named
    corpora by their name, files and folders by their content, sets of the Hub by the version
    that ``datasets`` has. Raises CorpusError for text that cannot be used, and warns when more
    than 0.5% of the tokens are unknown.
    """
    name = str(name)
    vocab_size = default_vocabulary(name) if vocab_size is None else vocab_size
    check_numbers(locals(), 0, 65_536, "vocab_size")
    check_numbers(locals(), 0, 2**32, "seed")
    check_numbers(locals(), 0.0, 1.0, "held_out")
    named = all(part in ("sotu", "imdb") or is_synthetic(part) for part in name.split("+"))
    hub_set = None
    if named:
        key = name.replace(":", "-")  # Windows knows no colons
    elif name and Path(name).exists():
        key = f"files-{_content_hash(Path(name))}"
    else:
        hub_set = load_corpus(name)
        key = f"hub-{hub_set._fingerprint}"
    tokenizer = tokenizer or shipped_vocabulary(name, vocab_size, held_out, seed)
    learnt = f"{vocab_size}-sentencepiece-{sentencepiece.__version__}"
    vocabulary = tokenizer.fingerprint if tokenizer else learnt
    folder = cache_folder() / f"{key}-V{vocabulary}-held{held_out}-seed{seed}-{CACHE_VERSION}"
    if folder.exists():
        try:
            load_prepared(folder)
        except (CorpusError, TokenizerError) as error:
            warnings.warn(f"{error} The text is prepared again.", stacklevel=2)
            shutil.rmtree(folder)
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        place = {"prefix": ".preparing-", "dir": folder.parent, "ignore_cleanup_errors": True}
        with tempfile.TemporaryDirectory(**place) as scratch:
            names = name.split("+") if named else [name]
            corpora = [hub_set] if hub_set else [load_corpus(n, Path(scratch)) for n in names]
            sides = zip(*(hold_out(corpus, held_out, seed) for corpus in corpora), strict=True)
            train, held = map(_concatenated, sides)
            if tokenizer is None:
                lesson = spelling_lesson() if is_synthetic(name) else []
                # The vocabulary of a named corpus is recorded, so it is learnt from all of it.
                share, rng = LEARNT_BYTES / train.data.nbytes, np.random.default_rng(seed)
                sample = (
                    sentence
                    for sentence in chain.from_iterable(train["sentences"])
                    if named or rng.random() < share
                )
                tokenizer = AlbertTokenizer.train(chain(sample, lesson), vocab_size)
            _write_prepared(folder, Path(scratch, "whole"), tokenizer, train, held)
    text = load_prepared(folder)
    share = text.train.unknown_share
    message = f"{share:.1%} of the training tokens are unknown; most often {text.train.offenders}."
    if share > 0.3:  # of text in another script half the tokens are word marks
        raise CorpusError(f"{message} This tokenizer was learnt for other text.")
    if share > MANY_UNKNOWN:
        warnings.warn(f"{message} Clean the text, or learn more tokens.", stacklevel=2)
    return text


def _write_prepared(
    folder: Path,
    temporary: Path,
    tokenizer: AlbertTokenizer,
    train: "datasets.Dataset",
    held_out: "datasets.Dataset",
) -> None:
    """Tokenise both parts into a temporary folder and rename it, so that no folder is half done."""
    TokenizedCorpus.encode(train, tokenizer, temporary / "train")
    TokenizedCorpus.encode(held_out, tokenizer, temporary / "held_out")
    tokenizer.save(temporary)
    (temporary / "tokenizer.sha256").write_text(tokenizer.fingerprint)
    try:
        temporary.rename(folder)
    except OSError:
        if not folder.exists():  # else another process has prepared the same text meanwhile
            raise


def load_prepared(folder: Path) -> PreparedText:
    """Read what ``prepare`` wrote. Raises CorpusError or TokenizerError for damaged files."""
    tokenizer = AlbertTokenizer.load(folder)
    if read_text(folder / "tokenizer.sha256", CorpusError) != tokenizer.fingerprint:
        raise CorpusError(f"the text in {folder} has another tokenizer than it was tokenised with.")
    parts = (TokenizedCorpus.load(folder / part) for part in ("train", "held_out"))
    return PreparedText(tokenizer, *parts)


def _content_hash(path: Path) -> str:
    """Sixteen hex digits that change with the names or the bytes of the text files."""
    digest = hashlib.sha256()
    for file in text_files(path):
        with file.open("rb") as content:
            digest.update(os.fsencode(file.name) + hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()[:16]


def _concatenated(corpora: Sequence["datasets.Dataset"]) -> "datasets.Dataset":
    """The documents of all corpora; what they know beside the text is dropped if they differ."""
    from datasets import concatenate_datasets

    if len(corpora) == 1:
        return corpora[0]
    return concatenate_datasets([part.select_columns(["id", "sentences"]) for part in corpora])
