"""Does this machine have what the course needs? Each finding comes with its cure."""

import importlib.metadata
import platform
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from albert_course.folder import course_folder


class Trouble(Exception):
    """What is wrong, and what to do about it."""


def check_packages() -> str:
    """Every dependency of the package is there in a version of its range."""
    from packaging.requirements import Requirement

    asked = [one for one in importlib.metadata.requires("albert-edu") if "; extra" not in one]
    wrong = []
    for wanted in map(Requirement, asked):
        found = next(importlib.metadata.distributions(name=wanted.name), None)
        if not (found and wanted.specifier.contains(found.version, prereleases=True)):
            wrong.append(f"{wanted} is needed, {found.version if found else 'none'} is here")
    if wrong:
        raise Trouble(f"{'; '.join(wrong)}. Run 'make', or install the package again.")
    return f"{len(asked)} of {len(asked)}"


def check_device() -> str:
    """What torch computes on: the name of the device, torch's version and its threads."""
    from torch import __version__, get_num_threads

    from albert_edu.training.workers import device_name, pick_device

    return f"{device_name(pick_device())}; torch {__version__}, {get_num_threads()} threads"


def check_course() -> str:
    """Which copy of the course this is; returns the folders of the package and of the notebooks."""
    package = Path(__file__).resolve().parent
    try:
        folder = course_folder()
    except ValueError:
        return f"{package}; no notebooks/ here, which start, notebooks and assignments need"
    if folder != package.parent:
        raise Trouble(
            f"Notebooks are in {folder}, but Python takes the course from {package}. In the first "
            f"folder, run: {sys.executable} -m pip install -e ."
        )
    return str(package)


def check_kernel() -> str:
    """The kernel python3 runs the Python that has the course; returns JupyterLab's version, too."""
    from jupyter_client.kernelspec import KernelSpecManager

    cure = f"Run: {sys.executable} -m ipykernel install --sys-prefix."
    if "python3" not in KernelSpecManager().find_kernel_specs():
        raise Trouble(f"No python3 kernel. {cure}")
    program = Path(KernelSpecManager().get_kernel_spec("python3").argv[0])
    if program.is_absolute() and program.parent != Path(sys.executable).parent:
        raise Trouble(f"The kernel python3 runs {program}, and the course is not there. {cure}")
    lab = importlib.metadata.version("jupyterlab") if find_spec("jupyterlab") else "is not here"
    return f"python3; JupyterLab {lab}"


def check_vocabulary() -> str:
    """The installed SentencePiece cuts text as the shipped models know it; returns its version."""
    from albert_edu.text.prepare import shipped_vocabulary

    version = importlib.metadata.version("sentencepiece")
    tokenizer = shipped_vocabulary("sotu")
    pieces = tokenizer and tokenizer.pieces(tokenizer.encode("The United States of America."))
    if pieces != ["▁the", "▁united", "▁states", "▁of", "▁america", "."]:
        raise Trouble(
            f"sentencepiece {version} cuts 'The United States of America.' into {pieces}, which "
            f"the shipped models do not know. Install the package again."
        )
    return f"as the shipped models know it (sentencepiece {version})"


CHECKS: dict[str, Callable[[], str]] = {
    "Python": platform.python_version,
    "course": check_course,
    "packages": check_packages,
    "device": check_device,
    "kernel": check_kernel,
    "vocabulary": check_vocabulary,
}


def examine(checks: dict[str, Callable[[], str]] | None = None) -> int:
    """Print OK or FAIL for each check, with its cure. Return 0 if all is well, else 1."""
    checks, failed = checks or CHECKS, 0
    for name, check in checks.items():
        try:
            print(f"OK    {name:10} {check()}")
        except Exception as error:  # whatever breaks a check is a finding, not a crash
            failed += 1
            kind = "" if isinstance(error, Trouble) else f"{type(error).__name__}: "
            print(f"FAIL  {name:10} {kind}{error}")
    print(f"{failed} of {len(checks)} checks failed; cures are above" if failed else "all is well")
    return 1 if failed else 0
