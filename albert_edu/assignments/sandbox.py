"""A submission's process: without a network, with limits, killed when it is over, and believed only as far as its tokens go."""

import functools
import json
import math
import os
import secrets
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from albert_edu.assignments.merge import Step
from albert_edu.assignments.settings import Limits
from albert_edu.paper.provenance import ROOT

# In new namespaces: nothing can be written but the first folder, the others before "--" are covered, no privileges are left.
COVER = ('cd / && mount --bind "$1" "$1" && folder=$1 && while read -r _ place _; do place=$(printf %b "$place"); '
         '[ "$place" = "$folder" ] || mount -o remount,bind,ro "$place" 2>/dev/null; done < /proc/self/mounts; '
         'shift; while [ "$1" != -- ]; do mount -t tmpfs -o ro none "$1" || exit 97; shift; done; shift; '
         'cd "$folder" && exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs "$@"')  # fmt: skip
NO_NETWORK = ("unshare", "--map-root-user", "--net")
WALLED = (*NO_NETWORK, "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", COVER, "sh")
STARTS_WITHIN = 120  # seconds for imports on a busy machine
LONGEST_LINE = 1 << 22


@dataclass
class Outcome:
    """What came out of one submission. ``ready`` is False if the process never came up, which is not the student's fault."""

    parts: dict[str, list[dict]] = field(default_factory=dict)  # by the grade_id of the test
    errors: list[tuple[str, str]] = field(default_factory=list)  # cell, what went wrong
    flags: list[str] = field(default_factory=list)
    ready: bool = False
    ended: str = ""  # why it ended early
    stderr: str = ""


@functools.cache
def isolation() -> str:
    """The best this machine permits: "walled" (no network, the solutions covered), "no network", or "sockets blocked"."""
    with tempfile.TemporaryDirectory(prefix="submission-") as folder:
        walled = [*WALLED, str(Path(folder).resolve()), "--", "test", "!", "-w", str(ROOT / "albert_edu"), "-a", "-w", "."]
        for name, command in (("walled", walled), ("no network", [*NO_NETWORK, "true"])):
            try:
                if not subprocess.run(command, capture_output=True, timeout=20, check=False).returncode:
                    return name
            except (OSError, subprocess.TimeoutExpired):
                pass
    return "sockets blocked"


ISOLATION_SAYS = {
    "walled": "namespaces of its own (unshare): no network, no other process seen, no file changed but in a folder of its own, "
    "solutions and other submissions covered",
    "no network": "no network (unshare --net); it can read and change the grader's files",
    "sockets blocked": "Python's sockets are blocked, which deliberate code undoes; it can read and change the grader's files",
}


def run(steps: list[Step], limits: Limits, key: int = 0, cover: tuple[Path, ...] = ()) -> Outcome:
    """Run the steps in a process of their own, in a temporary folder that is deleted afterwards."""
    outcome, folder = Outcome(), Path(tempfile.mkdtemp(prefix="submission-"))
    errors = folder.with_name(folder.name + ".stderr")
    try:
        with errors.open("wb") as stderr, _start(folder, stderr, cover) as process:
            try:
                _converse(_Line(process), steps, limits, key, outcome)
            except _Ended as ended:
                outcome.ended = str(ended)
            finally:
                _kill(process)
        outcome.stderr = errors.read_text(errors="replace")[-2000:]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        errors.unlink(missing_ok=True)
    return outcome


class _Ended(Exception):
    """The process is gone or was given up."""


def _converse(line: "_Line", steps: list[Step], limits: Limits, key: int, outcome: Outcome) -> None:
    blocked = isolation() == "sockets blocked"
    line.send({"seconds": limits.seconds, "bytes": limits.bytes, "block_sockets": blocked})
    line.receive(time.monotonic() + STARTS_WITHIN, lambda reply: reply.get("ready") is True, outcome, "at the start")
    outcome.ready = True
    last = time.monotonic() + limits.seconds_in_all
    for step in steps:
        token = secrets.token_hex(16)
        line.send({"kind": step.kind, "name": step.name, "source": step.source, "key": key, "token": token})
        until = min(last, time.monotonic() + limits.seconds * (1 if step.kind == "cell" else 6) + 5)
        ours = functools.partial(_carries, token)
        reply = line.receive(until, ours, outcome, f"in {step.name}")
        changed = _strings(reply.get("changed")) + _strings(reply.get("changed_in_test"))
        outcome.flags += [f"{step.name}: {name}" for name in dict.fromkeys(changed)]
        if step.kind == "cell":
            if reply.get("error"):
                outcome.errors.append((step.name, str(reply["error"])))
        else:
            outcome.parts[step.name] = [] if reply.get("changed_in_test") else _parts(reply.get("parts"))
        if reply.get("thread"):
            raise _Ended(f"stopped behind {step.name}: it left a thread running")


class _Line:
    """JSON lines to and from the process, each awaited no longer than until a moment."""

    def __init__(self, process: subprocess.Popen):
        self.process, self.buffer, self.forged = process, b"", 0
        self.selector = selectors.DefaultSelector()
        self.selector.register(process.stdout, selectors.EVENT_READ)

    def send(self, message: dict) -> None:
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise _Ended("the process ended") from None

    def receive(self, until: float, wanted, outcome: Outcome, where: str) -> dict:
        """The next line that is wanted; any other was written by somebody who does not know the token."""
        while True:
            while b"\n" not in self.buffer:
                left = until - time.monotonic()
                if left <= 0 or not self.selector.select(left):
                    raise _Ended(f"stopped {where}: it did not come back in time")
                piece = os.read(self.process.stdout.fileno(), 1 << 16)
                self.buffer += piece
                if not piece or len(self.buffer) > LONGEST_LINE:
                    raise _Ended(f"the process ended {where}" if not piece else f"stopped {where}: it wrote too much")
            first, _, self.buffer = self.buffer.partition(b"\n")
            try:
                message = json.loads(first)
            except (ValueError, RecursionError):
                message = None
            if isinstance(message, dict) and wanted(message):
                return message
            self.forged += 1
            if (flag := f"something wrote into the channel of the results {where}") not in outcome.flags:
                outcome.flags.append(flag)
            if self.forged > 1000:
                raise _Ended(f"stopped {where}: it wrote too much")


def _carries(token: str, reply: dict) -> bool:
    return reply.get("token") == token


def _parts(found: object) -> list[dict]:
    """The parts as they must look; whatever does not is worth nothing."""
    parts = []
    for part in found if isinstance(found, list) else []:
        score = part.get("score") if isinstance(part, dict) else None
        good = isinstance(score, int | float) and math.isfinite(score) and 0 <= score <= 1
        said = str(part.get("says", "")) if isinstance(part, dict) else ""
        check = str(part.get("check", ""))[:100] if isinstance(part, dict) else ""
        parts.append({"score": float(score) if good else 0.0, "check": check, "says": said[:6000],
                      "reasons": _strings(part.get("reasons")) if isinstance(part, dict) else []})  # fmt: skip
    return parts


def _strings(found: object) -> list[str]:
    return [str(one)[:300] for one in found[:100]] if isinstance(found, list) else []


def _start(folder: Path, stderr, cover: tuple[Path, ...]) -> subprocess.Popen:
    command = [sys.executable, "-P", "-m", "albert_edu.assignments.judge"]
    level = isolation()
    if level == "walled":
        needed = [path.resolve() for path in (folder, ROOT / "albert_edu", Path(sys.prefix), Path(sys.base_prefix))]
        hidden = {path.resolve() for path in cover if path.is_dir()}
        hidden = {path for path in hidden if not any(one.is_relative_to(path) for one in needed)}
        hidden = [str(path) for path in hidden if not hidden & {*path.parents}]  # in a covered folder there is nothing to cover
        command = [*WALLED, str(folder.resolve()), *hidden, "--", *command]
    elif level == "no network":
        command = [*NO_NETWORK, *command]
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    env = kept | {
        "PYTHONPATH": str(ROOT), "HOME": str(folder), "TMPDIR": str(folder), "MPLCONFIGDIR": str(folder), "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0",
    }  # fmt: skip
    return subprocess.Popen(
        command, cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, bufsize=-1,
        start_new_session=True,
    )  # fmt: skip


def _kill(process: subprocess.Popen) -> None:
    """The process and whatever it started in its session; in a PID namespace of its own nothing can stay behind."""
    try:
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, 9)
    except (ProcessLookupError, PermissionError):
        pass
    try:
        process.stdin.close()
    except OSError:
        pass
    process.wait()
