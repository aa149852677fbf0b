"""What notebooks use: the guess, the record, the described figure, the sliders."""

import pytest
import torch

from albert_course import cells
from albert_course.cells import begin, explore, record, reveal, show
from albert_course.charts import lines


@pytest.fixture(autouse=True)
def shown(monkeypatch) -> list:
    """What would be displayed, with its keyword arguments."""
    displayed = []
    monkeypatch.setattr(cells, "display", lambda *objects, **_: displayed.extend(objects))
    return displayed


def draw(width: int, depth: int = 1):
    return lines([("cost", [0, 1], [0, width * depth])], "x", "y", f"{width} x {depth}")


def test_a_guess_and_the_truth_stand_side_by_side(capsys):
    reveal(2_000, 1_000, "rows")
    told = capsys.readouterr().out
    assert told == "you said 2,000 rows, it is 1,000 rows (0.5 times your guess)\n"


def test_without_a_guess_the_number_is_shown_alone(capsys):
    reveal(..., 1_000, "rows")
    assert capsys.readouterr().out == "no guess; it is 1,000 rows\n"


def test_a_record_is_read_from_any_folder_and_an_unknown_one_names_those_that_there_are(
    tmp_path, monkeypatch
):
    for folder in (tmp_path, "."):
        monkeypatch.chdir(folder)
        assert record("figure1_gpu")
    with pytest.raises(ValueError, match=r"no record 'figure1'.*There are: .*figure1_gpu"):
        record("figure1")


def test_a_gpu_is_hidden_unless_it_is_asked_for_and_one_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="no GPU here"):
        begin(device="cuda")


def test_a_figure_is_shown_with_its_description_also_as_text(shown):
    show(*draw(3))
    image, text = shown
    assert image.alt and image.alt in text.data


def test_sliders_start_in_the_middle_and_redraw_when_moved(shown):
    panel = explore(draw, width=[1, 2, 4], depth=[1, 3])
    width, depth, picture, words = panel.children
    assert (width.value, depth.value) == (2, 3) and bytes(picture.value).startswith(b"\x89PNG")
    before = bytes(picture.value)
    width.value = 4
    assert bytes(picture.value) != before and "4 x 3" in words.value
    assert shown[0]["text/plain"] == "sliders for width, depth: run this cell to move them"
    assert "application/vnd.jupyter.widget-view+json" in shown[0]


def test_an_error_while_drawing_is_not_swallowed():
    def broken(width: int):
        if width > 1:
            raise ValueError("no such width")
        return draw(width)

    panel = explore(broken, width=[0, 1, 2])
    with pytest.raises(ValueError, match="no such width"):
        panel.children[0].value = 2
