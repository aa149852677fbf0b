"""Write the repository's address where it belongs; nobody knows it before the first push."""

import re

from albert_course.folder import course_folder
from albert_edu.errors import InputError

REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/(?!\.+$)[A-Za-z0-9_.-]+")
FIRST = "notebooks/00_start_here.ipynb"


def publish(repository: str) -> list[str]:
    """Write the address of ``OWNER/REPO`` on GitHub into the course; return the changed files.

    These are the README's badges and links, ``[project.urls]``, which the site reads, CITATION.cff,
    and the line in every notebook that brings the course to Colab. A second call replaces the
    address. Raises ValueError, before anything is written, for another name or a missing place.
    """
    if not REPOSITORY.fullmatch(repository) or repository.endswith(".git"):
        raise InputError(
            f"expected OWNER/REPO, as in the address github.com/OWNER/REPO, and got {repository!r}"
        )
    course = course_folder()
    edits = {course / name: edit for name, edit in places(repository).items()}
    name = repository.split("/")[1]
    # Editable, so that the records of the clone are found from any folder; Jupyter is Colab's own.
    clone = f"git clone --depth 1 https://github.com/{repository}"
    line = f"!{clone} && pip install -q -e './{name}[paper]'"
    bring = rf": run the next line in a new cell, then restart the kernel\\n{line}"
    cell = r"(this kernel has no albert_course)(?:(?!\\\").)*", bring  # inside the notebook's JSON
    notebooks = sorted(course.glob("notebooks/**/*.ipynb"))
    # What students get is built from source/, with a checksum of each cell.
    edits |= {path: cell for path in notebooks if path.parent.name != "release"}
    texts = {}
    for path, (place, words) in edits.items():
        old = path.read_text(encoding="utf-8")
        new, count = edited(old, place, words)
        if path.suffix != ".ipynb" and not count:
            raise InputError(f"{path.name} has no place for the address any more: {place}")
        if new != old:
            texts[path] = new
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    return [path.relative_to(course).as_posix() for path in texts]


def edited(text: str, place: str, words: str) -> tuple[str, int]:
    """Put words behind the first group of each match; return the text and how many there are."""

    def first_group_and_words(found: re.Match) -> str:
        """The match with other words behind its first group."""
        return found[1] + words

    return re.subn(place, first_group_and_words, text)


def places(repository: str) -> dict[str, tuple[str, str]]:
    """For each file, a pattern whose first group stays and whose rest is replaced by the text."""
    owner, name = repository.split("/")
    home, site = f"https://github.com/{repository}", f"https://{owner}.github.io/{name}/".lower()
    colab = f"https://colab.research.google.com/github/{repository}/blob/main"
    binder = f"https://mybinder.org/v2/gh/{repository}/HEAD?labpath={FIRST}"
    tests = f"{home}/actions/workflows/test.yml"
    urls = {"Repository": home, "Site": site, "Colab": colab, "Binder": binder}
    readme = (
        f"[![tests]({tests}/badge.svg)]({tests}) [Read it as a site]({site}) · "
        f"open notebook 00 in [Colab]({colab}/{FIRST}), [Binder]({binder}) or "
        f"[Codespaces](https://codespaces.new/{repository})\n"
    )
    return {
        "README.md": (r"(<!-- address -->\n)(?:[^<\n].*\n)?", readme),
        "pyproject.toml": (
            r"(\[project\.urls\].*\n)(?:\w+ = .*\n)*",
            "".join(f'{key} = "{url}"\n' for key, url in urls.items()),
        ),
        "CITATION.cff": (
            r"(license: MIT\n)(?:(?:repository-code|url): .*\n)*",
            f'repository-code: "{home}"\nurl: "{site}"\n',
        ),
    }
