"""What student code may have changed in a process: noticed, named and put back before anything is judged."""

import builtins
import ctypes
import functools
import inspect
import os
import signal
import subprocess
import sys
import threading
import traceback
import types
from collections.abc import Callable

import numpy
import torch

METHODS = (property, classmethod, staticmethod)
OPEN = (functools, os, signal, sys, numpy, torch, torch.autograd, torch.nn, torch.nn.functional, torch.random)
CLOSED = (torch.Tensor, torch.nn.Module, torch.nn.Parameter, torch.Generator)  # nothing may be added to these

FORBIDDEN = {"sys._getframe", "sys._current_frames", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.system", "os.kill",
             "subprocess.Popen", "object.__getattr__", "marshal.loads", "ctypes.dlopen", "ctypes.dlsym", "ctypes.cdata",
             "ctypes.call_function", "ctypes.string_at"}  # fmt: skip
WHOEVER_ASKS = {"sys.settrace", "sys.setprofile", "sys.addaudithook", "gc.get_objects", "gc.get_referrers", "gc.get_referents"}
FRAMES = {"tb_frame", "f_code", "gi_code", "cr_code", "ag_code"}
PASSES_ON = {module.__file__ for module in (inspect, subprocess, traceback, os, ctypes)}
LIBRARIES = ("<frozen ", *(os.path.join(folder, "") for folder in sys.path if folder))


def watch() -> Callable[[], list[str]]:
    """Remember the functions, classes and methods of torch, of this library, and of what it uses of Python, as they are now.

    The function that comes back puts back what has changed since, and returns a line for each. It compares objects, and the code
    within functions; it does not see into C. No module holds it, and it takes Python's own functions back before it uses them.
    ``within`` a step, it leaves torch's modes and signal handlers alone, which may be those of a check.
    """
    ours = [module for name, module in sorted(sys.modules.items()) if name.split(".")[0] in ("albert_edu", "__main__")]
    closed = [*CLOSED, *ours, *_classes(ours)]
    python = _of_python(ours)
    kept = [(owner, _tools(owner)) for owner in (*OPEN, *python, *_classes(python), *closed)]
    kept = [(module, dict(vars(module))) for module in ours] + kept  # all that ours know of
    inner, todo = {}, [tool for _, tools in kept for tool in tools.values()]
    while todo:
        for f in _functions(todo.pop()):
            if id(f) not in inner:
                cells = [(cell, cell.cell_contents) for cell in f.__closure__ or () if _calls(cell)]
                inner[id(f)] = (f, f.__code__, f.__defaults__, f.__kwdefaults__, cells)
                todo += [called for _, called in cells]
    here, ordinary, tools_of, handlers, signals = vars(builtins), dict(vars(builtins)), _tools, _handlers, _handlers()
    stacks = [(torch._C._len_torch_function_stack, torch._C._pop_torch_function_stack),
              (torch._C._len_torch_dispatch_stack, functools.partial(torch._C._pop_torch_dispatch_stack, None))]  # fmt: skip

    def restore(within: bool = False) -> list[str]:
        changed = [f"changed builtins.{name}" for name in ordinary if here.get(name) is not ordinary[name]]
        here.update(ordinary)
        for owner, tools in kept:
            now = vars(owner)
            for name, tool in tools.items():
                if now.get(name) is not tool:
                    changed.append(f"changed {owner.__name__}.{name}")
                    setattr(owner, name, tool)
        for f, code, defaults, named, cells in inner.values():
            if f.__code__ is not code or f.__defaults__ is not defaults or f.__kwdefaults__ is not named:
                changed.append(f"changed the code of {f.__module__}.{f.__qualname__}")
                f.__code__, f.__defaults__, f.__kwdefaults__ = code, defaults, named
            for cell, called in cells:
                if cell.cell_contents is not called:
                    changed.append(f"changed what {f.__module__}.{f.__qualname__} calls")
                    cell.cell_contents = called
        for owner, tools in kept[-len(closed) :]:
            new = [name for name in tools_of(owner) if name not in tools]
            for name in new if owner not in ours else [name for name in new if name in ordinary]:  # there: what hides Python's own
                changed.append(f"added {owner.__name__}.{name}")
                delattr(owner, name)
        for depth, leave in () if within else stacks:
            while depth():
                changed.append(f"left a mode of torch on: {type(leave()).__name__}")
        for number, handler in () if within else handlers().items():
            if handler is not signals[number]:
                changed.append(f"left a handler for signal {number}")
                signal.signal(number, signals[number])
        return changed

    return restore


def forbid(attempts: list[str]) -> None:
    """From now on an answer that looks for the frames, objects or memory around it gets a RuntimeError, and is noted.

    An audit hook cannot be taken away again. It asks who is calling: torch and Python themselves, or anybody else.
    """
    busy, frame, fixed = False, sys._getframe, (FORBIDDEN, WHOEVER_ASKS, FRAMES, PASSES_ON)
    forbidden, whoever, frames, passes_on = ({*names} for names in fixed)
    libraries = LIBRARIES

    def hook(event: str, arguments: tuple) -> None:
        nonlocal busy
        if busy:
            return
        if event == "compile" or event == "code.__new__":  # code under the name of a file that may do it
            if not (type(arguments[1]) is str and arguments[1].startswith(libraries)):
                return
        elif event == "object.__getattr__":
            if arguments[1] not in frames:
                return
        elif event not in forbidden and event not in whoever:
            return
        busy = True
        try:
            caller = frame(1)
            while caller and caller.f_code.co_filename in passes_on:
                caller = caller.f_back
            while caller and event in whoever and caller.f_code.co_filename.startswith(libraries):
                caller = caller.f_back
            guilty = caller and not caller.f_code.co_filename.startswith(libraries)
        finally:
            busy = False
        if guilty:
            if event != "compile":  # Python itself does it, where it shows the line of an error that __del__ raised
                attempts.append(f"tried {event}" + (f" {arguments[1]}" if event == "object.__getattr__" else ""))
            raise RuntimeError(f"{event} is not for answers")

    sys.addaudithook(hook)


def left_a_thread() -> bool:
    """Whether code that is no library's runs in another thread: it could read the next test, and answer it."""
    for number, frame in sys._current_frames().items():
        while frame and number != threading.get_ident():
            if not frame.f_code.co_filename.startswith(LIBRARIES):
                return True
            frame = frame.f_back
    return False


def _of_python(ours: list[types.ModuleType]) -> list[types.ModuleType]:
    """Python's own modules of which these use anything, with their parts."""
    used = {thing.__name__ if isinstance(thing, types.ModuleType) else getattr(thing, "__module__", None)
            for module in ours for thing in vars(module).values()}  # fmt: skip
    roots = {str(name).split(".")[0] for name in used} & (sys.stdlib_module_names - {"__main__"})
    return [module for name, module in sorted(sys.modules.items()) if name.split(".")[0] in roots]


def _classes(modules: list[types.ModuleType]) -> list[type]:
    """The classes that were made in these modules and can be changed."""
    names = {module.__name__ for module in modules}
    found = {thing for module in modules for thing in vars(module).values()
             if isinstance(thing, type) and thing.__module__ in names and not thing.__flags__ & 1 << 8}  # fmt: skip
    return sorted(found, key=lambda one: (one.__module__, one.__qualname__))


def _tools(owner) -> dict[str, object]:
    """What can be called in a module or class; modules are left out, since imports add them at any time."""
    return {name: value for name, value in list(vars(owner).items())
            if (callable(value) or isinstance(value, METHODS)) and not isinstance(value, types.ModuleType)}  # fmt: skip


def _functions(tool) -> list[types.FunctionType]:
    inside = [tool, getattr(tool, "__wrapped__", None), getattr(tool, "fget", None), getattr(tool, "__func__", None)]
    return [function for function in inside if isinstance(function, types.FunctionType)]


def _calls(cell: types.CellType) -> bool:
    try:
        return isinstance(cell.cell_contents, types.FunctionType)
    except ValueError:  # nothing in it
        return False


def _handlers() -> dict[int, object]:
    return {number: signal.getsignal(number) for number in signal.valid_signals()}
