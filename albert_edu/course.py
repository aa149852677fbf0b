"""What the notebooks themselves need: a guess before a number appears, described figures, fixed conditions for stored outputs."""

import io
import os
from collections.abc import Callable

import ipywidgets as widgets
import PIL.Image
import torch
from IPython.display import Image, Markdown, display
from matplotlib import pyplot as plt
from matplotlib.figure import Figure


def begin(seed: int = 0) -> None:
    """Set the conditions under which the stored outputs were made: CPU, seed, one thread, three digits, the house style."""
    os.environ["TQDM_DISABLE"] = "1"  # for processes that a notebook starts, too
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # a card rounds otherwise; the commands of the README use it
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.set_printoptions(precision=3, sci_mode=False)
    from albert_edu.analysis.plots import style

    style()


def predict(question: str, default: float) -> float:
    """Your guess, before you look: change ``default`` in the cell. Returns it."""
    print(f"your guess: {question}: {default:,}")
    return default


def reveal(guess: float, truth: float, unit: str = "") -> None:
    """Guess and truth side by side, and how far apart."""
    unit = f" {unit}" if unit else ""
    ratio = "" if not guess or not truth else f" ({truth / guess:.2g} times your guess)"
    print(f"you said {guess:,}{unit}, it is {truth:,}{unit}{ratio}")


def show(figure: Figure, alt: str) -> None:
    """Display a figure, and under it, folded away, its description for those who cannot see it."""
    display(Image(_png(figure), alt=alt))
    # JupyterLab drops the alt text of an output image, so it stands below as text too.
    display(Markdown(_folded(alt)))


def explore(draw: Callable[..., tuple[Figure, str]], **choices: list) -> widgets.VBox:
    """A slider for each named list of choices above the figure that ``draw(name=choice, ...)`` returns; starts in the middle.

    Run it in JupyterLab and move a slider. The stored notebook shows the same figure once, in the cell before.
    """
    sliders = {
        name: widgets.SelectionSlider(options=values, value=values[len(values) // 2], description=name, continuous_update=False)
        for name, values in choices.items()
    }
    picture, words = widgets.Image(format="png"), widgets.HTML()

    def redraw(_=None) -> None:
        figure, alt = draw(**{name: slider.value for name, slider in sliders.items()})
        picture.value, words.value = _png(figure), _folded(alt)

    for slider in sliders.values():
        slider.observe(redraw, names="value")
    redraw()
    panel = widgets.VBox([*sliders.values(), picture, words])
    view = {"application/vnd.jupyter.widget-view+json": {"version_major": 2, "version_minor": 0, "model_id": panel.model_id}}
    display(view | {"text/plain": f"sliders for {', '.join(choices)}: run this cell to move them"}, raw=True)
    return panel


def _png(figure: Figure) -> bytes:
    """The figure as a PNG of at most 256 colours, which is all a chart has and a third of the size."""
    full, small = io.BytesIO(), io.BytesIO()
    figure.savefig(full, format="png", dpi=100)
    plt.close(figure)
    PIL.Image.open(full).convert("RGB").quantize(256).save(small, "PNG", optimize=True)
    return small.getvalue()


def _folded(alt: str) -> str:
    return f"<details><summary>Description of the figure</summary>{alt}</details>"
