"""Text to token ids and back, as the authors do it: normalise, then SentencePiece unigram (nb 01).

Known differences from the authors' code, each with a test: a piece ending in a digit and a comma
is left as SentencePiece made it (the authors encode it again without the comma); our own
vocabularies reserve no pieces for ( ) " - . and currency signs (the released one does, and
transformers then splits the text around them differently from SentencePiece).
From transformers' AlbertTokenizer: the control symbols [CLS], [SEP], [MASK] and <pad> in running
text are text to us and ids to it; marks that are no accents (Indic vowel signs, enclosing
circles) stay with us, as in the authors' code, and are dropped by it; the control separators
U+001C to U+001F are spaces to us. Of two splits with the same score, such as 0 00 and 00 0, it may
take the other one; which one depends on the versions, so no test holds that.
"""

import hashlib
import io
import json
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from string import ascii_letters

import numpy as np
import sentencepiece

from albert_edu.errors import CourseError, InputError, errors_about, read_file

PAD, UNK, CLS, SEP, MASK = range(5)  # the ids of the special tokens, and of the unknown one
CONTROL_SYMBOLS = ["[CLS]", "[SEP]", "[MASK]"]
UNKNOWN = "<unk>"  # corpora such as WikiText write rare words so
WORD_START = "▁"
PUNCTUATION = frozenset('!"#$%&()*+,-./:;?@[\\]^_`{|}~')  # the authors' list, without ' < = >


class TokenizerError(CourseError, ValueError):
    """The tokenizer cannot be trained, be read or cut a text; the message says what to change.

    ``largest`` is the most pieces that a text supports, where more were asked for.
    """

    largest: int | None = None


def check_text(text: object) -> str:
    """Return the text. Raises ValueError for what is none, such as the None of an empty cell."""
    if not isinstance(text, str):
        raise InputError(f"a text must be a str, got {text!r:.80}.")
    if "\0" in text:
        raise InputError("the text has zero bytes, as UTF-16 and programs have.")
    try:
        text.encode()
    except UnicodeEncodeError as error:  # half of a pair of surrogates; this names its place
        raise InputError(f"the text cannot be encoded: {error}.") from error
    return text


def normalise(text: str) -> str:
    """NFKD, drop accents, lower-case, straight double quotes, single spaces.

    >>> normalise("  Crème   BRÛLÉE, ``quoted''")
    'creme brulee, "quoted"'
    """
    text = unicodedata.normalize("NFKD", text.replace("``", '"').replace("''", '"'))
    return " ".join("".join(c for c in text if not unicodedata.combining(c)).lower().split())


def begins_word(piece: str) -> bool:
    """Whether a piece begins a unit of whole-word masking: it is a lone punctuation mark, or
    holds anything but ASCII letters and punctuation, such as the word mark (so digits and
    foreign letters are units of their own).

    >>> [begins_word(piece) for piece in ("▁state", "hood", ",", "--", "7")]
    [True, False, True, False, True]
    """
    return piece in PUNCTUATION or not PUNCTUATION.union(ascii_letters).issuperset(piece)


class AlbertTokenizer:
    """A SentencePiece unigram model with ids pad 0, unk 1, [CLS] 2, [SEP] 3, [MASK] 4."""

    def __init__(self, model_proto: bytes):
        self.model_proto = model_proto
        self.pad_id = PAD
        self.unk_id = UNK
        self.cls_id = CLS
        self.sep_id = SEP
        self.mask_id = MASK
        with errors_about(
            "the SentencePiece model", TokenizerError, "Was it cut short by Git LFS?"
        ):
            self.processor = sentencepiece.SentencePieceProcessor(model_proto=model_proto)
            special = self.pieces(range(1 + MASK))
        if special != ["<pad>", UNKNOWN, *CONTROL_SYMBOLS]:
            raise TokenizerError(
                f"this SentencePiece model begins with {special}, and ALBERT's with <pad>, "
                f"{UNKNOWN}, {', '.join(CONTROL_SYMBOLS)}. It was not trained for ALBERT."
            )
        # bool[V]: whether a token begins a masking unit, by the authors' rule.
        vocabulary = self.pieces(range(len(self)))
        self.starts_word = np.array([begins_word(piece) for piece in vocabulary])
        # Sixteen hex digits that change with the model.
        self.fingerprint = hashlib.sha256(model_proto).hexdigest()[:16]

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int) -> "AlbertTokenizer":
        """Learn ``vocab_size`` pieces from texts, which takes 20 bytes of memory per character.

        It runs on one thread, because the scores differ with the number of threads. Raises
        TokenizerError with SentencePiece's reason: how many pieces the text supports at most.
        """
        model = io.BytesIO()
        lines = (normalise(check_text(text)).replace(UNKNOWN, " ").strip() for text in texts)
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=filter(None, lines),
                model_writer=model,
                model_type="unigram",
                vocab_size=vocab_size,
                character_coverage=0.99995,
                max_sentence_length=1 << 20,
                num_threads=1,
                minloglevel=2,
                pad_id=PAD,
                unk_id=UNK,
                bos_id=-1,
                eos_id=-1,
                pad_piece="<pad>",
                control_symbols=CONTROL_SYMBOLS,
            )
        except (RuntimeError, OSError) as error:
            raise _not_learnt(vocab_size, str(error)) from error
        return cls(model.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> "AlbertTokenizer":
        """Read a ``spiece.model``, or a folder that holds one (transformers' and the Hub's layout).

        Raises TokenizerError if there is none, or if it was not trained for ALBERT.
        """
        path = Path(path)
        file = path / "spiece.model" if path.is_dir() else path
        return cls(read_file(file, Path.read_bytes, TokenizerError))

    def save(self, folder: str | Path, **settings) -> None:
        """Write ``spiece.model``, and the config with which transformers loads it."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "spiece.model").write_bytes(self.model_proto)
        settings = {"tokenizer_class": "AlbertTokenizer"} | settings  # whose defaults are ours
        (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n")

    def __len__(self) -> int:
        return self.processor.get_piece_size()

    def encode(self, text: str) -> list[int]:
        """Token ids of a text, without special tokens.

        "<unk>" in the text is the unknown token, as in transformers; "[MASK]" is text, not id 4.
        """
        ids = []
        for part in normalise(check_text(text)).split(UNKNOWN):
            ids += [UNK, *self.processor.encode(part)]
        return ids[1:]

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Token ids of a text, and the characters [start, end) that each token stands for."""
        letters, places = _letters(check_text(text))
        ranges = []  # of letters, one for each token: from ``first`` up to ``last``
        begin = 0
        for number, part in enumerate(letters.lower().split(UNKNOWN)):
            if number > 0:  # the unknown token stands between two parts
                ranges.append((begin, begin + len(UNKNOWN)))
                begin += len(UNKNOWN)
            ranges += [(begin + first, begin + last) for first, last in self._piece_ranges(part)]
            begin += len(part)
        ends = [0, *(end for _, end in places)]  # of the text before each letter
        offsets = []
        for first, last in ranges:
            has_letters = first < last  # a word mark alone has none
            start = places[first][0] if has_letters else ends[last]
            offsets.append((start, ends[last]))
        return self.encode(text), offsets

    def _piece_ranges(self, part: str) -> list[tuple[int, int]]:
        """The letters [first, last) of each piece of a text without accents and unknown tokens."""
        # SentencePiece joins blanks; ``origins`` has the letter of ``part`` behind each of its own.
        _, origins = self.processor.normalize(part, with_offsets=True)
        ranges = []
        end = 0
        for piece in self.processor.encode(part, out_type=str):
            begin = end + piece.startswith(WORD_START)
            end += len(piece)
            ranges.append((origins[begin], origins[end]))
        return ranges

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The SentencePiece pieces of token ids; WORD_START marks where a word begins."""
        return [self.processor.id_to_piece(int(i)) for i in ids]

    def decode(self, ids: Iterable[int]) -> str:
        """Text of the ids; special tokens are left out, except [MASK], which one wants to see."""
        shown = [piece for piece in self.pieces(ids) if piece not in ("<pad>", "[CLS]", "[SEP]")]
        text = "".join(shown).replace("[MASK]", f"{WORD_START}[MASK]").replace(WORD_START, " ")
        return " ".join(text.split())


def _not_learnt(vocab_size: int, reason: str) -> TokenizerError:
    """Return the error for a vocabulary that SentencePiece could not learn, for its reason."""
    message = f"SentencePiece could not learn {vocab_size} pieces of this text"
    too_many = re.search(r"value <= (\d+)", reason)
    too_few = re.search(r"smaller than required_chars\. \d+ vs (\d+)", reason)
    if too_few:
        least = int(too_few[1])  # special tokens among them
        return TokenizerError(
            f"{message}, a number smaller than its {least:,} characters: give more, on the command "
            f"line at least --vocab-size {least}."
        )
    if not too_many:
        cause = re.sub(r"^\w+: \S+\(\d+\) \[.*?\] *", "", reason).strip()  # not its line of C++
        is_empty = "sentences_.empty()" in reason
        return TokenizerError(f"{message}: {'it is empty.' if is_empty else cause or reason}")
    largest = int(too_many[1])
    error = TokenizerError(
        f"{message}, which is too short for so many: give a value <= {largest}, "
        f"on the command line --vocab-size {largest}."
    )
    error.largest = largest
    return error


def _letters(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the letters that ``normalise`` leaves, and the characters of the text behind each.

    Capitals and blanks stay as they are.
    """
    letters = ""
    places = []  # [start, end) of each letter
    for found in re.finditer(r"``|''|.", text, re.DOTALL):
        is_quote = len(found[0]) == 2
        for letter in unicodedata.normalize("NFKD", '"' if is_quote else found[0]):
            if not unicodedata.combining(letter):
                letters += " " if letter.isspace() else letter
                places.append(found.span())
            elif places:  # an accent that stands alone belongs to the letter before it
                start, _ = places[-1]
                places[-1] = (start, found.end())
    return letters, places
