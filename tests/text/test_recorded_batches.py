"""Batches of today are the batches of the records: a change that moves one token shows here first.

The tokenizer is the shipped one and the text our own generator's, so nothing is trained on the way.
"""

import dataclasses
import hashlib
from pathlib import Path

import numpy as np
import pytest

import albert_edu
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.stories import stories
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import AlbertTokenizer

SHIPPED = Path(albert_edu.__file__).parent / "pretrained" / "laptop" / "albert"


@pytest.fixture(scope="module")
def tokenizer() -> AlbertTokenizer:
    return AlbertTokenizer.load(SHIPPED)


@pytest.fixture(scope="module")
def corpus(tokenizer) -> TokenizedCorpus:
    return TokenizedCorpus.encode(stories(num_documents=60, topic_nouns=2), tokenizer)


def digest(*arrays) -> str:
    """Sixteen hex digits of the arrays' values as 64-bit integers, in order."""
    content = b"".join(np.ascontiguousarray(array, dtype="<i8").tobytes() for array in arrays)
    return hashlib.sha256(content).hexdigest()[:16]


def test_the_tokenised_text_is_the_recorded_one(corpus):
    assert corpus.fingerprint == "b04268023ef8e60c"


@pytest.mark.parametrize(
    ("options", "recorded"),
    [
        ({}, "b57d889798de4bab"),
        ({"objective": "nsp", "sequence_length": 48}, "d4ee122c844854b4"),
        ({"objective": "nsp", "negatives": "topic", "sequence_length": 64}, "e1c21ad35ce78e52"),
        ({"objective": "none", "seed": 7}, "e1ea492474a4544b"),
        ({"short_probability": 0.5, "sequence_length": 512, "batch_size": 3}, "2f9ab4b5d61cc237"),
    ],
)
def test_batches_are_the_recorded_ones(corpus, tokenizer, options, recorded):
    settings = {"objective": "sop", "batch_size": 8, "sequence_length": 64, "seed": 0} | options
    stream = PretrainingStream(corpus, tokenizer, **settings)
    fields = [field.name for field in dataclasses.fields(stream.batch(0))]
    batches = [stream.batch(step) for step in (0, 1, 1000)]
    assert digest(*(getattr(batch, name) for batch in batches for name in fields)) == recorded
