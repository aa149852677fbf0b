"""Model folders: what transformers writes we read, what we write it reads, and what cannot be said is refused with the reason."""

import json
from pathlib import Path

import pytest
import torch
import transformers
from safetensors import safe_open

from albert_edu.model.formats import InterchangeError, from_transformers, to_transformers
from albert_edu.model.interchange import (
    load_pretrained,
    model_folder,
    save_pretrained,
)
from albert_edu.model.sharing import layer_plan
from albert_edu.text.stories import stories
from albert_edu.text.tokenizer import AlbertTokenizer
from tests.model.pairs import ALBERT, BASE, BERT, V, model_of, names_there, theirs_of
from tests.support import same_bits


@pytest.fixture(scope="module")
def tokenizer() -> AlbertTokenizer:
    return AlbertTokenizer.train(
        (sentence for story in stories(40)["sentences"] for sentence in story), V
    )


@pytest.fixture
def folder(tmp_path, tokenizer) -> Path:
    """A folder we wrote, complete and in order."""
    save_pretrained(model_of(), tokenizer, tmp_path)
    return tmp_path


# What comes back


@pytest.mark.parametrize(
    "changes",
    [
        ALBERT,
        dict(num_groups=2),
        dict(share="none"),
        dict(embedding_size=16),
        dict(embedding_size=16, num_groups=2),
        BERT,
        dict(activation="gelu_erf", hidden_dropout=0.1, attention_dropout=0.2, pad_id=3),
        dict(layer_norm_eps=1e-5, ffn_size=24, num_segments=3),
    ],
    ids=str,
)
def test_a_saved_model_comes_back_to_the_last_bit_with_config_and_tokenizer(
    changes, tokenizer, tmp_path
):
    model, folder = model_of(**changes), tmp_path / "deep" / "er"
    save_pretrained(model, tokenizer, str(folder))
    loaded, its_tokenizer = load_pretrained(str(folder))
    assert loaded.config == model.config and same_bits(loaded, model)
    assert loaded.masked_token_head.decoder.weight is loaded.albert.embeddings.word.weight
    assert its_tokenizer.model_proto == tokenizer.model_proto
    with safe_open(folder / "model.safetensors", "pt") as file:
        assert file.metadata() == {"format": "pt"}  # version 4 of transformers reads no other


@pytest.mark.parametrize(("L", "groups"), [(1, 1), (4, 1), (4, 3), (4, 4), (6, 4)])
@pytest.mark.parametrize("share", ["all", "none"])
@pytest.mark.parametrize(
    "rest",
    [
        dict(embedding_size=16),
        dict(num_heads=4, ffn_size=7, pad_id=5, num_segments=3, layer_norm_eps=1e-5),
        dict(hidden_dropout=0.5, attention_dropout=0.2, activation="gelu_erf", init_std=0.05),
    ],
    ids=str,
)
def test_a_config_comes_back_from_transformers_own_class_as_the_same_model(L, groups, share, rest):
    config = BASE.replace(num_layers=L, share=share, num_groups=groups, **rest)
    theirs = transformers.AutoConfig.for_model(**to_transformers(config))
    back = from_transformers(json.loads(theirs.to_json_string(use_diff=False)))
    # "none" and "as many groups as layers" are two names of one model: names and plans must agree.
    assert back.replace(share=config.share, num_groups=config.num_groups) == config
    plans = (layer_plan(L, each.share, each.num_groups) for each in (back, config))
    assert next(plans) == next(plans)
    assert names_there(back) == names_there(config)


@pytest.mark.parametrize("shipped", [True, False])
def test_transformers_learns_length_and_segments_from_a_folder_and_fills_gaps(shipped, tmp_path):
    save_pretrained(*load_pretrained("laptop"), tmp_path)
    folder = model_folder("laptop") if shipped else tmp_path
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    encoded = theirs("fellow citizens", "of the senate")
    assert [*encoded] == ["input_ids", "token_type_ids", "attention_mask"]
    first = encoded["token_type_ids"].index(1)
    assert encoded["input_ids"][first - 1] == 3 and theirs.model_max_length == 128
    options = dict(tokenizer=theirs, tokenizer_kwargs={"truncation": True})
    fill = transformers.pipeline("fill-mask", str(folder), **options)
    assert len(fill("the united [MASK] of america " + "and so on " * 200)) == 5


def test_weights_stored_in_half_precision_are_read_as_float32(tmp_path):
    theirs_of().bfloat16().save_pretrained(tmp_path)
    model, _ = load_pretrained(tmp_path)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


# Refusals when writing


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        (
            dict(share="attention", num_groups=2),
            "shares whole layers, not attention alone",
        ),
        (dict(share="ffn"), "not ffn alone"),
        (
            dict(num_layers=18, num_groups=14),
            "cuts 18 layers into 14 other groups",
        ),
    ],
)
def test_what_transformers_cannot_express_is_refused_saying_why(shape, reason, tmp_path):
    with pytest.raises(InterchangeError, match=reason):
        save_pretrained(model_of(**shape), None, tmp_path / "new")
    assert not list(tmp_path.iterdir())


# Refusals when reading


def test_groups_that_float_arithmetic_places_elsewhere_are_refused_on_reading(tmp_path):
    """Their model of this depth is another model than ours, with tensors of the same names and shapes."""
    theirs_of(num_hidden_layers=18, num_hidden_groups=14).save_pretrained(tmp_path)
    with pytest.raises(InterchangeError, match="18 layers into 14 other groups"):
        load_pretrained(tmp_path)


@pytest.mark.parametrize("part", ["weight", "bias"])
@pytest.mark.parametrize("kind", ["AlbertForPreTraining", "AlbertModel"])
def test_a_trained_projection_where_e_equals_h_is_refused_and_the_identity_is_not(
    kind, part, tmp_path
):
    theirs = theirs_of(kind, embedding_size=16)
    projection = getattr(theirs, "albert", theirs).encoder.embedding_hidden_mapping_in
    torch.nn.init.eye_(projection.weight)
    torch.nn.init.zeros_(projection.bias)
    theirs.save_pretrained(tmp_path / "identity")
    if kind == "AlbertForPreTraining":
        load_pretrained(tmp_path / "identity")
    torch.nn.init.normal_(getattr(projection, part))
    theirs.save_pretrained(tmp_path / "trained")
    with pytest.raises(InterchangeError, match=rf"mapping_in\.{part}, and .* E == H means no proj"):
        load_pretrained(tmp_path / "trained")


# Names


def test_a_shipped_model_is_loaded_by_its_name_and_a_folder_of_that_name_by_its_path(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shipped = load_pretrained("laptop")[0].config
    assert shipped != model_of().config
    save_pretrained(model_of(), None, "laptop")
    with pytest.warns(UserWarning, match=r"laptop is a model of the course.* is \./laptop\.$"):
        assert load_pretrained("laptop")[0].config == shipped
    assert load_pretrained("./laptop")[0].config == model_of().config
    (tmp_path / "runs").mkdir()
    for typo, hint in (("laptopp", "Did you mean laptop?"), ("runs/mine", ""), ("./mine", "")):
        with pytest.raises(InterchangeError, match=rf"{typo} is no folder, .* {hint}") as error:
            load_pretrained(typo)
        assert "Hub:" not in str(error.value), "before the Hub is asked"
