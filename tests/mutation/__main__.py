"""python -m tests.mutation [--survivors] [MODULE ...]: break the library; do its tests notice?

With --survivors only the mutants that survived last time are tried again, on tests written since;
the module must be the same, or at least have as many mutants: otherwise all are tried.

Imports once and collects once; then every mutant is a fork that replaces the code of the module's
functions in memory (nothing is written to disk) and runs the tests that reach the changed lines,
quickest first, up to the first failure. The import hook of tests/conftest.py stays on. What
survives goes to results.json, and README.md is written from it.
"""

import ast
import gc
import importlib.machinery
import inspect
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from datetime import date
from pathlib import Path
from types import FunctionType

import pytest

from tests.mutation.mutants import Mutant, mutants
from tests.mutation.record import RESULTS, TESTS, state, write_record

ROOT = Path(__file__).resolve().parents[2]
SLOW = 1.0  # core seconds; a slower test is not tried, so what it alone would notice survives
PLAIN = (bool, int, float, str, tuple, list, dict, frozenset, type(None), re.Pattern)


def in_child(work, *arguments):
    """What ``work`` returns in a fork of this process; None where the fork did not live to say."""
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1), os.dup2(1, 2), gc.disable()
        try:
            os.write(write, json.dumps(work(*arguments)).encode())
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else None


def seconds_of_forks() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def failure(item, following) -> str:
    """The last line of what pytest has to say about a test that fails; "" for one that passes."""
    from _pytest.runner import runtestprotocol

    reports = runtestprotocol(item, log=False, nextitem=following)
    texts = [report.longreprtext for report in reports if report.failed]
    return (texts[0].splitlines()[-1] or "it fails") if texts else ""


def note_lines(path: str, lines: set[int]):
    """A trace function that adds to ``lines`` what runs of a file."""

    def trace(frame, *_):
        if frame.f_code.co_filename == path:
            lines.add(frame.f_lineno)
            return trace

    return trace


def survey(items: list, path: str) -> dict:
    """Per test: its core seconds and the lines of the file that it and its fixtures run."""
    found = {}
    for item in items:
        lines, before = set(), time.process_time()
        trace = note_lines(path, lines)
        sys.settrace(trace), threading.settrace(trace)
        said = failure(item, None)
        sys.settrace(None), threading.settrace(None)
        if time.process_time() - before > SLOW:  # once more, without late imports and the trace
            before = time.process_time()
            said = said or failure(item, None)
        if said:
            print(f"{item.nodeid} fails without any mutant and is left out: {said}", flush=True)
        else:
            found[item.nodeid] = time.process_time() - before, lines
    return found


def functions(namespace: dict, path: str) -> dict[str, FunctionType]:
    """Every function of a module by its qualified name, without its decorators."""
    found, queue = {}, list(namespace.values())
    while queue:
        value = queue.pop()
        wrapped = [getattr(value, name, None) for name in ("__func__", "fget", "func")]
        value = next(filter(None, wrapped), value)
        if isinstance(value, type) and value.__module__ == namespace["__name__"]:
            queue += vars(value).values()
        elif callable(value) and isinstance(value := inspect.unwrap(value), FunctionType):
            if value.__code__.co_filename == path:
                found[value.__qualname__] = value
    return found


def made_from(path: str) -> list[FunctionType]:
    """Every function that was made from a file, those of modules loaded a second time included."""
    gc.unfreeze()  # what is frozen is not listed
    every = (thing for thing in gc.get_objects() if isinstance(thing, FunctionType))
    return [function for function in every if function.__code__.co_filename == path]


def install(module, code, live: list[FunctionType]) -> None:
    """Give the functions, constants and class attributes of a live module what ``code`` says.

    Every reference to them stays. ``live`` is what ``made_from`` found.
    """
    fresh = {"__name__": module.__name__, "__file__": module.__file__}
    exec(code, fresh)
    new = functions(fresh, module.__file__)
    for function in live:
        if made := new.get(function.__qualname__):  # others are made anew by those that hold them
            function.__code__, function.__defaults__ = made.__code__, made.__defaults__
            function.__kwdefaults__ = made.__kwdefaults__
    for name, value in fresh.items():
        old = vars(module).get(name)
        if isinstance(value, PLAIN) and name[:2] != "__" and repr(value) != repr(old):
            ours = [
                user
                for key, user in list(sys.modules.items())
                if key.startswith(("albert_", "tests", "test_"))
            ]
            users = [user for user in ours if repr(vars(user).get(name)) == repr(old)]
            for user in users:
                setattr(user, name, value)
            for user in users:  # defaults of arguments were taken from the old value
                if user is not module and user.__name__.startswith("albert_"):
                    source = Path(user.__file__).read_text()
                    install(user, compile(source, user.__file__, "exec"), made_from(user.__file__))
        elif isinstance(old, type) and getattr(value, "__module__", "") == module.__name__:
            if hasattr(old, "_field_defaults"):  # a NamedTuple's
                old.__new__.__defaults__ = value.__new__.__defaults__
            elif hasattr(old, "__dataclass_fields__"):
                made, init = value.__init__, inspect.unwrap(old.__init__)
                init.__defaults__, init.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
            for attribute, setting in vars(value).items():
                if isinstance(setting, PLAIN) and attribute[:1] != "_":
                    setattr(old, attribute, setting)


def trial(
    tree: ast.Module, mutant: Mutant, module, live: list, items: list, seconds: list[float]
) -> str:
    """The name of the test that notices the mutant, "" where none does.

    "import" where the module cannot be read any more.
    """
    mutant.apply()
    try:
        code = compile(ast.fix_missing_locations(tree), module.__file__, "exec")
        install(module, code, live)
    except Exception:
        return "import"
    loader = importlib.machinery.SourceFileLoader  # for tests that load the file once more
    read = loader.get_code
    loader.get_code = lambda self, name: code if self.path == module.__file__ else read(self, name)
    signal.alarm(int(60 + 200 * sum(seconds)))  # should it wait for something that never comes
    for item, following, usual in zip(items, [*items[1:], None], seconds, strict=True):
        most = int(time.process_time() + 2 + 10 * usual)
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
        if failure(item, following):
            return item.nodeid
    return ""


class Mutation:
    """The pytest plugin runs the collected tests on every mutant of the chosen modules."""

    def __init__(self, chosen: list[str], again: bool):
        self.chosen, self.again = chosen, again

    def pytest_collection(self):
        from hypothesis import Phase, settings  # pytest wants to see it first

        phases = [Phase.explicit, Phase.generate]  # no time for shorter counterexamples
        settings.register_profile("mutation", phases=phases)
        settings.load_profile("mutation")

    def pytest_runtestloop(self, session):
        session.config._tmp_path_factory.getbasetemp()
        for name in self.chosen:
            module = sys.modules[f"albert_edu.{name.replace('/', '.')}"]
            files = tuple(f"tests/{file}::" for file in TESTS[name])
            items = [item for item in session.items if item.nodeid.startswith(files)]
            self.run(name, module, items)
            write_record()
        return True

    def run(self, name: str, module, items: list) -> None:
        # Here and not in a fork: what torch imports late is then there for all.
        ran = survey(items, module.__file__)
        quick = [item for item in items if ran.get(item.nodeid, (SLOW, ()))[0] < SLOW]
        live = made_from(module.__file__)
        gc.freeze()
        tree = ast.parse(Path(module.__file__).read_text())
        began, recent, alive = seconds_of_forks(), [], {}
        results, every = json.loads(RESULTS.read_text()), mutants(tree)
        last = results.get(name, {}) if self.again else {}
        if last.get("mutants") != len(every):
            last = {"seconds": 0, "survivors": {mutant.key for mutant in every}}
        for mutant in every:
            if mutant.key not in last["survivors"]:
                continue
            reaching = [
                item
                for item in quick
                if not mutant.span or ran[item.nodeid][1].intersection(mutant.span)
            ]
            reaching.sort(key=lambda item: (item.nodeid not in recent[-3:], ran[item.nodeid][0]))
            seconds = [ran[item.nodeid][0] for item in reaching]
            by = in_child(trial, tree, mutant, module, live, reaching, seconds) if reaching else ""
            recent.append(by)
            if by == "":
                alive[mutant.key] = getattr(mutant.old, "lineno", None) or mutant.parent.lineno
                place = f"{name}:{alive[mutant.key]}"
                note = "" if reaching else " (no test comes here)"
                print(f"{place} {mutant.key}{note}", flush=True)
        command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(command, capture_output=True, text=True, check=False)
        spent = last["seconds"] + seconds_of_forks() - began
        spent += sum(taken for taken, _ in ran.values())
        results[name] = {
            "commit": commit.stdout.strip(),
            "date": str(date.today()),
            "state": state(name),
            "seconds": round(spent),
            "mutants": len(every),
            "survivors": alive,
        }
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        killed = len(every) - len(alive)
        print(f"{name}: {killed} of {len(every)} killed, {spent:.0f} s", flush=True)


if __name__ == "__main__":
    chosen = [argument for argument in sys.argv[1:] if argument != "--survivors"] or list(TESTS)
    os.chdir(ROOT)
    os.environ["OMP_NUM_THREADS"] = "1"  # a fork has no threads, and would wait for them
    kept = Path(os.environ.get("ALBERT_EDU_CACHE") or Path.home() / ".cache" / "albert_edu")
    os.environ["ALBERT_EDU_CACHE"] = own = tempfile.mkdtemp()  # nobody finds what mutants prepare
    shutil.copytree(kept, own, dirs_exist_ok=True) if kept.exists() else None
    files = sorted({f"tests/{test}" for name in chosen for test in TESTS[name]})
    options = ["-q", "-s", "-p", "no:cacheprovider", f"--basetemp={own}/tests"]
    status = pytest.main([*options, *files], plugins=[Mutation(chosen, "--survivors" in sys.argv)])
    shutil.rmtree(own)
    sys.exit(status)
