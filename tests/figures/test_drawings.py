"""The drawings are what their scripts make, and a reader can read them at 600 pixels."""

import functools
import itertools
import re
import xml.etree.ElementTree as ElementTree

import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from figures.drawings import gallery, palette

NAMES = sorted(path.stem for path in gallery.FOLDER.glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"
COLOURS = [palette.WEIGHT, palette.STATE, palette.GRADIENT, palette.TARGET]
COLOURS += [palette.SEGMENT_A, palette.SEGMENT_B]
TINTS = {palette.tint(base, k / 100): base for base in COLOURS for k in range(1, 101)}


@pytest.fixture(scope="module")
def entries() -> dict[str, gallery.Entry]:
    """Every drawing by its name, drawn now."""
    return {entry.name: entry for entry in gallery.entries()}


@pytest.fixture(params=NAMES)
def entry(request, entries) -> gallery.Entry:
    return entries[request.param]


def is_grey(colour: str) -> bool:
    """Whether a colour is ink, paper or a grey."""
    channels = bytes.fromhex(colour[1:])
    return max(channels) - min(channels) < 6


@functools.cache
def width_of(words: str, size: float) -> float:
    plain = FontProperties()
    width, _, _ = text_to_path.get_text_width_height_descent(words, plain, ismath=False)
    return width * size / plain.get_size_in_points()


def frames(entry, stretch: float) -> list[tuple[str, float, float, float, float]]:
    """Return the words and the frame (left, top, right, bottom) of every text that is not turned.

    Widths are those of DejaVu Sans, which is the widest font we name, times ``stretch``. They hold
    about half a pixel of white on each side.
    """
    measured = []
    for node in ElementTree.fromstring(entry.source).iter(f"{SVG}text"):
        words, size = "".join(node.itertext()), float(node.get("font-size"))
        if node.get("transform") or not words.strip():
            continue
        width = width_of(words, size) * stretch
        share = {"start": 0, "middle": 0.5, "end": 1}[node.get("text-anchor")]
        left, base = float(node.get("x")) - share * width, float(node.get("y"))
        measured.append((words, left, base - 0.75 * size, left + width, base + 0.1 * size))
    return measured


def test_the_committed_file_is_what_the_script_makes(entry):
    file = gallery.FOLDER / f"{entry.name}.svg"
    assert file.exists() and file.read_text(encoding="utf-8") == entry.source, (
        f"{file.name} is not what nb{entry.notebook} draws: run python -m figures.drawings"
    )


def test_the_readme_lists_every_drawing_and_no_file_is_left_over(entries):
    readme = gallery.readme(list(entries.values()))
    assert (gallery.FOLDER / "README.md").read_text(encoding="utf-8") == readme
    names = [function.__name__ for module in gallery.modules() for function in module.DRAWINGS]
    assert NAMES == sorted(names)  # names are unique, files current


def test_a_reader_who_cannot_see_gets_a_title_a_caption_and_a_full_description(entry):
    title = re.search("<title>(.*?)</title>", entry.source)[1]
    assert len(title.split()) >= 3 and len(entry.alt.split()) >= 40
    assert entry.caption.endswith(".") and 6 <= len(entry.caption.split()) <= 45


def test_the_ground_is_opaque_600_wide_and_no_words_are_smaller_than_14_pixels_scripts_than_12(
    entry,
):
    root = ElementTree.fromstring(entry.source)
    ground = root.find(f"{SVG}rect")
    assert root.get("width") == ground.get("width") == "600" and ground.get("fill") == palette.PAPER
    assert root.get("height") == ground.get("height") and float(root.get("height")) <= 640
    for kind, least in (("text", palette.SMALL), ("tspan", palette.SCRIPT)):
        sizes = [node.get("font-size") for node in root.iter(f"{SVG}{kind}")]
        assert all(float(size) >= least for size in sizes if size or kind == "text")


def test_a_drawing_has_at_most_three_colours_of_the_course_besides_ink_and_greys(entry):
    found = {colour.lower() for colour in re.findall(r"#[0-9A-Fa-f]{6}", entry.source)}
    kinds = {TINTS.get(colour, "foreign") for colour in found if not is_grey(colour)}
    assert len(kinds) <= 3 and "foreign" not in kinds, kinds


def test_no_words_run_off_the_canvas_even_in_the_widest_font(entry):
    height = float(ElementTree.fromstring(entry.source).get("height"))
    for words, left, top, right, bottom in frames(entry, 1.0):
        assert left >= 1.5 and right <= palette.WIDTH - 1.5 and top >= 2 and bottom <= height - 2, (
            words
        )


def test_no_words_lie_on_other_words(entry):
    for first, second in itertools.combinations(frames(entry, 0.92), 2):
        apart = (
            first[3] <= second[1]
            or second[3] <= first[1]
            or first[4] <= second[2]
            or second[4] <= first[2]
        )
        assert apart, f"{first[0]!r} and {second[0]!r}"


def test_no_drawing_has_got_lost_from_the_pages():
    course = gallery.FOLDER.parents[1]
    paths = [course / "README.md", *(course / "notebooks").rglob("*.ipynb")]
    pages = "".join(path.read_text(encoding="utf-8") for path in paths)
    unused = {name for name in NAMES if f"/{name}.svg" not in pages}
    assert not unused
