"""Files of others: other names, other containers, other tokenizers, and files that are broken or hostile."""

import json
import os
import re
import shutil
import time
import urllib.request
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
import torch
import transformers
from huggingface_hub.utils import filter_repo_objects
from safetensors.torch import load_file, save_file

from albert_edu.model import folders
from albert_edu.model.folders import model_folder
from albert_edu.model.formats import InterchangeError, tensor_names
from albert_edu.model.interchange import load_pretrained, save_pretrained
from albert_edu.model.task_heads import AlbertForClassification
from albert_edu.text.hub_tokenizer import HubTokenizer
from albert_edu.text.spans import encode_spans
from albert_edu.text.tasks import Example, SpanExample, encode_pairs
from albert_edu.text.tokenizer import TokenizerError
from tests.support import main, same_bits, tiny

SIZES = dict(
    vocab_size=50,
    hidden_size=16,
    num_hidden_layers=4,
    num_attention_heads=2,
    intermediate_size=64,
    max_position_embeddings=16,
)
WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "four",
    "score",
    "and",
    "seven",
    "year",
    "##s",
    "ago",
    ".",
]


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    save_pretrained(tiny(), None, folder)
    return folder


@pytest.fixture
def folder(written, tmp_path) -> Path:
    """A copy of a folder we wrote."""
    for file in ("config.json", "model.safetensors"):
        (tmp_path / file).write_bytes((written / file).read_bytes())
    return tmp_path


# Other containers


def test_sharded_weights_are_read(folder, written):
    tensors = load_file(folder / "model.safetensors")
    shards = {name: f"model-0000{1 + i % 2}-of-00002.safetensors" for i, name in enumerate(tensors)}
    for shard in set(shards.values()):
        save_file(
            {name: tensors[name] for name in tensors if shards[name] == shard}, folder / shard
        )
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    (folder / "albert_config.json").write_text("{}")  # config.json comes first
    assert same_bits(load_pretrained(folder)[0], load_pretrained(written)[0])


@pytest.mark.parametrize("shard", ["../secret.safetensors", ".."])
def test_a_shard_outside_of_the_folder_is_refused(folder, shard):
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"x": shard}}))
    with pytest.raises(
        InterchangeError, match=rf"'{re.escape(shard)}', which is not a file of its folder"
    ):
        load_pretrained(folder)


def test_a_pickle_of_tensors_is_read_with_a_warning(folder, written):
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.warns(UserWarning, match="is a pickle; only its tensors are read"):
        model, _ = load_pretrained(folder)
    assert same_bits(model, load_pretrained(written)[0])


class Trap:
    def __reduce__(self):
        return os.mkdir, ("sprung",)


@pytest.mark.parametrize(
    ("content", "message"), [(Trap(), "is damaged"), (1, "holds something else than tensors")]
)
def test_code_in_a_pickle_is_not_run_and_what_is_no_tensor_is_refused(
    folder, monkeypatch, content, message
):
    monkeypatch.chdir(folder)
    (folder / "model.safetensors").unlink()
    torch.save({"albert.pooler.weight": content}, folder / "pytorch_model.bin")
    with (
        pytest.warns(UserWarning, match="is a pickle"),
        pytest.raises(InterchangeError, match=message),
    ):
        load_pretrained(folder)
    assert not (folder / "sprung").exists()


def test_code_in_a_numpy_archive_is_not_run(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(
        InterchangeError, match=r"has no model\.safetensors \(found: config\.json\)"
    ):
        load_pretrained(folder)
    np.savez(folder / "model.npz", x=np.array(Trap(), dtype=object))
    with pytest.raises(InterchangeError, match="is damaged"):
        load_pretrained(folder)
    assert not (folder / "sprung").exists()


@pytest.mark.parametrize("prefix", ["", "module/"])
def test_the_authors_variables_are_read_with_their_config(prefix, folder, written):
    """Written in the naming of their TensorFlow code: kernels are input x output, the optimizer's moments are in the file."""
    model, _ = load_pretrained(written)
    modules = dict(model.named_modules())
    variables = {f"{prefix}global_step": np.array(7)}
    for ours, theirs in tensor_names(model, "tensorflow").items():
        module, kind = theirs.rsplit(".", 1)
        array, layer = model.get_parameter(ours).detach().numpy(), modules[ours.rsplit(".", 1)[0]]
        if isinstance(layer, torch.nn.Embedding):
            name = module
        elif isinstance(layer, torch.nn.LayerNorm):
            name = f"{module}/{'gamma' if kind == 'weight' else 'beta'}"
        elif module in ("cls/predictions", "cls/seq_relationship"):
            name = f"{module}/output_{'weights' if kind == 'weight' else 'bias'}"
        else:
            name, array = f"{module}/{'kernel' if kind == 'weight' else 'bias'}", array.T
        variables |= {f"{prefix}{name}": array, f"{prefix}{name}/adam_m": array}
    assert (
        f"{prefix}bert/encoder/transformer/group_0/inner_group_0/ffn_1/intermediate/output/dense/kernel"
        in variables
    )
    assert f"{prefix}bert/embeddings/word_embeddings" in variables
    np.savez(folder / "model.npz", **variables)
    (folder / "model.safetensors").unlink()
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").unlink()
    their_config = {
        name: settings[name]
        for name in settings.keys() - {"model_type", "architectures", "inner_group_num"}
    }
    (folder / "albert_config.json").write_text(json.dumps(their_config | {"hidden_act": "gelu"}))
    read, _ = load_pretrained(folder)
    assert read.config == model.config  # their "gelu" is the tanh form
    assert same_bits(read, model)


def test_inner_groups_without_repetition_are_read_as_layers_of_their_own(tmp_path):
    sizes = SIZES | dict(
        num_hidden_layers=2, num_hidden_groups=2, inner_group_num=3, embedding_size=8
    )
    config = transformers.AlbertConfig(**sizes)
    theirs = transformers.AlbertForPreTraining(config).eval()
    theirs.save_pretrained(tmp_path)
    ours, ids = load_pretrained(tmp_path)[0].eval(), torch.randint(1, 50, (2, 9))
    assert ours.config.num_layers == 6 and ours.config.share == "none"
    torch.testing.assert_close(
        ours.albert(ids).pooled, theirs.albert(ids).pooler_output, atol=1e-5, rtol=1e-5
    )


# The Hub


def test_without_a_network_the_hubs_cache_answers_and_a_name_that_it_lacks_is_refused_at_once(
    written, tmp_path, monkeypatch
):
    for name, value in (
        ("HF_HUB_CACHE", str(tmp_path)),
        ("ENDPOINT", "https://hub.invalid"),
        ("HF_HUB_OFFLINE", False),
    ):
        monkeypatch.setattr(huggingface_hub.constants, name, value)
    monkeypatch.setattr(urllib.request, "getproxies", dict)
    began, cached = time.monotonic(), tmp_path / "models--albert--albert-base-v2"
    with pytest.raises(
        InterchangeError,
        match=r"is no folder, no shipped model \(laptop, .*out of reach, and the cache lacks it",
    ):
        load_pretrained("albert/albert-base-v2")
    shutil.copytree(written, cached / "snapshots" / "8e2f239c5f8a2c0f253781ca60135db913e5c80c")
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("8e2f239c5f8a2c0f253781ca60135db913e5c80c")
    assert same_bits(load_pretrained("albert/albert-base-v2")[0], load_pretrained(written)[0])
    assert time.monotonic() - began < 20, "it must not try again and again"


def test_the_hub_gives_the_files_that_we_read_and_otherwise_its_reason(monkeypatch):
    wanted = ["config.json", "model.safetensors", "pytorch_model.bin", "spiece.model", "vocab.txt"]

    def refuse(name, allow_patterns, local_files_only):
        assert [
            *filter_repo_objects([*wanted, "tf_model.h5"], allow_patterns=allow_patterns)
        ] == wanted
        raise OSError(f"401, {local_files_only}")

    monkeypatch.setattr(folders, "is_hub_out_of_reach", lambda: False)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(InterchangeError, match="came from the Hub: 401, False"):
        model_folder("albert/albert-base-v2")


def test_a_misspelt_path_is_not_looked_up_on_the_hub(tmp_path, monkeypatch):
    monkeypatch.setattr(
        huggingface_hub, "snapshot_download", lambda *a, **b: pytest.fail("asked the Hub")
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for name in ("runs/mine", "./mine", "/nowhere/mine", "a/b/c"):
        with pytest.raises(InterchangeError, match="is not a folder"):
            model_folder(name)


# Tokenizers of others


@pytest.fixture
def bert(tmp_path) -> Path:
    """A BERT with a WordPiece vocabulary, as on the Hub: vocab.txt alone, and [CLS] is not 2."""
    config = transformers.BertConfig(**SIZES | dict(vocab_size=len(WORDS) + 2))
    transformers.BertForPreTraining(config).save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "the", "of", *WORDS[1:]]) + "\n")
    return tmp_path


def test_a_wordpiece_bert_is_loaded_with_its_tokenizer(bert, tmp_path):
    _, tokenizer = load_pretrained(bert)
    theirs = transformers.BertTokenizer.from_pretrained(bert)
    text = "Four score and SEVEN years ago. Lincoln"
    assert tokenizer.encode(text) == theirs.encode(text, add_special_tokens=False)
    assert tokenizer.encode_many([text, "ago"]) == [tokenizer.encode(text), tokenizer.encode("ago")]
    special = (
        tokenizer.pad_id,
        tokenizer.unk_id,
        tokenizer.cls_id,
        tokenizer.sep_id,
        tokenizer.mask_id,
    )
    assert special == (0, 3, 4, 5, 6) and len(tokenizer) == len(WORDS) + 2
    assert (
        tokenizer.decode([4, *tokenizer.encode("four score and seven years"), 6, 5])
        == "four score and seven years [MASK]"
    )


def test_a_wordpiece_bert_is_fine_tuned_on_pairs_and_spans_with_its_own_special_tokens(bert):
    model, tokenizer = load_pretrained(bert)
    data = encode_pairs(
        [Example("four score", "years ago", 0), Example("seven", None, 1)], tokenizer, 12
    )
    assert data.token_ids[0].tolist() == [4, 7, 8, 5, 11, 12, 13, 5, 0, 0, 0, 0]
    assert AlbertForClassification(model.albert, 2).loss(data).isfinite()
    example = SpanExample(
        "q", "and seven?", "Four score and seven years ago.", ("seven years",), 15
    )
    spans = encode_spans([example], tokenizer, 16)
    start, end = spans.data.labels[0].tolist()
    assert tokenizer.pieces(spans.data.token_ids[0][start : end + 1].tolist()) == [
        "seven",
        "year",
        "##s",
    ]


def test_a_wordpiece_bert_is_no_start_for_pretraining(bert, tmp_path, capsys):
    code = main(
        [
            "pretrain",
            "--corpus",
            "stories",
            "--warm-start",
            str(bert),
            "--out",
            str(tmp_path / "out"),
        ]
    )
    assert code == 2 and "pre-training needs a tokenizer of ALBERT's" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_wordpiece_tokenizer_is_saved_so_that_we_and_transformers_read_it_again(bert, tmp_path):
    model, tokenizer = load_pretrained(bert)
    save_pretrained(model, tokenizer, tmp_path / "again")
    _, again = load_pretrained(tmp_path / "again")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "again")
    assert again.fingerprint == tokenizer.fingerprint and theirs.model_max_length == 16
    assert theirs.encode("four years", add_special_tokens=False) == tokenizer.encode("four years")


def test_a_folder_that_transformers_saved_from_ours_keeps_its_tokenizer(tmp_path):
    model, tokenizer = load_pretrained("laptop")
    theirs = transformers.AutoTokenizer.from_pretrained(model_folder("laptop"))
    save_pretrained(model, None, tmp_path)
    theirs.save_pretrained(tmp_path)
    assert not (tmp_path / "spiece.model").exists()
    _, read = load_pretrained(tmp_path)
    assert isinstance(read, HubTokenizer)
    text = "Four score and seven years ago, our fathers brought forth"
    assert read.encode(text) == tokenizer.encode(text)
    assert read.mask_id == 4


def test_our_folder_tells_transformers_segments_and_length():
    theirs = transformers.AutoTokenizer.from_pretrained(model_folder("laptop"))
    encoded = theirs("fellow citizens", "of the senate")
    first = encoded["token_type_ids"].index(1)
    assert encoded["input_ids"][first - 1] == 3 and theirs.model_max_length == 128
    fill = transformers.pipeline(
        "fill-mask",
        str(model_folder("laptop")),
        tokenizer=theirs,
        tokenizer_kwargs={"truncation": True},
    )
    assert len(fill("the united [MASK] of america " + "and so on " * 200)) == 5


def test_a_tokenizer_without_the_special_tokens_is_refused():
    import tokenizers

    with pytest.raises(TokenizerError, match=r"this tokenizer has no \[PAD\]"):
        HubTokenizer(tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0}, [])))


@pytest.mark.parametrize(("words", "expected"), [(3, "warns"), (-3, "refuses")])
def test_a_tokenizer_of_another_size_than_the_table_is_noticed(bert, words, expected):
    vocabulary = (bert / "vocab.txt").read_text().splitlines()
    (bert / "vocab.txt").write_text(
        "\n".join(vocabulary[:-words] if words > 0 else [*vocabulary, "x", "y", "z"]) + "\n"
    )
    if expected == "warns":
        with pytest.warns(UserWarning, match="has 12 tokens, its model 15 rows"):
            load_pretrained(bert)
    else:
        with pytest.raises(InterchangeError, match="has 18 tokens, its model 15 rows"):
            load_pretrained(bert)


# Hostile and broken files


def test_unknown_fields_of_our_own_format_are_named(tmp_path):
    save_pretrained(tiny(share="ffn"), None, tmp_path, native=True)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"experts": 8}))
    with pytest.raises(InterchangeError, match=r"config\.json describes no model.*'experts'"):
        load_pretrained(tmp_path)


def test_a_tensor_beside_the_encoder_that_the_model_has_no_place_for_is_named(folder):
    tensors = load_file(folder / "model.safetensors") | {"classifier.weight": torch.zeros(2, 2)}
    save_file(tensors, folder / "model.safetensors")
    with pytest.warns(UserWarning, match="1 tensors are not used, for example classifier.weight"):
        load_pretrained(folder)
