"""Does this machine have what the course needs? Each finding comes with its cure."""

import importlib.metadata
import json
import platform
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import albert_edu
from albert_course.folder import course_folder
from albert_edu.command_line import install_command
from albert_edu.errors import CourseError

if TYPE_CHECKING:
    from packaging.requirements import Requirement

ANSWERS = Path(albert_edu.__file__).parent / "pretrained" / "answers.json"
SENTENCES = ("The United States of America.", "the united [MASK] of america")


class Trouble(CourseError):
    """What is wrong, and what to do about it."""


def check_packages() -> str:
    """Each package that the library needs is there, in a version of its range."""
    return met(map(what_is_here, requirements("")), f"Run: {install_command()}")


def check_notebooks() -> str:
    """Each package that the notebooks need beside the library is there, in a version of its range.

    Where something else than JupyterLab runs the notebooks, such as Colab or an editor, the parts
    of Jupyter are its own, in whichever version.
    """
    if not in_course_folder():
        return "not looked for, because no notebooks are here"
    front_end = requirements("lab")
    has_lab = find_spec("jupyterlab") is not None
    if not has_lab:
        front_end = [one for one in front_end if one.name not in ("jupyterlab", "ipywidgets")]
    found = [what_is_here(one) for one in requirements("paper")]
    found += [what_is_here(one, any_version=not has_lab) for one in front_end]
    return f"{met(found, install_all())} packages"


def met(found: Iterable[str], cure: str) -> str:
    """Return how many packages are as they should be; Trouble with what is wrong with some."""
    found = list(found)
    if any(found):
        raise Trouble(f"{'; '.join(filter(None, found))}. {cure}")
    return f"{len(found)} of {len(found)}"


def install_all() -> str:
    """Return what to do where a package of the notebooks is missing."""
    return f"Run make lab, or: {install_command('[lab,paper]')}"


def requirements(extra: str) -> "list[Requirement]":
    """Return what an extra of the course asks for, or, for an empty one, what the library asks."""
    from packaging.requirements import Requirement

    if (project := _project()) is not None:  # what was installed may be older
        lines = project["optional-dependencies"][extra] if extra else project["dependencies"]
        return [Requirement(line) for line in lines if not line.startswith("albert-edu[")]
    asked = [Requirement(line) for line in importlib.metadata.requires("albert-edu") or []]
    library = [one for one in asked if one.marker is None or one.marker.evaluate({"extra": ""})]
    if not extra:
        return library
    others = [one for one in asked if one not in library]
    return [one for one in others if one.marker and one.marker.evaluate({"extra": extra})]


def _project() -> dict | None:
    """Return the table ``project`` of the pyproject.toml beside the package, if it lies there."""
    path = Path(albert_edu.__file__).parents[1] / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"] if path.exists() else {}
    return project if project.get("name") == "albert-edu" else None


def what_is_here(wanted: "Requirement", any_version: bool = False) -> str:
    """Say what is wrong with a package here: it is missing, or not in its range; else nothing."""
    found = version_of(wanted.name)
    if found and (any_version or wanted.specifier.contains(found, prereleases=True)):
        return ""
    return f"{wanted.name}{wanted.specifier} is needed, {found or 'none'} is here"


def version_of(name: str) -> str:
    """Return the installed version of a package, empty where there is none."""
    found = next(iter(importlib.metadata.distributions(name=name)), None)
    return found.version if found else ""


def in_course_folder() -> bool:
    """Return whether the notebooks are here."""
    try:
        course_folder()
    except ValueError:
        return False
    return True


def check_device() -> str:
    """What torch computes on: the name of the device, torch's version and its threads."""
    from torch import __version__, get_num_threads

    from albert_edu.training.workers import device_name, pick_device

    return f"{device_name(pick_device())}; torch {__version__}, {get_num_threads()} threads"


def check_course() -> str:
    """Which copy of the course this is; returns the folders of the package and of the notebooks."""
    package = Path(__file__).resolve().parent
    if (found := _package_of_a_kernel()) != package:
        what = f"take the course from {found}." if found else "find no course: was it moved?"
        raise Trouble(
            f"Notebooks {what} In {package.parent}, run make lab, or: {install_command()}"
        )
    if not in_course_folder():
        return f"{package}; no notebooks/ here, which start, notebooks and assignments need"
    folder = course_folder()
    if folder != package.parent:
        raise Trouble(
            f"Notebooks are in {folder}, but Python takes the course from {package}. In the first "
            f"folder, run: {install_command()}"
        )
    return str(package)


def _package_of_a_kernel() -> Path | None:
    """Return the package that Python finds from another folder, as a kernel does."""
    code = "import albert_course; print(albert_course.__file__)"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", code]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return Path(run.stdout.strip()).resolve().parent if run.returncode == 0 else None


def check_kernel() -> str:
    """The kernel python3 runs the Python that has the course; returns JupyterLab's version, too."""
    if not find_spec("jupyter_client"):
        raise Trouble(f"No Jupyter, which notebooks need. {install_all()}")
    from jupyter_client.kernelspec import KernelSpecManager

    cure = f"Run: {sys.executable} -m ipykernel install --sys-prefix."
    if "python3" not in KernelSpecManager().find_kernel_specs():
        raise Trouble(f"No python3 kernel. {cure}")
    program = Path(KernelSpecManager().get_kernel_spec("python3").argv[0])
    if program.is_absolute() and program.parent != Path(sys.executable).parent:
        raise Trouble(f"The kernel python3 runs {program}, and the course is not there. {cure}")
    return f"python3; JupyterLab {version_of('jupyterlab') or 'is not here'}"


def check_model() -> str:
    """The shipped model cuts text and fills gaps as it did where it was made; returns how many.

    What it said is in ``ANSWERS``, which ``doctor --remember`` writes when the model is replaced.
    """
    version = importlib.metadata.version("sentencepiece")
    remembered = json.loads(ANSWERS.read_text(encoding="utf-8"))
    for sentence, here in model_answers(remembered).items():
        there = remembered[sentence]
        if here != there:
            raise Trouble(
                f"The shipped model makes {here} of {sentence!r}, and {there} where it was made "
                f"(sentencepiece {version}). Install the package again: {install_command()}"
            )
    return f"{len(remembered)} answers as where it was made (sentencepiece {version})"


def model_answers(sentences: Iterable[str]) -> dict[str, list[str]]:
    """Return the likeliest token of each sentence with a gap, and the tokens of each without."""
    from albert_edu.analysis.inspect import fill
    from albert_edu.model.interchange import load_pretrained

    model, tokenizer = load_pretrained("laptop")
    if tokenizer is None:
        raise Trouble(
            f"The shipped model lacks its tokenizer. Install it again: {install_command()}"
        )
    answers = {}
    for sentence in sentences:
        if "[MASK]" in sentence:
            answers[sentence] = [guesses[0][0] for guesses in fill(model, tokenizer, sentence, 1)]
        else:
            answers[sentence] = tokenizer.pieces(tokenizer.encode(sentence))
    return answers


def remember() -> int:
    """Store what the shipped model says here."""
    text = json.dumps(model_answers(SENTENCES), indent=1, ensure_ascii=False)
    ANSWERS.write_text(text + "\n", encoding="utf-8", newline="\n")
    print(f"stored: {ANSWERS}")
    return 0


CHECKS: dict[str, Callable[[], str]] = {
    "Python": platform.python_version,
    "course": check_course,
    "packages": check_packages,
    "notebooks": check_notebooks,
    "device": check_device,
    "kernel": check_kernel,
    "model": check_model,
}


def in_words(error: Exception) -> str:
    """Say what a check has found, and what to do where a package is missing."""
    if isinstance(error, Trouble):
        return str(error)
    missing = isinstance(error, ModuleNotFoundError | importlib.metadata.PackageNotFoundError)
    name = getattr(error, "name", None) or "."
    if missing and "." not in name:  # a part of a package may be missing for another reason
        return f"{name} is not installed. {install_all()}"
    return f"{type(error).__name__}: {error}"


def examine(checks: dict[str, Callable[[], str]] | None = None) -> int:
    """Print OK or FAIL for each check, with its cure. Return 0 if all is well, else 1."""
    checks, failed = checks or CHECKS, 0
    for name, check in checks.items():
        try:
            print(f"OK    {name:10} {check()}")
        except Exception as error:  # whatever breaks a check is a finding, not a crash
            failed += 1
            print(f"FAIL  {name:10} {in_words(error)}")
    print(f"{failed} of {len(checks)} checks failed; cures are above" if failed else "all is well")
    return 1 if failed else 0
