"""The tokenizer of a model folder, which may be of others: any ``tokenizer.json``.

``tokenizers`` does the work. The ids of special tokens, ``encode``, ``pieces`` and ``save`` are as
in AlbertTokenizer, so that such a model can be fine-tuned, inspected and asked to fill in words.
"""

import hashlib
import json
import unicodedata
import warnings
from collections.abc import Iterable
from pathlib import Path

import tokenizers

from albert_edu.errors import FileError, errors_about, read_file, read_json
from albert_edu.text.tokenizer import AlbertTokenizer, TokenizerError, check_text, normalise

SETTINGS = "tokenizer_config.json"
SPECIAL = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")  # fields of that file
ADDED = ("added_tokens_decoder", "additional_special_tokens", "extra_special_tokens")
WHOLE = (
    "Two lines of transformers write all of it into one tokenizer.json: tokenizer = "
    "AutoTokenizer.from_pretrained(FOLDER), tokenizer.save_pretrained(NEW)."
)
PROBE = "É年"  # what is left of it tells what a normaliser does
ACUTE = "\u0301"


class HubTokenizer:
    """A tokenizer of the ``tokenizers`` library that knows [CLS], [SEP] and [MASK].

    ``settings`` is the content of its ``tokenizer_config.json``, which ``save`` writes again.
    """

    def __init__(self, tokenizer: tokenizers.Tokenizer, settings: dict | None = None):
        self.tokenizer = tokenizer
        self.settings = settings or {}
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        vocabulary = self.tokenizer.get_vocab()
        is_alberts = "<pad>" in vocabulary
        self.special = {
            "pad_token": "<pad>" if is_alberts else "[PAD]",
            "unk_token": "<unk>" if is_alberts else "[UNK]",
            "cls_token": "[CLS]",
            "sep_token": "[SEP]",
            "mask_token": "[MASK]",
        }
        if not vocabulary.keys() >= set(self.special.values()):
            raise TokenizerError(f"this tokenizer lacks one of {', '.join(self.special.values())}.")
        self.pad_id = vocabulary[self.special["pad_token"]]
        self.unk_id = vocabulary[self.special["unk_token"]]
        self.cls_id = vocabulary[self.special["cls_token"]]
        self.sep_id = vocabulary[self.special["sep_token"]]
        self.mask_id = vocabulary[self.special["mask_token"]]
        # Sixteen hex digits that change with the tokenizer.
        self.fingerprint = hashlib.sha256(tokenizer.to_str().encode()).hexdigest()[:16]

    def save(self, folder: str | Path, **settings) -> None:
        """Write ``tokenizer.json``, and the config with which transformers loads it."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.tokenizer.save(str(folder / "tokenizer.json"))
        ours = {"tokenizer_class": "PreTrainedTokenizerFast"} | self.special
        (folder / SETTINGS).write_text(json.dumps(ours | self.settings | settings, indent=2) + "\n")

    def __len__(self) -> int:
        """How many rows a table needs: a file that names a token twice leaves an id without one."""
        return max(self.tokenizer.get_vocab().values()) + 1

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text, without special ones; "[MASK]" becomes that token."""
        return self.tokenizer.encode(check_text(text), add_special_tokens=False).ids

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Return token ids, and the characters [start, end) that each token stands for."""
        encoding = self.tokenizer.encode(check_text(text), add_special_tokens=False)
        return encoding.ids, encoding.offsets

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return the tokens with those ids, as the vocabulary writes them."""
        return [self.tokenizer.id_to_token(int(i)) or "" for i in ids]


Tokenizer = AlbertTokenizer | HubTokenizer


def check_is_albert(tokenizer: object) -> None:
    """Raise TokenizerError unless it is an AlbertTokenizer, whose pieces say where a word begins.

    Text is masked in whole words, so other tokenizers can fill, inspect and fine-tune, no more.
    """
    if not isinstance(tokenizer, AlbertTokenizer):
        raise TokenizerError(
            f"pre-training text, and scores on it, need an ALBERT tokenizer (spiece.model), not a "
            f"{type(tokenizer).__name__}. A model with another one can be inspected and fine-tuned."
        )


def load_tokenizer(folder: Path, rows: int) -> Tokenizer | None:
    """Return the tokenizer of a model folder, or None where there is none.

    ``rows`` is how many tokens the model's table has. Raises FileError for a file that cannot be
    read, TokenizerError for files that contradict each other or have more tokens than the table.
    """
    names = ("spiece.model", "tokenizer.json", "vocab.txt")
    file = next((folder / name for name in names if (folder / name).exists()), None)
    if file is None:
        return None
    settings = _fields_of(folder / SETTINGS)
    added = _fields_of(folder / "added_tokens.json")
    tokenizer: Tokenizer
    if file.name == "spiece.model":
        tokenizer = AlbertTokenizer.load(file)
        normalised = normalise(PROBE)
    elif file.name == "tokenizer.json":
        read = read_file(file, lambda path: tokenizers.Tokenizer.from_file(str(path)), FileError)
        tokenizer = HubTokenizer(read, settings)
        normalised = read.normalizer.normalize_str(PROBE) if read.normalizer else PROBE
    else:
        raise TokenizerError(f"{folder} has no tokenizer.json, but a vocab.txt. {WHOLE}")
    _check_normaliser(file, settings, normalised)
    with errors_about(folder / SETTINGS, FileError):
        named = {*added, *_named_tokens(settings)}
    missing = named.difference(tokenizer.pieces(range(len(tokenizer))))
    if missing:
        tokens = ", ".join(sorted(missing))
        raise TokenizerError(f"{folder} adds {tokens}, which its vocabulary has not. {WHOLE}")
    _check_size(tokenizer, folder, rows)
    return tokenizer


def _fields_of(file: Path) -> dict:
    """The fields of a JSON file, which may be missing."""
    return read_json(file, FileError) if file.exists() else {}


def _check_size(tokenizer: Tokenizer, folder: Path, rows: int) -> None:
    """Refuse a tokenizer with more tokens than the model's table, and warn of one with fewer."""
    tokens = len(tokenizer)
    message = f"the tokenizer of {folder} has {tokens:,} tokens, its model {rows:,} rows."
    if tokens > rows:
        raise TokenizerError(message)
    if tokens < rows:
        warnings.warn(message, stacklevel=4)


def _check_normaliser(file: Path, settings: dict, normalised: str) -> None:
    """Raise TokenizerError where the settings contradict what the file makes of the probe."""
    keeps_accents = ACUTE in unicodedata.normalize("NFD", normalised)
    actual = {
        "do_lower_case": normalised.islower(),
        "tokenize_chinese_chars": " " in normalised,
        "keep_accents": keeps_accents,
        "strip_accents": not keeps_accents,
    }
    declared = dict(settings)
    is_bert = str(settings.get("tokenizer_class")).startswith("BertTokenizer")
    if is_bert:  # what transformers takes it for, if it does not say
        declared.setdefault("do_lower_case", True)
    for field, done in actual.items():
        said = declared.get(field)
        if said is not None and said != done:
            config = file.with_name(SETTINGS)
            raise TokenizerError(f"{config} has {field} {said}, {file.name} {done}. {WHOLE}")


def _named_tokens(settings: dict) -> list[str]:
    """The special and added tokens that a tokenizer_config.json names."""
    tokens = [settings.get(field) for field in SPECIAL]
    for field in ADDED:
        more = settings.get(field) or []
        tokens += more.values() if isinstance(more, dict) else more
    return [token["content"] if isinstance(token, dict) else token for token in tokens if token]
