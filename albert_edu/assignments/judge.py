"""The process that runs one submission. It is told one step at a time and answers each; ``sandbox`` is at the other end.

A test arrives only when it is its turn, with a token that its answer must carry: code that ran before cannot have known it.
"""

import ast
import json
import linecache
import os
import socket
import sys

import torch._dynamo  # noqa: F401  an optimizer's first step imports it, which replaces torch.manual_seed: not the student's doing

from albert_edu import checks
from albert_edu.assignments.guard import Snapshot, forbid
from albert_edu.checks import trial


def main() -> None:
    requests, replies = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    settings = json.loads(requests.readline())
    seconds = settings["seconds"]
    ordinary = trial.limits
    trial.limits = lambda: ordinary(seconds)
    if settings["block_sockets"]:
        _block_sockets()
    _limit_memory(settings["bytes"])
    student, snapshot, run, attempts = {"__name__": "__main__", "display": print}, Snapshot(), ordinary, []
    forbid(attempts)
    _say(replies, {"ready": True})
    for line in requests:
        request = json.loads(line)
        if request["kind"] == "cell":
            reply = {"error": _run_cell(request, student, run, seconds), "changed": snapshot.restore() + attempts}
        else:
            parts = _run_test(request, student, run, seconds)
            reply = {"parts": parts, "changed_in_test": snapshot.restore() + attempts}
        attempts.clear()
        _say(replies, {"token": request["token"], **reply})


def _say(replies, message: dict) -> None:
    replies.write(json.dumps(message) + "\n")
    replies.flush()


def _run_cell(request: dict, student: dict, run, seconds: float) -> str:
    """Run a student's cell; what went wrong in one line, or nothing."""
    source, name = request["source"], f"<{request['name']}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        with run(seconds):
            try:
                code = compile(source, name, "exec")
            except SyntaxError:  # lines for Jupyter alone
                lines = ["" if line.startswith(("%", "!")) else line for line in source.splitlines()]
                code = compile("\n".join(lines), name, "exec")
            exec(code, student)
    except trial.TookTooLong:
        return f"not done within {seconds:g} seconds"
    except MemoryError:
        return "more memory than is allowed"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:500]
    return ""


def _run_test(request: dict, student: dict, run, seconds: float) -> list[dict]:
    """Each statement with a check or an assertion is a part, with its score and what to say about it.

    Any other only prepares: if it fails, the assertions behind it fail by themselves, and say what it said.
    """
    parts, reports, failed = [], [], ""

    def recording(check):
        def checked(answer, seed=None):  # an instructor's key moves the seeds that a test names
            reports.append(check(answer, None if seed is None else seed + request["key"]))
            return reports[-1]

        return checked

    names = {**student, **{name: getattr(checks, name) for name in checks.__all__}, "__builtins__": __builtins__}
    names |= {name: recording(getattr(checks, name)) for name in checks.__all__ if name.startswith("check_")}
    for statement in ast.parse(request["source"]).body:
        reports.clear()
        inside = [] if isinstance(statement, ast.FunctionDef | ast.ClassDef) else list(ast.walk(statement))
        asks = any(isinstance(node, ast.Name) and node.id.startswith("check_") for node in inside)
        asserts = any(isinstance(node, ast.Assert) for node in inside)
        code, error = compile(ast.Module([statement], []), f"<{request['name']}>", "exec"), None
        try:
            if asks:  # a check limits every call itself
                exec(code, names)
            else:
                with run(seconds):
                    exec(code, names)
        except BaseException as raised:
            error = raised
        if reports:
            parts += [
                {"score": one.score, "check": one.exercise, "says": str(one), "reasons": one.reasons} for one in list(reports)
            ]
        elif asks:
            parts.append({"score": 0.0, "says": "the check gave no report", "reasons": []})
        else:
            text = ast.unparse(statement)
            said = f"{text}\n  {type(error).__name__}: {error}" if error else text
            if asserts:
                parts.append({"score": float(error is None), "says": (failed + said)[:2000], "reasons": []})
            elif error:
                failed += said + "\n"
    return parts


def _block_sockets() -> None:
    """Where no network namespace can be had: a fence that honest code respects, not a wall."""

    def refuse(*_, **__):
        raise OSError("submissions are graded without a network")

    socket.socket.connect = socket.socket.connect_ex = refuse
    socket.create_connection = socket.getaddrinfo = refuse


def _limit_memory(allowed: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    if used := trial._address_space():
        resource.setrlimit(resource.RLIMIT_AS, (used + allowed, used + allowed))
    resource.setrlimit(resource.RLIMIT_FSIZE, (100 << 20, 100 << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
