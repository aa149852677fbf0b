"""The process that runs one submission. It is told one step at a time and answers each; ``sandbox`` is at the other end.

A test arrives only when it is its turn, with a token that its answer must carry: code that ran before cannot have known it.
"""

import ast
import json
import linecache
import os
import socket
import sys
from contextlib import contextmanager, suppress

import torch._dynamo

from albert_edu import checks
from albert_edu.assignments.guard import forbid, left_a_thread, watch
from albert_edu.checks import trial


def main() -> None:
    requests, replies = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    settings = json.loads(requests.readline())
    seconds = settings["seconds"]
    with suppress(RuntimeError):  # where it is not to be had; its first use replaces parts of torch: not the student's doing
        torch.compile(torch.nn.Identity(), backend="eager")(torch.ones(1))
    found, run = [], trial.limits

    @contextmanager
    def limits():  # around each call of an answer: what it changes is put back before a check looks at what it returns
        try:
            with run(seconds):
                yield
        finally:
            found.extend(restore(within=True))

    trial.limits, trial.SECONDS = limits, f"{seconds:g}"  # the latter for what a report says
    if settings["block_sockets"]:
        _block_sockets()
    _limit_memory(settings["bytes"])
    student, restore = {"__name__": "__main__", "display": print}, watch()
    forbid(found)
    _say(replies, {"ready": True})
    for line in requests:
        request = json.loads(line, cls=json.JSONDecoder)
        if request["kind"] == "cell":
            reply = {"error": _run_cell(request, student, run, seconds), "changed": found + restore()}
        else:
            parts = _run_test(request, student, run, seconds)
            reply = {"parts": parts, "changed_in_test": found + restore()}
        found.clear()
        _say(replies, {"token": request["token"], "thread": left_a_thread(), **reply})


def _say(replies, message: dict) -> None:
    replies.write(json.dumps(message, cls=json.JSONEncoder) + "\n")  # a new one, as the one that json keeps can be changed
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
        return _told(error, run, seconds)
    return ""


def _told(error: BaseException, run, seconds: float) -> str:
    """Kind and text of an error; the text is the student's code as well."""
    try:
        with run(seconds):
            return f"{type(error).__name__}: {error}"[:500]
    except BaseException:
        return "an error that cannot be shown"


def _run_test(request: dict, student: dict, run, seconds: float) -> list[dict]:
    """Each statement with a check or an assertion is a part, with its score and what to say about it.

    Any other only prepares: if it fails, the assertions behind it fail by themselves, and say what it said.
    """
    parts, reports, failed = [], [], ""

    def recording(check):
        def checked(answer, seed=None):  # an instructor's key moves the seeds that a test names
            reports.append(checks.Report(check.__name__.removeprefix("check_")))  # worth nothing, if it is not finished
            reports[-1] = check(answer, None if seed is None else seed + request["key"])
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
        said = _told(error, run, seconds) if error else "there is no report"
        if asks:
            for one in list(reports) or [checks.Report("")]:
                says = str(one) if one.properties else f"the check was not finished: {said}"
                parts.append({"score": one.score, "check": one.exercise, "says": says, "reasons": one.reasons})
        else:
            text = ast.unparse(statement)
            said = f"{text}\n  {said}" if error else text
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
