"""Folders as the Hub has them: without heads, with names of old, with fields left out."""

import json
import re
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file

from albert_edu.config import AlbertConfig
from albert_edu.model.formats import InterchangeError, from_transformers, to_transformers
from albert_edu.model.interchange import load_pretrained, save_pretrained
from tests.model.pairs import ALBERT, BERT, THEIRS, V, edit_tensors, model_of, theirs_of
from tests.support import same_bits


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder we wrote, complete and in order."""
    save_pretrained(model_of(), None, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "lacking"),
    [
        ("AlbertModel", ("masked_token_head.", "sentence_order_head.")),
        ("BertModel", ("masked_token_head.", "sentence_order_head.")),
        ("AlbertForMaskedLM", ("albert.pooler.", "sentence_order_head.")),
    ],
)
def test_what_a_folder_of_the_hub_lacks_is_named_and_starts_untrained(kind, lacking, tmp_path):
    theirs = theirs_of(kind).eval()
    theirs.save_pretrained(tmp_path)
    bare = "embeddings.word_embeddings.weight" in load_file(tmp_path / "model.safetensors")
    assert bare == kind.endswith("Model")  # no "albert." in front
    with pytest.warns(UserWarning) as caught:
        ours, _ = load_pretrained(tmp_path)
    names = [name for name, _ in ours.named_parameters() if name.startswith(lacking)]
    (said,) = (str(warning.message) for warning in caught)
    assert said.endswith(f"has no {', '.join(sorted(names))}: these start untrained.")
    assert all(ours.get_parameter(name).isfinite().all() for name in names)  # and are there
    ids, encoder = torch.randint(1, V, (2, 9)), theirs if bare else theirs.albert
    expected = encoder(ids).last_hidden_state
    torch.testing.assert_close(ours.eval().albert(ids).last_hidden, expected)


def test_a_file_that_repeats_the_tied_decoder_is_read_as_if_it_did_not(folder):
    def repeat(tensors: dict) -> dict:
        table = tensors["albert.embeddings.word_embeddings.weight"].clone()
        decoder = {"weight": table, "bias": tensors["predictions.bias"].clone()}
        tensors |= {f"predictions.decoder.{name}": decoder[name] for name in decoder}
        return tensors | {"albert.embeddings.position_ids": torch.arange(16)[None]}

    before, _ = load_pretrained(folder)
    edit_tensors(folder, repeat)
    after, _ = load_pretrained(folder)
    assert same_bits(after, before)


@pytest.mark.parametrize(
    ("changes", "copy", "original"),
    [
        (ALBERT, "predictions.decoder.weight", "albert.embeddings.word_embeddings.weight"),
        (BERT, "cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"),
        (BERT, "cls.predictions.decoder.bias", "cls.predictions.bias"),
    ],
)
def test_a_decoder_that_is_not_the_embedding_table_is_refused(changes, copy, original, tmp_path):
    """transformers would use it untied; dropping it silently would give other logits from the same file."""
    save_pretrained(model_of(**changes), None, tmp_path)
    edit_tensors(tmp_path, lambda tensors: tensors | {copy: tensors[original] + 1})
    with pytest.raises(
        InterchangeError, match=f"has {re.escape(copy)}, and .* the decoder is the table"
    ):
        load_pretrained(tmp_path)


def test_norms_called_gamma_and_beta_are_read_as_in_the_hub_s_oldest_bert(tmp_path):
    model = model_of(**BERT)
    save_pretrained(model, None, tmp_path)
    old = {"Norm.weight": "Norm.gamma", "Norm.bias": "Norm.beta"}
    name = re.compile("|".join(old))
    edit_tensors(
        tmp_path, lambda read: {name.sub(lambda n: old[n[0]], key): read[key] for key in read}
    )
    transformers.BertForPreTraining.from_pretrained(tmp_path)  # reads them
    assert same_bits(load_pretrained(tmp_path)[0], model)


def test_a_config_with_whole_number_dropout_and_unknown_keys_is_read():
    """As in the Hub's albert-base-v2."""
    base = AlbertConfig.named("albert-base-v2")
    hub = {"hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0, "inner_group_num": 1}
    hub |= {"position_embedding_type": "absolute", "num_memory_blocks": 0}
    for activation in ("gelu_new", "gelu_pytorch_tanh"):
        settings = to_transformers(base) | hub | {"hidden_act": activation}
        assert from_transformers(settings) == base


@pytest.mark.parametrize("kind", ["albert", "bert"])
def test_a_config_that_says_no_more_than_the_sizes_means_what_it_means_to_transformers(kind):
    theirs = transformers.AutoConfig.for_model(kind, **THEIRS)
    in_full = json.loads(theirs.to_json_string(use_diff=False))
    assert from_transformers({"model_type": kind, **THEIRS}) == from_transformers(in_full)
