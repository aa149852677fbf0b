"""Known mistakes: wrong implementations by name, as edits of an exercise's reference.

They stand in ``mistakes/NN.txt``, one file for each notebook, for a teacher to read and to add to:

    [layer_plan]
    ignoring the groups
        i * G // L => 0
    swapping the halves: 'attention' is what is shared
        zip(attention, ffn, strict=True) => zip(ffn, attention, strict=True)

A line in brackets is the title of an exercise. A line without indentation names a mistake as a
report will; the lines below it, indented by four blanks, are its edits, and all of them are made.
``old => new`` replaces ``old`` wherever it stands, whatever the white space. A whole ``def`` or
``class``, its body indented further, takes the place of the reference, and may call it.
"""

import copy
import functools
import inspect
import math
import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

FOLDER = Path(__file__).resolve().parents[1] / "mistakes"
# What every edit may use, whatever the reference's module imports.
MODULES = dict(copy=copy, math=math, re=re, np=np, torch=torch, nn=nn, F=F)


@functools.cache
def read_mistakes(path: Path) -> dict[str, dict[str, str]]:
    """The edits of each mistake of each exercise in the file; ValueError with the line if odd.

    >>> print(read_mistakes(FOLDER / "04.txt")["encoder_size"]["counting every application"])
    set(attention) => attention
    set(ffn) => ffn
    """
    exercises: dict[str, dict[str, str]] = {}
    exercise: dict[str, str] | None = None
    name = ""
    for number, text in enumerate(path.read_text("utf-8").splitlines(), 1):
        line = text.rstrip()
        where = f"{path}, line {number}"
        if line.startswith("["):
            exercise = exercises.setdefault(line.strip("[]"), {})
            name = ""
            if exercise:
                raise ValueError(f"{where}: the exercise {line} stands in this file twice")
        elif exercise is None:
            if line:
                raise ValueError(f"{where}: the title of an exercise in brackets must come first")
        elif line.startswith("    ") and name:
            exercise[name] = f"{exercise[name]}\n{line[4:]}".strip()
        elif line.startswith(" "):
            raise ValueError(f"{where}: an edit needs the name of a mistake and four blanks")
        elif line:
            name = line
            if name in exercise:
                raise ValueError(f"{where}: the mistake {name!r} has been named before")
            exercise[name] = ""
    return exercises


def wrong_answer(reference: Callable, edits: Callable | str) -> Callable:
    """The wrong implementation that the edits make of the reference; a callable is one already."""
    if callable(edits):
        return edits
    source = textwrap.dedent(inspect.getsource(reference))
    name = reference.__name__
    for edit in re.split(r"\n(?! )", edits):  # the lines of one are indented further
        if edit.startswith(("def ", "class ")):
            source = edit
            name = re.findall(r"\w+", edit)[1]
        else:
            source = edited(source, edit)
    scope = MODULES | vars(sys.modules[reference.__module__])
    exec(compile(source, f"<{name}>", "exec"), scope)
    return scope[name]


def edited(source: str, edit: str) -> str:
    """The source after one edit; ValueError if there is nothing to edit.

    >>> edited("y = f(\\n    x,\\n)", "f(x) => g(x)")
    'y = g(x)'
    """
    old, arrow, new = edit.partition(" =>")
    if not arrow:
        raise ValueError(f"{edit!r} has no arrow: an edit of the reference is old => new")
    # A formatter may break the reference's lines and end a bracket with a comma.
    words = re.findall(r"\w+|[^\w\s]", old)
    loose = (rf"(,\s*)?{re.escape(word)}" if word in ")]}" else re.escape(word) for word in words)
    changed, places = re.subn(r"\s*".join(loose), lambda _: new.strip(), source)
    if not places:
        raise ValueError(f"{old!r} is not in the reference")
    return changed
