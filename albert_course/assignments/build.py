"""Source notebooks into student notebooks, by nbgrader's own steps."""

from pathlib import Path

from nbconvert.exporters import NotebookExporter
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import SaveCells
from traitlets.config import Config

from albert_course.assignments import RELEASES, SOURCES
from albert_edu.errors import FileError, InputError, errors_about


def configuration() -> Config:
    """Return what nbgrader writes in the place of a solution."""
    stub = {"python": "raise NotImplementedError  # your answer"}
    return Config(ClearSolutions={"code_stub": stub, "text_stub": "*Your answer.*"})


def release(path: Path) -> str:
    """Return the student notebook of a source notebook: no solutions, no hidden tests, no outputs.

    FileError says which marker or which cell's metadata is not as nbgrader needs it.
    """
    config = configuration()
    config.Exporter.default_preprocessors = []
    exporter = NotebookExporter(config=config)
    for step in GenerateAssignment(config=config).preprocessors:
        if step is not SaveCells:  # which fills a gradebook; ``grade`` does that
            exporter.register_preprocessor(step, enabled=True)
    with errors_about(path.name, FileError, "Mend its markers, and its cells' metadata."):
        return str(exporter.from_filename(str(path), {"unique_key": path.stem})[0])


def build(sources: Path = SOURCES, releases: Path = RELEASES) -> list[Path]:
    """Write the student notebook of every source notebook, and touch no other file."""
    texts = {releases / path.name: release(path) + "\n" for path in find_sources(sources)}
    releases.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return list(texts)


def find_sources(sources: Path = SOURCES) -> list[Path]:
    """Return the source notebooks NN_name.ipynb in order; ValueError if there is none."""
    paths = sorted(sources.glob("[0-9][0-9]_*.ipynb"))
    if not paths:
        raise InputError(f"no source notebook (NN_name.ipynb) in {sources}")
    return paths
