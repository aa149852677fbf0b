"""The examples in the library's docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import albert_course
import albert_edu
import albert_paper

MODULES = [
    module.name
    for package in (albert_edu, albert_course, albert_paper)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if "__main__" not in module.name
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples():
    found = [doctest.DocTestFinder().find(importlib.import_module(name)) for name in MODULES]
    assert sum(bool(example.examples) for examples in found for example in examples) >= 10
