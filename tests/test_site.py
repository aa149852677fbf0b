"""The built site and slides: every link leads somewhere, and reading it asks no other host."""

import importlib.util
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

import tasks

pytest.importorskip("myst_nb", reason="the extra [site] is not installed")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]


class Page(HTMLParser):
    """What a page links, what it loads by itself, its anchors, and the texts of its images."""

    def __init__(self, path: Path):
        super().__init__()
        self.links, self.loaded, self.anchors, self.images = [], [], {""}, []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        has = dict(attributes)
        self.anchors |= {has[name] for name in ("id", "name") if has.get(name)}
        if tag == "a" and "href" in has:
            self.links.append(has["href"])
        elif tag == "link" and has.get("rel") not in ("canonical", "search"):
            self.loaded.append(has["href"])
        elif has.get("src"):
            self.loaded.append(has["src"])
        if tag == "img":
            self.images.append(has.get("alt"))


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site, built from this tree in about 20 core seconds, with the network cut off."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-c", "site", "-d", folder / "trees"]
    subprocess.run([*command, ROOT, folder / "html"], cwd=ROOT, check=True)
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_link_of_the_site_leads_to_a_page_and_an_anchor_that_exist(pages):
    dead = []
    for path, page in pages.items():
        for link in page.links + page.loaded:
            target, anchor = urldefrag(link)
            if urlsplit(target).scheme or link == "#":  # elsewhere, or furo's buttons
                continue
            target = unquote(urlsplit(target).path)
            file = (path.parent / target).resolve() if target else path
            there = pages[file].anchors if file in pages else {anchor}
            if not file.is_file() or unquote(anchor) not in there:
                dead.append(f"{path.name}: {link}")
    assert not dead


def test_a_page_loads_nothing_from_another_host(site, pages):
    asked = [url for page in pages.values() for url in page.loaded]
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    asked += re.findall(r"url\(\s*[\"']?([^\"')]+)", styles)
    assert not [url for url in asked if urlsplit(url).netloc]
    assert (site / "_static" / "mathjax" / "tex-mml-chtml.js").exists()


def test_every_notebook_has_a_page_and_a_copy_to_download_and_no_solution_has(site, pages):
    for group in ("", "optional", "assignments/release"):
        for notebook in sorted((ROOT / "notebooks" / group).glob("[0-9]*.ipynb")):
            page = pages[site / "notebooks" / group / f"{notebook.stem}.html"]
            assert any(link.endswith(notebook.name) for link in page.links), notebook
    published = {path.read_bytes() for path in site.rglob("*.ipynb")}
    solutions = list((ROOT / "notebooks" / "assignments" / "source").glob("*.ipynb"))
    assert solutions and not published & {path.read_bytes() for path in solutions}
    assert not (site / "notebooks" / "assignments" / "source").exists()


def test_every_image_is_described_and_the_front_page_has_the_name_that_servers_look_for(pages):
    assert not [path.name for path, page in pages.items() if not all(page.images)]
    assert "index.html" in {path.name for path in pages}


def test_a_lesson_becomes_slides_each_heading_on_one_of_its_own(tmp_path):
    page = tasks.lesson("04")
    to = ["-D", f"root_doc={page}", "-D", f"include_patterns={page}.ipynb", ROOT, tmp_path]
    command = [sys.executable, "-m", *tasks.SLIDES]
    command[command.index("build/doctrees-slides")] = tmp_path / "trees"
    subprocess.run([*command, *to], cwd=ROOT, check=True)
    slides = (tmp_path / f"{page}.html").read_text("utf-8")
    shown = re.findall(r"<section\b[^>]*>\s*<h[12]>([^<]+)", slides)
    cells = json.loads((ROOT / f"{page}.ipynb").read_text("utf-8"))["cells"]
    prose = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    headings = re.findall(r"^##? (.+)$", prose, re.MULTILINE)
    assert list(dict.fromkeys(shown)) == headings and len(shown) > 2 * len(headings)
    assert not [url for url in Page(tmp_path / f"{page}.html").loaded if urlsplit(url).netloc]


def test_slides_keep_every_word_of_a_notebook_and_have_no_empty_one():
    spec = importlib.util.spec_from_file_location("slides", ROOT / "site" / "slides.py")
    slides = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(slides)
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        notebook = json.loads(path.read_text("utf-8"))
        sources = ["".join(cell["source"]) for cell in slides.with_breaks(notebook)["cells"]]
        whole = ["".join(cell["source"]) for cell in notebook["cells"]]
        kept = [source for source in sources if source != slides.BREAK]
        assert "\n\n".join(kept) == "\n\n".join(whole)
        assert len(sources) > len(kept) and (slides.BREAK, slides.BREAK) not in pairwise(sources)


def test_slides_of_a_notebook_that_is_not_there_say_how_to_name_one():
    with pytest.raises(SystemExit, match="There is no notebook 99: make slides NOTEBOOK=04"):
        tasks.lesson("99")


def test_the_library_is_documented_with_its_shapes(site):
    text = (site / "site" / "library" / "albert_edu.model.html").read_text("utf-8")
    assert "AlbertForPretraining" in text and "B S H" in re.sub(r"<[^>]+>", "", text)
