"""The reader's copies of notebooks: linked to one another, renewed, and never lost."""

import re
from pathlib import Path

import pytest

import tasks
from albert_course.copies import start
from tests.support import cells as cells_of
from tests.support import main

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    """A small course with two lessons, an optional one, and an assignment that point at each other."""
    texts = {
        "notebooks/00_start_here.ipynb": "f[0](x) [next](01_b.ipynb#end) ![](../figures/a.svg)",
        "notebooks/01_b.ipynb": "[words](GLOSSARY.md) [more](optional/01_c.ipynb) [web](http://a.b/c.md)",
        "notebooks/optional/01_c.ipynb": "[back](../01_b.ipynb) ![](../../figures/a.svg)",
        "notebooks/assignments/release/01_b.ipynb": "[it](../../01_b.ipynb) [alone](../ALONE.md)",
        "notebooks/assignments/ALONE.md": "",
        "notebooks/GLOSSARY.md": "",
        "figures/a.svg": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_copies_lead_to_one_another_and_else_to_the_course(course):
    assert start("01") == (course / "work" / "01_b.ipynb", False)
    copies = {path.name: path.read_text() for path in (course / "work").glob("*.ipynb")}
    assert copies == {
        "00_start_here.ipynb": "f[0](x) [next](01_b.ipynb#end) ![](../figures/a.svg)",
        "01_b.ipynb": "[words](../notebooks/GLOSSARY.md) [more](01_c.ipynb) [web](http://a.b/c.md)",
        "01_c.ipynb": "[back](01_b.ipynb) ![](../figures/a.svg)",
    }
    assert not [path for path in (course / "work").iterdir() if path.is_dir()], (
        "a folder in work/ is a student"
    )
    path, _ = start("01", assignment=True)
    assert path == course / "work" / "me" / "01_b.ipynb"
    assert path.read_text() == "[it](../01_b.ipynb) [alone](../../notebooks/assignments/ALONE.md)"


@pytest.mark.parametrize("assignment", [False, True])
def test_starting_again_keeps_answers_and_renews_only_what_nobody_changed(
    assignment, course, capsys
):
    options = ["start", "01", *["--assignment"] * assignment]
    assert main(options) == 0 == main(options)
    assert "yours, as you left it" not in capsys.readouterr().out
    mine, _ = start("01", assignment)
    source = course / "notebooks" / ("assignments/release" if assignment else "") / "01_b.ipynb"
    source.write_text("a better sentence")
    start("01", assignment)
    assert mine.read_text() == "a better sentence"
    mine.write_text("my answer")
    source.write_text("the best sentence")
    assert main(options) == 0
    assert mine.read_text() == "my answer"
    assert f"yours, as you left it: {mine}" in capsys.readouterr().out
    for spoilt in ("not JSON", "[]"):
        (course / "work" / ".written.json").write_text(spoilt)
        start("01", assignment)
        assert mine.read_text() == "my answer"
    mine.unlink()
    start("01", assignment)
    assert mine.read_text() == "the best sentence"


def test_an_interrupted_start_leaves_no_half_copy_and_what_it_wrote_follows_the_course(
    course, monkeypatch
):
    replace = Path.replace

    def full(path: Path, to: Path) -> None:
        if to.name == "01_c.ipynb":
            raise OSError("no space left")
        replace(path, to)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="no space"):
        start("01")
    monkeypatch.undo()
    monkeypatch.chdir(course)
    (course / "work" / ".written.json").unlink()
    assert start("01") == (course / "work" / "01_b.ipynb", False), "it is as the course writes it"
    (course / "notebooks" / "01_b.ipynb").write_text("a better sentence")
    start("01")
    assert (course / "work" / "01_b.ipynb").read_text() == "a better sentence"
    names = {path.name for path in (course / "work").iterdir()}
    assert names == {"00_start_here.ipynb", "01_b.ipynb", "01_c.ipynb", ".written.json"}


def test_a_number_without_a_notebook_or_an_assignment_is_refused(course):
    with pytest.raises(ValueError, match="There are: 00_start"):
        start("77")
    with pytest.raises(ValueError, match="here has no assignment"):
        start("00", assignment=True)


def test_make_lab_opens_the_copy_and_every_link_of_the_copies_exists(tmp_path, monkeypatch):
    steps = tasks.COMMANDS["lab"][1]
    assert steps[0] == ["albert_course", "start", "00"]
    assert steps[1][-1].endswith(f"/{tasks.FIRST}")
    for folder in ("notebooks", "figures", "README.md"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    assert start("00")[0] == tmp_path / tasks.FIRST
    copies = sorted((tmp_path / "work").glob("*.ipynb"))
    assert len(copies) == 16
    for copy in copies:
        text = "\n".join(cell.source for cell in cells_of(copy, "markdown"))
        for link in re.findall(r"\]\(((?!http|#|mailto)[^)#]+)", text):
            assert (copy.parent / link).exists(), f"{copy.name}: {link}"
            assert "notebooks/0" not in link, "a lesson of the course, and not the reader's copy"
