"""The README's commands, for Linux, macOS and Windows: ``python tasks.py COMMAND``; so does make.

Each command first makes the environment .venv, where it is missing or older than pyproject.toml,
and installs what a reader needs, or what a tester needs beside it. Further arguments are handed on.
pip reads its own variables: PIP_CONSTRAINT=constraints.txt for the versions that are known to work,
PIP_EXTRA_INDEX_URL for an index with a smaller torch.
"""

from __future__ import annotations  # so that an older Python comes as far as to say what it lacks

import os
import shutil
import signal
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
FAST = ["-m", "not slow", "--ignore=tests/test_jupyterlab.py", "--ignore=tests/figures", "tests"]
# One thread per worker and two workers: two cores, no crowding. In the order of the command line:
# the notebooks, few and long, come first, so that no worker waits at the end for the other's last.
PYTEST = ["pytest", "-q", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
PYTEST += ["--durations=20"]
NBVAL = ["--nbval", "--nbval-current-env", "--nbval-sanitize-with", "tests/nbval_sanitize.cfg"]
# Nets, for a cell that hangs: how long a cell takes depends on what else the machine does.
NBVAL += ["--nbval-cell-timeout", "3600", "--nbval-kernel-startup-timeout", "3600"]
REVERSE = ["-p", "tests.reverse"]  # and every cell once more, from the last to the first
LINT = [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]]
FIRST = "work/00_start_here.ipynb"  # a copy, so that git sees no change
ROOT_MAY = ["--allow-root"] if hasattr(os, "getuid") and os.getuid() == 0 else []
LAB = ["jupyterlab", *ROOT_MAY, f"--LabApp.default_url=/lab/tree/{FIRST}"]

SPHINX = ["sphinx", "-q", "-c", "site", "-d"]
SLIDES = [*SPHINX, "build/doctrees-slides", "-E", "-b", "revealjs"]
BOOK = [*SPHINX, "build/doctrees-book", "-b", "singlehtml", "-t", "book", ".", "build/book"]
# What prints the book: by name, or where macOS and Windows have it.
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "chrome", "msedge"]
BROWSERS += ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"]
BROWSERS += [r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe"]

# What each command installs, and the Python modules that it runs.
COMMANDS: dict[str, tuple[str, list[list[str]]]] = {
    "reproduce": ("lab,paper", [["albert_paper", "reproduce"]]),
    "lab": ("lab,paper", [["albert_course", "start", "00"], LAB]),
    "test": ("test", [*LINT, [*PYTEST, *NBVAL, *REVERSE, "notebooks", "tests"]]),
    "test-fast": ("test", [*LINT, [*PYTEST, *FAST]]),
    "test-lowest": ("test", [[*PYTEST, *FAST]]),
    "test-machines": ("test", [["tests.machines"]]),
    "site": ("site", [[*SPHINX, "build/doctrees", ".", "build/site"]]),
    "slides": ("site", [SLIDES]),
    "book": ("site", [BOOK]),
    "constraints": ("test", []),
}


def main(name: str = "", *more: str) -> int:
    """Run one of COMMANDS; return 0, or the number with which its first failing step ended."""
    if name not in COMMANDS:
        print(f"python tasks.py COMMAND, where COMMAND is one of: {', '.join(COMMANDS)}")
        return 2
    if not (3, 11) <= sys.version_info < (3, 15):
        print(
            f"This needs Python 3.11 to 3.14, and {sys.executable} is {sys.version.split()[0]}"
            " (torch has no build for a newer one yet). Name another: make PYTHON=python3.12 ..."
        )
        return 2
    os.chdir(ROOT)
    more = in_words_of_tasks(more)
    extras, steps = COMMANDS[name]
    made = {"site": "build/site/index.html", "book": "build/book.pdf"}.get(name)
    if name == "slides":
        page = lesson(*more)
        more = "-D", f"root_doc={page}", "-D", f"include_patterns={page}.ipynb", ".", "build/slides"
        made = f"build/slides/{page}.html"
    try:
        python = environment(extras, lowest=name == "test-lowest")
        if name == "constraints":
            write_constraints(python)
        if name.startswith("test"):  # tests/offline cuts the network off
            os.environ.update(PYTHONPATH=str(ROOT / "tests" / "offline"), HF_HUB_OFFLINE="1")
            os.environ.update(TQDM_DISABLE="1", OMP_NUM_THREADS="1")
            os.environ["PYTHONUTF8"] = "1"  # tests read files without naming an encoding
            # Dozens of processes import the course, and compile it each where this is set.
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
            # Notebook 00 keeps a model here, and yours stays what it is.
            os.environ.setdefault("ALBERT_EDU_CACHE", str(ROOT / "build" / "cache"))
        for step in steps:
            run(python, "-m", *step, *(more if step is steps[-1] else ()))
        if name == "book":
            print_book()
        if made:
            print(f"made: {made}")
    except subprocess.CalledProcessError as error:
        return 130 if error.returncode == -signal.SIGINT else error.returncode
    except KeyboardInterrupt:
        return 130
    return 0


def environment(extras: str, lowest: bool = False) -> Path:
    """Return the Python of .venv, after installing the course with these extras where needed.

    With ``lowest`` it is another environment, with the oldest versions that pyproject.toml allows.
    """
    folder = ROOT / (".venv-lowest" if lowest else ".venv")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wanted, asked = what_an_installation_depends_on()
    stamps = folder / "has-test", folder / f"has-{extras}"  # the tests need all that the others do
    works = has_pip(python)
    for stamp in stamps:
        found = stamp.read_bytes() if works and stamp.exists() else b""
        if found.startswith(wanted) and found.endswith(asked):
            return python
    if not works:  # nor does what an upgrade of the system's Python left behind
        try:
            venv.create(folder, with_pip=True, clear=True)
        except (ImportError, subprocess.CalledProcessError):
            sys.exit("Python cannot make an environment: sudo apt-get install python3-venv")
        except (OSError, ValueError) as error:
            sys.exit(f"No environment can be made in {folder}: {error}. Does another command run?")
    print(f"installing albert-edu[{extras}] into {folder.name}", flush=True)
    what = ["--quiet", "--editable", f".[{extras}]"]
    if lowest:
        run(python, "-m", "pip", "install", "--quiet", "uv")
        lowest_ones = ["--upgrade", "--resolution", "lowest-direct"]  # also below what is there
        run(python, "-m", "uv", "pip", "install", *lowest_ones, *what)
    else:
        run(python, "-m", "pip", "install", "--disable-pip-version-check", *what)
    stamps[1].write_bytes(wanted + asked)
    return python


def what_an_installation_depends_on() -> tuple[bytes, bytes]:
    """Return this folder with pyproject.toml, and the versions that PIP_CONSTRAINT asks for.

    An editable installation knows its folder: one that was moved has to be made again.
    """
    asked = b""
    for name in os.environ.get("PIP_CONSTRAINT", "").split():
        asked += name.encode() + (Path(name).read_bytes() if Path(name).exists() else b"")
    return str(ROOT).encode() + b"\n" + Path("pyproject.toml").read_bytes(), asked


def has_pip(python: Path) -> bool:
    """Return whether this Python runs and has pip."""
    try:
        found = subprocess.run([str(python), "-c", "import pip"], capture_output=True)
    except OSError:
        return False
    return found.returncode == 0


def in_words_of_tasks(more: tuple[str, ...]) -> tuple[str, ...]:
    """Return further arguments, those of the form NAME=VALUE as make would hand them on.

    PROFILE=laptop becomes ``--profile laptop``, NOTEBOOK=04 becomes 04, and what pip reads, such as
    PIP_CONSTRAINT=constraints.txt, goes into the environment.
    """
    words: list[str] = []
    for word in more:
        name, equals, value = word.partition("=")
        if equals and name.startswith("PIP_"):
            os.environ[name] = value
        elif equals and name in ("PROFILE", "NOTEBOOK", "NOTEBOOKS"):
            words += ["--profile", value] if name == "PROFILE" else value.split()
        else:
            words.append(word)
    return tuple(words)


def lesson(number: str = "00") -> str:
    """Return the page of the notebook with this number: its path without the suffix."""
    found = sorted(Path("notebooks").glob(f"{number}_*.ipynb"))
    if not found:
        sys.exit(f"There is no notebook {number}: make slides NOTEBOOK=04, or tasks.py slides 04")
    return found[0].with_suffix("").as_posix()


def print_book() -> None:
    """Let a browser print the book's one page, with its formulas and with bookmarks."""
    page = Path("build/book/README.html").resolve()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        sys.exit(f"Chromium, Chrome or Edge makes the PDF, and none is here. Its text is {page}")
    options = ["--headless", "--no-pdf-header-footer", "--generate-pdf-document-outline"]
    options += ["--virtual-time-budget=120000", "--print-to-pdf=build/book.pdf"]
    options += ["--no-sandbox"] if ROOT_MAY else []
    # A browser without a desktop complains at length and prints all the same.
    Path("build/book.pdf").unlink(missing_ok=True)
    command = [browser, *options, page.as_uri()]
    printed = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace")
    if printed.returncode or not Path("build/book.pdf").exists():
        sys.exit(f"{browser} could not print the book:\n{printed.stderr}")


def write_constraints(python: Path) -> None:
    """Write the installed versions, which should have passed the tests, but for torch's own."""
    frozen = subprocess.check_output(
        [python, "-m", "pip", "freeze", "--exclude-editable"], text=True
    )
    skipped = ("torch==", "nvidia", "triton", "cuda", "setuptools==", "uv==")
    versions = []
    for line in frozen.splitlines():
        name, found, version = line.partition("==")
        if found and not line.startswith(skipped):
            versions.append((name.lower().replace("_", "-"), version))  # as indexes spell it
    lines = [f"{name}=={version}" for name, version in sorted(versions)]
    Path("constraints.txt").write_text("\n".join([CONSTRAINTS, *lines, ""]), "utf-8")


CONSTRAINTS = """\
# The versions with which `make test` has passed: PIP_CONSTRAINT=constraints.txt make reproduce
# Written by `make constraints`. Without torch, of which each machine has a build of its own."""


def run(*command: str | Path) -> None:
    """Run a command in the course's folder; CalledProcessError if it fails.

    Ctrl-C reaches the command itself, which may ask whether to stop, as JupyterLab does; so it is
    waited for until it ends.
    """
    process = subprocess.Popen(list(map(str, command)))
    while True:
        try:
            code = process.wait()
            break
        except KeyboardInterrupt:
            continue
    if code:
        raise subprocess.CalledProcessError(code, str(command[0]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
