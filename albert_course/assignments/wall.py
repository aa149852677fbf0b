"""The wall around a submission: bubblewrap where it works, else a plain process with limits.

nbgrader runs outside and talks to a kernel inside. The gradebook, the solutions, the hidden tests
that are still to come and all other submissions therefore stay out of the kernel's sight.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from albert_course.assignments import SEED_VARIABLE

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = [str(ROOT / name) for name in ("albert_edu", "albert_course", "albert_paper")]
SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/fonts")
READABLE = (*SYSTEM, sys.base_prefix, sys.prefix, *PACKAGES)
KERNEL = "albert-submission"
SAYS = {
    "bwrap": "Each submission runs behind bubblewrap, without network, with limits of time and "
    "memory, in an empty folder of its own. It sees neither solutions nor other submissions.",
    "plain": "WARNING: bubblewrap does not work here, so submissions run as you, with limits of "
    "time, memory and file size only. They can read the solutions, change your files and this "
    "gradebook, and use the network. Grade on a machine and as a user that hold nothing else.",
}


def find_wall(folder: Path) -> str:
    """Return "bwrap" where bubblewrap starts our Python (many containers forbid it), or "plain"."""
    if not shutil.which("bwrap"):
        return "plain"
    command = [*bubblewrap(folder), sys.executable, "-c", "import ctypes, ssl"]
    done = subprocess.run(command, capture_output=True, check=False)
    return "plain" if done.returncode else "bwrap"


def bubblewrap(folder: Path, seed: str = "0") -> list[str]:
    """Return the command that walls off another one, which can write to ``folder`` and /tmp."""
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--clearenv"]
    command += ["--proc", "/proc", "--dev", "/dev"]
    for path, size in (("/tmp", 256 << 20), ("/dev/shm", 64 << 20)):
        command += ["--size", str(size), "--tmpfs", path]
    for path in READABLE:
        command += ["--ro-bind-try", path, path]
    command += ["--bind", str(folder), str(folder), "--remount-ro", "/dev", "--remount-ro", "/"]
    for name, value in environment(Path("/tmp"), seed).items():
        command += ["--setenv", name, value]
    return [*command, "--chdir", "/tmp"]


def environment(home: Path, seed: str) -> dict[str, str]:
    """Return the environment variables that a submission needs."""
    return {
        "PATH": os.defpath,
        "HOME": str(home),
        "TMPDIR": str(home),
        "USER": "student",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        SEED_VARIABLE: seed,
    }


def install_kernel(wall: str, seconds: int, memory: int, folder: Path, seed: str) -> None:
    """Write the kernel's description into ``folder`` and point Jupyter to it, in this process."""
    command = [sys.executable, "-P", "-m", "albert_course.assignments.kernel"]
    command += [str(seconds), str(memory), "-f", "{connection_file}"]
    spec = {
        "display_name": KERNEL,
        "language": "python",
        "interrupt_mode": "message",
        "argv": command,
        "env": environment(folder, seed),
    }
    if wall == "bwrap":
        spec |= {"argv": bubblewrap(folder, seed) + command, "env": {}}
    place = folder / "kernels" / KERNEL / "kernel.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(spec), encoding="utf-8")
    places = [str(folder), *filter(None, os.environ.get("JUPYTER_PATH", "").split(os.pathsep))]
    os.environ["JUPYTER_PATH"] = os.pathsep.join(dict.fromkeys(places))


def limit_memory(memory: int, hard: bool = False) -> None:
    """Limit this process, and what it starts, to ``memory`` bytes beyond what it holds (Linux)."""
    if sys.platform == "linux":
        from resource import RLIM_INFINITY, RLIMIT_AS, getpagesize, setrlimit

        most = memory + getpagesize() * int(Path("/proc/self/statm").read_text().split()[0])
        setrlimit(RLIMIT_AS, (most, most if hard else RLIM_INFINITY))
