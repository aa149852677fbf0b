"""What the notebooks themselves need.

That is a guess before a number appears, figures with a description, and fixed conditions for the
outputs that are stored.
"""

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
    """Set the conditions under which the stored outputs were made.

    These are the CPU, the seed, one thread, three printed digits, and the style of the figures.
    """
    # For processes that a notebook starts, too. A card rounds otherwise; README's commands use it.
    os.environ.update(TQDM_DISABLE="1", CUDA_VISIBLE_DEVICES="")
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.set_printoptions(precision=3, sci_mode=False)
    from albert_edu.analysis.plots import style

    style()


def predict(question: str, default: float) -> float:
    """Print and return your guess, which you write in the place of ``default`` before you look."""
    print(f"your guess: {question}: {default:,}")
    return default


def reveal(guess: float, truth: float, unit: str = "") -> None:
    """Print guess and truth side by side, and how far they are apart."""
    unit = f" {unit}" if unit else ""
    ratio = f" ({truth / guess:.2g} times your guess)" if guess and truth else ""
    print(f"you said {guess:,}{unit}, it is {truth:,}{unit}{ratio}")


def show(figure: Figure, alt: str) -> None:
    """Display a figure, and under it, folded away, its description for those who cannot see it."""
    # JupyterLab drops the alt text of an output image, so it is shown below as text, too.
    display(Image(_png(figure), alt=alt), Markdown(_folded(alt)))


def explore(draw: Callable[..., tuple[Figure, str]], **choices: list) -> widgets.VBox:
    """Return a panel with a slider for each named list of choices above a figure.

    ``draw(name=choice, ...)`` returns the figure and its description; every slider starts in the
    middle. Run it in JupyterLab and move a slider. The stored notebook shows the same figure once,
    in the cell before.
    """
    sliders = {
        name: widgets.SelectionSlider(options=values, index=len(values) // 2, description=name)
        for name, values in choices.items()
    }
    picture, words = widgets.Image(format="png"), widgets.HTML()

    def redraw(_=None) -> None:
        figure, alt = draw(**{name: slider.value for name, slider in sliders.items()})
        picture.value, words.value = _png(figure), _folded(alt)

    for slider in sliders.values():
        slider.continuous_update = False  # one drawing for each choice, not for each pixel
        slider.observe(redraw, names="value")
    redraw()
    panel = widgets.VBox([*sliders.values(), picture, words])
    view = {"version_major": 2, "version_minor": 0, "model_id": panel.model_id}
    text = f"sliders for {', '.join(choices)}: run this cell to move them"
    display({"application/vnd.jupyter.widget-view+json": view, "text/plain": text}, raw=True)
    return panel


def _png(figure: Figure) -> bytes:
    """The figure as a PNG of at most 256 colours: enough for a chart, and a third of the size."""
    full, small = io.BytesIO(), io.BytesIO()
    figure.savefig(full, format="png", dpi=100)
    plt.close(figure)
    PIL.Image.open(full).convert("RGB").quantize(256).save(small, "PNG", optimize=True)
    return small.getvalue()


def _folded(alt: str) -> str:
    return f"<details><summary>Description of the figure</summary>{alt}</details>"
