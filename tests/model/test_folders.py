"""Files of others: other containers, names on the Hub, and what only transformers reads."""

import inspect
import json
import re
import shutil
import time
from pathlib import Path

import huggingface_hub
import pytest
import transformers
from huggingface_hub.utils import filter_repo_objects
from safetensors.torch import load_file, save_file

from albert_edu.config import AlbertConfig
from albert_edu.errors import InputError
from albert_edu.model.formats import InterchangeError, from_transformers, to_transformers
from albert_edu.model.interchange import load_pretrained, model_folder, save_pretrained
from tests.support import same_bits, tiny


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    save_pretrained(tiny(), None, folder)
    return folder


@pytest.fixture
def folder(written, tmp_path) -> Path:
    """A copy of a folder we wrote."""
    return shutil.copytree(written, tmp_path, dirs_exist_ok=True)


# Other containers


def test_weights_that_transformers_wrote_in_shards_are_read(folder, written):
    theirs = transformers.AlbertForPreTraining.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    theirs.save_pretrained(folder, max_shard_size="10KB")
    assert len(list(folder.glob("model-*.safetensors"))) > 2
    assert same_bits(load_pretrained(folder)[0], load_pretrained(written)[0])


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ({}, r"/model\.safetensors\.index\.json cannot be used.*weight_map"),
        ({"weight_map": {"albert.pooler.weight": 5}}, r" has no 5 \(found: "),
        ({"weight_map": {"albert.pooler.weight": "../outside"}}, r" has no outside \(found: "),
    ],
)
def test_an_index_names_files_of_the_folder_itself(folder, index, said):
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(InterchangeError, match=re.escape(str(folder)) + said):
        load_pretrained(folder)


def test_sizes_that_no_file_fills_do_not_fill_the_memory(folder):
    settings = json.loads((folder / "config.json").read_text())
    settings |= {"hidden_size": 2**20, "intermediate_size": 2**22}  # 16 TiB of weights
    (folder / "config.json").write_text(json.dumps(settings))
    with pytest.raises(InterchangeError, match="1048576"):
        load_pretrained(folder)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.npz", "model.ckpt-best.index"])
def test_pickles_and_files_of_tensorflow_are_refused_with_the_lines_that_convert_them(folder, name):
    (folder / "model.safetensors").rename(folder / name)
    convert = r"AutoModelForPreTraining\.from_pretrained\(FOLDER\).*model\.save_pretrained\(NEW\)"
    with pytest.raises(InterchangeError, match=rf"has no model\.safetensors .*{name}.*{convert}"):
        load_pretrained(folder)


# What may be missing


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (
            "masked_token_head",
            r"lacks predictions\.bias\. Is it another kind of model\?",
        ),
        ("sentence_order_head", r"lacks sop_classifier\.classifier\.bias\."),
        ("pooler", r"lacks albert\.pooler\.bias\."),
        ("tokenizer", "has no tokenizer, so the rows of its table mean nothing"),
    ],
)
def test_a_part_that_is_required_and_missing_is_refused_and_only_then(part, said, folder):
    tensors = load_file(folder / "model.safetensors")
    if part != "tokenizer":
        start = {"masked_token_head": "predictions.", "pooler": "albert.pooler."}.get(part, "sop_")
        tensors = {name: tensors[name] for name in tensors if not name.startswith(start)}
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        with pytest.warns(UserWarning, match="these start untrained"):
            load_pretrained(folder)
    with pytest.raises(InterchangeError, match=said):
        load_pretrained(folder, required=[part])


def test_a_part_that_no_model_has_cannot_be_required(written):
    unchecked = inspect.unwrap(load_pretrained)  # as users have it, without beartype
    said = "required must be one of masked_token_head, .*, tokenizer, got 'heads'"
    with pytest.raises(InputError, match=said):
        unchecked(written, required=["heads"])


# The Hub


def test_without_a_network_the_hubs_cache_answers_and_a_name_that_it_lacks_is_refused_at_once(
    written, tmp_path, monkeypatch
):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "https://hub.invalid")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    began, cached = time.monotonic(), tmp_path / "models--albert--albert-base-v2"
    said = r"is no folder, no shipped model \(laptop, .*none came from the Hub: .*"
    with pytest.raises(InterchangeError, match=said):
        load_pretrained("albert/albert-base-v2")
    commit = "8e2f239c5f8a2c0f253781ca60135db913e5c80c"
    shutil.copytree(written, cached / "snapshots" / commit)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(commit)
    assert same_bits(load_pretrained("albert/albert-base-v2")[0], load_pretrained(written)[0])
    assert time.monotonic() - began < 20, "it must not try again and again"


def test_the_hub_gives_the_files_that_we_read_and_otherwise_its_reason(monkeypatch):
    wanted = ["config.json", "model.safetensors", "spiece.model", "tokenizer.json", "vocab.txt"]

    def refuse(name, allow_patterns):
        there = [*wanted, "tf_model.h5", "pytorch_model.bin"]
        assert [*filter_repo_objects(there, allow_patterns=allow_patterns)] == wanted
        raise OSError("401")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(InterchangeError, match="came from the Hub: 401"):
        model_folder("albert/albert-base-v2")


@pytest.mark.parametrize(
    ("field", "value"), [("auto_map", {"AutoModel": "own.Model"}), ("is_encoder_decoder", True)]
)
def test_a_folder_of_foreign_code_or_with_a_decoder_is_refused(field, value):
    settings = to_transformers(AlbertConfig.named("albert-tiny")) | {field: value}
    with pytest.raises(ValueError, match=f"{field} must be"):
        from_transformers(settings)
