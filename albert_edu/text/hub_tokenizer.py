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
PROBE, ACUTE = "É年", "\u0301"  # what is left of it tells what a normaliser does


class HubTokenizer:
    """A tokenizer of the ``tokenizers`` library that knows [CLS], [SEP] and [MASK].

    ``settings`` is the content of its ``tokenizer_config.json``, which ``save`` writes again.
    """

    def __init__(self, tokenizer: tokenizers.Tokenizer, settings: dict | None = None):
        self.tokenizer, self.settings = tokenizer, settings or {}
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        known = self.tokenizer.get_vocab()
        tokens = ["<pad>", "<unk>"] if "<pad>" in known else ["[PAD]", "[UNK]"]
        tokens += ["[CLS]", "[SEP]", "[MASK]"]
        self.special = dict(zip(SPECIAL, tokens, strict=True))
        ids = [known.get(token) for token in tokens]
        if None in ids:
            raise TokenizerError(f"this tokenizer lacks one of {', '.join(tokens)}.")
        self.pad_id, self.unk_id, self.cls_id, self.sep_id, self.mask_id = ids
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
        return self.tokenizer.get_vocab_size()

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


def load_tokenizer(folder: Path, rows: int) -> Tokenizer | None:
    """Return the tokenizer of a model folder, or None where there is none.

    ``rows`` is how many tokens the model's table has. Raises FileError for a file that cannot be
    read, TokenizerError for files that contradict each other or have more tokens than the table.
    """
    names = ("spiece.model", "tokenizer.json", "vocab.txt")
    file = next((folder / name for name in names if (folder / name).exists()), None)
    if file is None:
        return None
    paths = (folder / SETTINGS, folder / "added_tokens.json")
    settings, added = (read_json(path, FileError) if path.exists() else {} for path in paths)
    if file.name == "spiece.model":
        tokenizer, normalised = AlbertTokenizer.load(file), normalise(PROBE)
    elif file.name == "tokenizer.json":
        read = read_file(file, lambda path: tokenizers.Tokenizer.from_file(str(path)), FileError)
        tokenizer = HubTokenizer(read, settings)
        normalised = read.normalizer.normalize_str(PROBE) if read.normalizer else PROBE
    else:
        raise TokenizerError(f"{folder} has no tokenizer.json, but a vocab.txt. {WHOLE}")
    _check_normaliser(file, settings, normalised)
    with errors_about(paths[0], FileError):
        named = {*added, *_named_tokens(settings)}
    if missing := named.difference(tokenizer.pieces(range(len(tokenizer)))):
        missing = ", ".join(sorted(missing))
        raise TokenizerError(f"{folder} adds {missing}, which its vocabulary has not. {WHOLE}")
    message = f"the tokenizer of {folder} has {len(tokenizer):,} tokens, its model {rows:,} rows."
    if len(tokenizer) > rows:
        raise TokenizerError(message)
    if len(tokenizer) < rows:
        warnings.warn(message, stacklevel=3)
    return tokenizer


def _check_normaliser(file: Path, settings: dict, normalised: str) -> None:
    """Raise TokenizerError where the settings contradict what the file makes of the probe."""
    keeps_accents = ACUTE in unicodedata.normalize("NFD", normalised)
    actual = {"do_lower_case": normalised.islower(), "tokenize_chinese_chars": " " in normalised}
    actual |= {"keep_accents": keeps_accents, "strip_accents": not keeps_accents}
    of_bert = str(settings.get("tokenizer_class")).startswith("BertTokenizer")
    declared = {"do_lower_case": of_bert or None} | settings  # what transformers takes it for
    for field, done in actual.items():
        if (said := declared.get(field)) not in (None, done):
            config = file.with_name(SETTINGS)
            raise TokenizerError(f"{config} has {field} {said}, {file.name} {done}. {WHOLE}")


def _named_tokens(settings: dict) -> list[str]:
    """The special and added tokens that a tokenizer_config.json names."""
    tokens = [settings.get(field) for field in SPECIAL]
    for more in filter(None, map(settings.get, ADDED)):
        tokens += more.values() if isinstance(more, dict) else more
    return [token["content"] if isinstance(token, dict) else token for token in tokens if token]
