"""What the command lines share: one sentence for what goes wrong, on any screen."""

import argparse
import io
import sys

import numpy as np
import pytest
import torch

from albert_edu.command_line import explain, run, verbs_of
from albert_edu.errors import RunError


def parser_of(act) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    verbs_of(parser)("act", act, "does something")
    return parser


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_letters_that_a_code_page_lacks_do_not_end_a_command(encoding, monkeypatch):
    screen = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", screen)
    assert run(parser_of(lambda options: print("classes: gut, 日本, ▁the")), ["act"]) == 0
    said = screen.buffer.getvalue().decode(encoding)
    shown = "classes: gut, 日本, ▁the" if encoding == "utf-8" else r"gut, \u65e5\u672c, \u2581the"
    assert shown in said


OUT_OF_MEMORY = [
    MemoryError(),
    np._core._exceptions._ArrayMemoryError((10**9, 10**9), np.dtype(float)),
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB."),
    RuntimeError("[enforce fail at alloc_cpu.cpp:118] DefaultCPUAllocator: can't allocate memory"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)"),
    RuntimeError("std::bad_alloc"),
    OSError(12, "Cannot allocate memory"),
]


@pytest.mark.parametrize("error", OUT_OF_MEMORY, ids=lambda error: type(error).__name__)
def test_too_little_memory_is_told_with_what_needs_less(error, capsys):
    def act(options):
        raise error

    assert run(parser_of(act), ["act"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("There is not enough memory. A smaller --batch-size")
    for option in ("--sequence-length", "--accumulate", "--gradient-checkpointing"):
        assert option in said
    assert said.count("\n") == 1 and "bug" not in said


def test_memory_that_is_really_too_large_is_told_so_too():
    with pytest.raises((RuntimeError, MemoryError)) as caught:
        torch.empty(2**50)
    assert explain(caught.value).startswith("There is not enough memory")


def test_an_error_of_the_course_about_memory_keeps_its_own_words():
    assert explain(RunError("the card is out of memory of older runs.")).startswith("RunError: the")
