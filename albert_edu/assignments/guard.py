"""What student code may have changed in a process: noticed, named and put back before anything is judged."""

import builtins
import functools
import inspect
import json
import math
import os
import signal
import subprocess
import sys
import traceback
import types

import numpy
import torch

METHODS = (property, classmethod, staticmethod)
OPEN = (builtins, functools, json, math, os, signal, numpy, torch, torch.autograd, torch.nn, torch.nn.functional, torch.random)
CLOSED = (torch.Tensor, torch.nn.Module, torch.nn.Parameter, torch.Generator)  # nothing may be added to these

FORBIDDEN = {"sys._getframe", "sys._current_frames", "gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys.settrace",
             "sys.setprofile", "sys.addaudithook", "ctypes.dlopen", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn",
             "os.system", "os.kill", "subprocess.Popen", "object.__getattr__"}  # fmt: skip
PASSES_ON = {inspect.__file__, subprocess.__file__, traceback.__file__, os.__file__}  # who calls these is asked instead
FRAMES = {"tb_frame", "f_code", "gi_code", "cr_code", "ag_code"}


class Snapshot:
    """The functions, classes and methods of torch and of this library as they are now.

    ``restore`` puts back what has changed since and returns the names. It compares objects, and the code within functions. It
    does not see into C, and cannot stop code that looks for this very object: see what the instructors' page says about that.
    """

    def __init__(self):
        ours = [module for name, module in sorted(sys.modules.items()) if name.split(".")[0] == "albert_edu"]
        classes = {thing for module in ours for thing in vars(module).values()
                   if isinstance(thing, type) and thing.__module__.startswith("albert_edu")}  # fmt: skip
        self._closed = [*CLOSED, *ours, *sorted(classes, key=lambda one: (one.__module__, one.__qualname__))]
        self._kept = [(owner, _tools(owner)) for owner in (*OPEN, *self._closed)]
        functions = {id(f): f for _, tools in self._kept for tool in tools.values() for f in _functions(tool)}
        self._inner = [(f, f.__code__, f.__defaults__, f.__kwdefaults__) for f in functions.values()]

    def restore(self) -> list[str]:
        """Put everything back; a line for each thing that was not as it should be."""
        changed = []
        for owner, tools in self._kept:
            now = vars(owner)
            for name, tool in tools.items():
                if now.get(name) is not tool:
                    changed.append(f"changed {owner.__name__}.{name}")
                    setattr(owner, name, tool)
            if any(owner is one for one in self._closed):
                for name in [name for name in _tools(owner) if name not in tools]:
                    changed.append(f"added {owner.__name__}.{name}")
                    delattr(owner, name)
        for function, *inner in self._inner:
            now = (function.__code__, function.__defaults__, function.__kwdefaults__)
            if any(one is not other for one, other in zip(now, inner, strict=True)):
                changed.append(f"changed the code of {function.__module__}.{function.__qualname__}")
                function.__code__, function.__defaults__, function.__kwdefaults__ = inner
        return changed


def forbid(attempts: list[str]) -> None:
    """From now on an answer that looks for the frames, objects or memory around it gets a RuntimeError, and is noted.

    An audit hook cannot be taken away again. It asks who is calling: code of a cell, or torch and Python themselves.
    """
    busy = False

    def hook(event: str, arguments: tuple) -> None:
        nonlocal busy
        if busy or event not in FORBIDDEN or (event == "object.__getattr__" and arguments[1] not in FRAMES):
            return
        busy = True
        try:
            caller = sys._getframe(1)
            while caller and caller.f_code.co_filename in PASSES_ON:
                caller = caller.f_back
            guilty = caller is not None and caller.f_code.co_filename.startswith(("<cell", "<string"))
        finally:
            busy = False
        if guilty:
            attempts.append(f"tried {event}" + (f" {arguments[1]}" if event == "object.__getattr__" else ""))
            raise RuntimeError(f"{event} is not for answers")

    sys.addaudithook(hook)


def _tools(owner) -> dict[str, object]:
    """What can be called in a module or class; modules are left out, since imports add them at any time."""
    return {name: value for name, value in list(vars(owner).items())
            if (callable(value) or isinstance(value, METHODS)) and not isinstance(value, types.ModuleType)}  # fmt: skip


def _functions(tool) -> list[types.FunctionType]:
    inside = [tool, getattr(tool, "__wrapped__", None), getattr(tool, "fget", None), getattr(tool, "__func__", None)]
    return [function for function in inside if isinstance(function, types.FunctionType)]
