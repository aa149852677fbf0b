"""Model folders: what transformers writes we read, what we write it reads, and what cannot be said is refused with the reason."""

import json
import re
from pathlib import Path

import pytest
import torch
import transformers
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.formats import (
    InterchangeError,
    from_transformers,
    tensor_names,
    to_transformers,
    why_not_expressible,
)
from albert_edu.model.interchange import load_pretrained, load_with_tokenizer, save_pretrained
from albert_edu.model.sharing import layer_plan
from albert_edu.text.stories import stories
from albert_edu.text.tokenizer import AlbertTokenizer
from tests.support import randomised, same_bits

V = 150
SHAPE = dict(
    vocab_size=V, embedding_size=8, hidden_size=16, num_layers=4, num_heads=2, max_positions=16
)
THEIRS = dict(
    vocab_size=V,
    hidden_size=16,
    num_hidden_layers=4,
    num_attention_heads=2,
    intermediate_size=64,
    max_position_embeddings=16,
)
ALBERT, BERT = dict(), dict(embedding_size=16, share="none")


@pytest.fixture(scope="module")
def tokenizer() -> AlbertTokenizer:
    return AlbertTokenizer.train(
        (sentence for story in stories(40)["sentences"] for sentence in story), V
    )


@pytest.fixture(scope="module")
def sentences() -> list[str]:
    return [sentence for story in stories(5, seed=1)["sentences"] for sentence in story] + [
        "Ça, c'est   UNKNOWN: 3,000 £!"
    ]


def model_of(**changes) -> AlbertForPretraining:
    """A model whose every parameter is random, biases and norms too."""
    return randomised(AlbertForPretraining(AlbertConfig(**(SHAPE | changes))))


def their_albert(kind: str = "AlbertForPreTraining", **changes):
    settings = dict(embedding_size=8) | THEIRS | changes
    return getattr(transformers, kind)(transformers.AlbertConfig(**settings))


def assert_pools_alike(ours, theirs):
    ids = torch.randint(1, V, (2, 9))
    expected = theirs.eval()(ids).pooler_output
    torch.testing.assert_close(ours.eval()(ids).pooled, expected, atol=1e-5, rtol=1e-5)


def names_there(config: AlbertConfig) -> dict[str, str]:
    with torch.device("meta"):
        return tensor_names(AlbertForPretraining(config), to_transformers(config)["model_type"])


def edit_tensors(folder: Path, change):
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, metadata={"format": "pt"})


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
    loaded, its_tokenizer = load_with_tokenizer(str(folder))
    assert loaded.config == model.config and same_bits(loaded, model)
    assert loaded.masked_token_head.decoder.weight is loaded.albert.embeddings.word.weight
    assert its_tokenizer.model_proto == tokenizer.model_proto


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
    config = AlbertConfig(**(SHAPE | dict(num_layers=L, share=share, num_groups=groups) | rest))
    assert why_not_expressible(config) is None
    theirs = transformers.AutoConfig.for_model(**to_transformers(config))
    back = from_transformers(json.loads(theirs.to_json_string(use_diff=False)))
    # "none" and "as many groups as layers" are two names of one model: names and plans must agree.
    assert back.replace(share=config.share, num_groups=config.num_groups) == config
    plans = (layer_plan(L, each.share, each.num_groups) for each in (back, config))
    assert next(plans) == next(plans)
    assert names_there(back) == names_there(config)


def test_transformers_picks_the_right_class_and_finds_every_tensor(tokenizer, tmp_path):
    for changes, kind in (
        (ALBERT, "AlbertForPreTraining"),
        (dict(embedding_size=16), "AlbertForPreTraining"),
        (BERT, "BertForPreTraining"),
    ):
        save_pretrained(model_of(**changes), tokenizer, tmp_path / kind)
        theirs, report = transformers.AutoModelForPreTraining.from_pretrained(
            tmp_path / kind, output_loading_info=True
        )
        assert type(theirs).__name__ == kind
        assert not any(report.values()), report
        said = json.loads((tmp_path / kind / "config.json").read_text())
        assert said.keys() <= type(theirs.config)().to_dict().keys()
        assert said["architectures"] == [kind]
        with safe_open(tmp_path / kind / "model.safetensors", "pt") as file:
            assert file.metadata() == {"format": "pt"}  # version 4 reads no other


def test_transformers_tokenizer_reads_our_folder_with_the_same_ids(folder, tokenizer, sentences):
    theirs = transformers.AlbertTokenizer.from_pretrained(folder)
    pieces = tokenizer.pieces(range(len(tokenizer)))
    assert theirs.get_vocab() == {piece: i for i, piece in enumerate(pieces)}
    names = ("pad", "unk", "cls", "sep", "mask")
    assert [getattr(theirs, f"{name}_token_id") for name in names] == [0, 1, 2, 3, 4]
    assert theirs.model_max_length == 16
    assert [*theirs("")] == ["input_ids", "token_type_ids", "attention_mask"]
    for sentence in sentences:
        assert theirs.encode(sentence, add_special_tokens=False) == tokenizer.encode(sentence)


def test_what_we_save_after_reading_theirs_is_theirs_again(tmp_path):
    theirs = their_albert(num_hidden_groups=2)
    theirs.save_pretrained(tmp_path / "theirs")
    save_pretrained(load_pretrained(tmp_path / "theirs")[0], None, tmp_path / "ours")
    files = (tmp_path / name / "model.safetensors" for name in ("theirs", "ours"))
    assert same_bits(*map(load_file, files))


def test_weights_stored_in_half_precision_are_read_as_float32(tmp_path):
    their_albert().bfloat16().save_pretrained(tmp_path)
    model, _ = load_pretrained(tmp_path)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


# Folders as the Hub has them


@pytest.mark.parametrize("kind", ["Albert", "Bert"])
def test_a_bare_encoder_is_read_and_its_missing_heads_are_named(kind, tmp_path):
    extra = dict(embedding_size=8) if kind == "Albert" else {}
    config = getattr(transformers, f"{kind}Config")(**THEIRS, **extra)
    theirs = getattr(transformers, f"{kind}Model")(config)
    theirs.save_pretrained(tmp_path)
    stored = load_file(tmp_path / "model.safetensors")
    assert "embeddings.word_embeddings.weight" in stored  # no "albert." in front
    named = r"masked_token_head\.dense\.weight.*sentence_order_head\.weight.*start untrained"
    with pytest.warns(UserWarning, match=named):
        ours, _ = load_pretrained(tmp_path)
    assert_pools_alike(ours.albert, theirs)


def test_an_albert_without_order_head_is_read_and_the_warning_names_that_head_alone(folder):
    edit_tensors(folder, lambda read: {name: read[name] for name in read if "sop" not in name})
    with pytest.warns(UserWarning) as caught:
        load_pretrained(folder)
    assert len(caught) == 1
    named = re.search("has no (.*): these", str(caught[0].message))[1].split(", ")
    assert sorted(named) == ["sentence_order_head.bias", "sentence_order_head.weight"]


def test_a_masked_language_model_is_read_without_its_pooler(tmp_path):
    their_albert("AlbertForMaskedLM").save_pretrained(tmp_path)
    with pytest.warns(UserWarning, match=r"albert\.pooler\.weight.*sentence_order_head"):
        model, _ = load_pretrained(tmp_path)
    assert model.albert.pooler.weight.isfinite().all()  # starts anew, and is there


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
    with pytest.raises(InterchangeError, match=f"^{re.escape(copy)} is not {re.escape(original)}"):
        load_pretrained(tmp_path)


def test_norms_called_gamma_and_beta_are_read_as_in_the_hub_s_oldest_bert(tmp_path):
    model = model_of(**BERT)
    save_pretrained(model, None, tmp_path)
    edit_tensors(
        tmp_path, lambda read: {n.replace("Norm.weight", "Norm.gamma"): read[n] for n in read}
    )
    edit_tensors(
        tmp_path, lambda read: {n.replace("Norm.bias", "Norm.beta"): read[n] for n in read}
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
    sizes = {name: size for name, size in THEIRS.items() if name != "max_position_embeddings"}
    theirs = transformers.AutoConfig.for_model(kind, **sizes)
    in_full = json.loads(theirs.to_json_string(use_diff=False))
    assert from_transformers({"model_type": kind, **sizes}) == from_transformers(in_full)


def test_an_albert_that_leaves_out_its_width_of_128_and_has_that_hidden_size_is_no_bert():
    settings = dict(model_type="albert", num_hidden_groups=4, **(THEIRS | dict(hidden_size=128)))
    assert next(iter(names_there(from_transformers(settings)).values())).startswith("albert.")


# Refusals when writing


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        (dict(share="attention", num_groups=2), "only the attention blocks are shared"),
        (dict(share="ffn"), "only the ffn blocks are shared"),
        (dict(num_layers=18, num_groups=14), "this model: for 18 layers in 14 groups"),
        (dict(num_layers=27, num_groups=21), "this model: for 27 layers in 21 groups"),
    ],
)
def test_what_transformers_cannot_express_is_refused_saying_why(shape, reason, tmp_path):
    with pytest.raises(InterchangeError, match=reason):
        save_pretrained(model_of(**shape), None, tmp_path / "new")
    assert not list(tmp_path.iterdir())


def test_a_folder_without_tokenizer_is_refused_where_one_is_needed(tmp_path):
    save_pretrained(model_of(), None, tmp_path)
    with pytest.raises(ValueError, match="has no tokenizer"):
        load_with_tokenizer(tmp_path)


# Refusals when reading


@pytest.mark.parametrize(("L", "groups"), [(18, 14), (27, 21)])
def test_groups_that_float_arithmetic_places_elsewhere_are_refused_on_reading(L, groups, tmp_path):
    """Their model of these depths is another model than ours, with tensors of the same names and shapes."""
    their_albert(num_hidden_layers=L, num_hidden_groups=groups).save_pretrained(tmp_path)
    with pytest.raises(InterchangeError, match=f"{L} layers in {groups} groups"):
        load_pretrained(tmp_path)


@pytest.mark.parametrize("part", ["weight", "bias"])
@pytest.mark.parametrize("kind", ["AlbertForPreTraining", "AlbertModel"])
def test_a_trained_projection_where_e_equals_h_is_refused_and_the_identity_is_not(
    kind, part, tmp_path
):
    theirs = their_albert(kind, embedding_size=16)
    projection = getattr(theirs, "albert", theirs).encoder.embedding_hidden_mapping_in
    torch.nn.init.eye_(projection.weight)
    torch.nn.init.zeros_(projection.bias)
    theirs.save_pretrained(tmp_path / "identity")
    if kind == "AlbertForPreTraining":
        load_pretrained(tmp_path / "identity")
    torch.nn.init.normal_(getattr(projection, part))
    theirs.save_pretrained(tmp_path / "trained")
    with pytest.raises(InterchangeError, match="is not the identity; here E == H means no proj"):
        load_pretrained(tmp_path / "trained")


def test_their_albert_with_e_equal_to_h_and_nothing_shared_is_read_as_an_albert(tmp_path):
    """It has the shape of a BERT, but an ALBERT's tensor names."""
    theirs = their_albert(embedding_size=16, num_hidden_groups=4)
    torch.nn.init.eye_(theirs.albert.encoder.embedding_hidden_mapping_in.weight)
    theirs.save_pretrained(tmp_path)
    assert_pools_alike(load_pretrained(tmp_path)[0].albert, theirs.albert)


# Names


@pytest.mark.parametrize(("name", "share"), [("laptop", "all"), ("laptop-unshared", "none")])
def test_a_shipped_model_is_loaded_by_its_name_from_any_folder(name, share, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, tokenizer = load_pretrained(name)
    assert model.config.share == share and len(tokenizer) == model.config.vocab_size


def test_a_folder_of_ones_own_comes_before_a_shipped_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_pretrained(model_of(), None, "laptop")
    assert load_pretrained("laptop")[0].config == model_of().config
