"""The built site and slides: every link leads somewhere, and reading it asks no other host."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import PIL.Image
import pytest

import tasks
from tests.support import HOUR

pytest.importorskip("myst_nb", reason="the extra [site] is not installed")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = next(filter(None, map(shutil.which, tasks.BROWSERS)), None)


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


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM:
        pytest.skip("no Chromium here")
    from playwright.sync_api import sync_playwright

    options = ["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=options)


def patient(page):
    """A page that waits an hour: a busy machine is no failure."""
    page.set_default_timeout(1000 * HOUR)
    return page


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


def test_a_page_says_in_its_head_what_it_is_about(site):
    described = {}
    for path in site.glob("notebooks/**/[0-9]*.html"):
        text = path.read_text("utf-8")
        described[path] = re.search('<meta name="description" content="([^"]+)"', text)[1]
        assert f'property="og:description" content="{described[path]}"' in text
        assert "favicon.svg" in text
    assert len(described) > 20 and len(set(described.values())) == len(described)
    assert all(40 <= len(words) <= 210 for words in described.values()), described


def test_a_link_to_the_published_site_brings_a_picture_of_the_size_that_others_show(site):
    with PIL.Image.open(site / "_static" / "preview.png") as picture:
        assert picture.size == (1200, 630)
    conf = (ROOT / "site" / "conf.py").read_text()
    assert "_static/preview.png" in conf


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_drawings_are_light_in_the_light_and_dark_in_the_dark_and_only_code_can_be_copied(
    scheme, site, browser
):
    page = patient(browser.new_page(color_scheme=scheme))
    page.goto((site / "notebooks" / "02_one_layer.html").as_uri())
    page.wait_for_selector("button.copybtn")
    filters = page.eval_on_selector_all(
        ".content img", "images => images.map(image => getComputedStyle(image).filter)"
    )
    assert len(filters) > 5
    assert {found.startswith("invert") for found in filters} == {scheme == "dark"}
    count = "(selector) => document.querySelectorAll(selector).length"
    assert page.evaluate(count, ".cell_input button.copybtn") > 15
    assert page.evaluate(count, ".cell_output pre") > 10
    assert page.evaluate(count, ".cell_output button.copybtn") == 0
    page.close()


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("LAMB", "notebooks/07_pretraining"),
        ("residual", "notebooks/02_one_layer"),
        ("layer_plan", "site/library/albert_edu.model"),
    ],
)
def test_a_search_shows_the_lesson_first_and_for_a_name_of_the_library_its_page(
    asked, first, site, browser
):
    page = patient(browser.new_page())
    page.goto(f"{(site / 'search.html').as_uri()}?q={asked}")
    link = page.wait_for_selector("ul.search li a").get_attribute("href")
    assert link.startswith(f"{first}.html"), link
    page.close()


@pytest.fixture(scope="module")
def slides(tmp_path_factory) -> Path:
    """The slides of lesson 07, which has the fullest ones."""
    folder, page = tmp_path_factory.mktemp("slides"), tasks.lesson("07")
    to = ["-D", f"root_doc={page}", "-D", f"include_patterns={page}.ipynb", ROOT, folder]
    command = [sys.executable, "-m", *tasks.SLIDES]
    command[command.index("build/doctrees-slides")] = folder / "trees"
    subprocess.run([*command, *to], cwd=ROOT, check=True)
    return folder / f"{page}.html"


def test_a_lesson_becomes_slides_each_heading_on_one_of_its_own(slides):
    shown = re.findall(r"<section\b[^>]*>\s*<h[12]>([^<]+)", slides.read_text("utf-8"))
    notebook = (ROOT / "notebooks" / slides.name).with_suffix(".ipynb")
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    prose = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    headings = re.findall(r"^##? (.+)$", prose, re.MULTILINE)
    assert list(dict.fromkeys(shown)) == headings and len(shown) > 2 * len(headings)
    assert not [url for url in Page(slides).loaded if urlsplit(url).netloc]


HEIGHTS = """async () => {
  const heights = [];
  for (const slide of Reveal.getSlides()) {
    const place = Reveal.getIndices(slide);
    Reveal.slide(place.h, place.v);
    await new Promise(done => setTimeout(done, 60));
    heights.push(slide.scrollHeight);
  }
  return heights;
}"""


def test_what_stands_on_a_slide_can_be_seen_without_scrolling(slides, browser):
    page = patient(browser.new_page(viewport={"width": 1280, "height": 720}))
    page.goto(slides.as_uri())
    page.wait_for_function("window.Reveal?.isReady() && window.MathJax?.startup?.promise")
    page.evaluate("() => window.MathJax.startup.promise.then(() => null)")
    heights = page.evaluate(HEIGHTS)
    assert len(heights) > 20 and max(heights) <= 720, heights
    page.close()


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
