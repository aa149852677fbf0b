"""Tokenizers that came with a model of others: BERT's WordPiece, or any ``tokenizer.json``.

``tokenizers`` does the work. The interface is AlbertTokenizer's, so that such a model can be
fine-tuned, inspected and asked to fill in words; its special tokens have other ids.
"""

import hashlib
import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import tokenizers

from albert_edu.text.tokenizer import TokenizerError, check_text


class HubTokenizer:
    """A tokenizer of the ``tokenizers`` library that knows [CLS], [SEP] and [MASK].

    ``settings`` is the content of its ``tokenizer_config.json``, which ``save`` writes again.
    """

    FILES = ("tokenizer.json", "vocab.txt")

    def __init__(self, tokenizer: tokenizers.Tokenizer, settings: dict | None = None):
        self.tokenizer, self.settings = tokenizer, settings or {}
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.pad_id = self._id_of("[PAD]", "<pad>")
        self.unk_id = self._id_of("[UNK]", "<unk>")
        self.cls_id, self.sep_id, self.mask_id = map(self._id_of, ("[CLS]", "[SEP]", "[MASK]"))

    def _id_of(self, *names: str) -> int:
        ids = [self.tokenizer.token_to_id(name) for name in names]
        if ids == [None] * len(ids):
            raise TokenizerError(f"this tokenizer has no {names[0]}; BERT's and ALBERT's have one.")
        return next(token_id for token_id in ids if token_id is not None)

    @classmethod
    def load(cls, folder: str | Path) -> "HubTokenizer":
        """Read ``tokenizer.json`` or, where there is none, BERT's ``vocab.txt`` from a folder."""
        folder, config = Path(folder), Path(folder, "tokenizer_config.json")
        settings = json.loads(config.read_text()) if config.is_file() else {}
        if (folder / "tokenizer.json").exists():
            return cls(tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json")), settings)
        lower = settings.get("do_lower_case", True)
        wordpiece = tokenizers.BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=lower)
        return cls(wordpiece._tokenizer, settings)

    def save(self, folder: str | Path) -> None:
        """Write ``tokenizer.json`` and ``tokenizer_config.json``, which AutoTokenizer loads."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.tokenizer.save(str(folder / "tokenizer.json"))
        pad, unk = self.pieces([self.pad_id, self.unk_id])
        settings = {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "pad_token": pad,
            "unk_token": unk,
            "cls_token": "[CLS]",
            "sep_token": "[SEP]",
            "mask_token": "[MASK]",
            **self.settings,
        }
        (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n")

    def __len__(self) -> int:
        return self.tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text, without special ones; "[MASK]" becomes that token."""
        return self.tokenizer.encode(check_text(text), add_special_tokens=False).ids

    def encode_many(self, texts: list[str]) -> list[list[int]]:
        """Return the token ids of each text."""
        checked = [check_text(text) for text in texts]
        encodings = self.tokenizer.encode_batch(checked, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the token ids of a text, and the characters [start, end) that each stands for."""
        encoding = self.tokenizer.encode(check_text(text), add_special_tokens=False)
        return encoding.ids, encoding.offsets

    def unknown_in(self, text: str) -> list[str]:
        """Return the parts of a text that are the unknown token."""
        ids, offsets = self.encode_with_offsets(text)
        return [
            text[start:end]
            for token_id, (start, end) in zip(ids, offsets, strict=True)
            if token_id == self.unk_id
        ]

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return the tokens with those ids, as the vocabulary writes them."""
        return [self.tokenizer.id_to_token(int(i)) for i in ids]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of the ids, without special tokens other than [MASK]."""
        hidden = (self.pad_id, self.cls_id, self.sep_id)
        shown = [int(i) for i in ids if int(i) not in hidden]
        return self.tokenizer.decode(shown, skip_special_tokens=False)

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hex digits that change with the tokenizer."""
        return hashlib.sha256(self.tokenizer.to_str().encode()).hexdigest()[:16]
