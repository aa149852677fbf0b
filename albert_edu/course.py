"""What the notebooks themselves need: a guess before a number appears, described figures, fixed conditions for stored outputs."""

import io
import os

import torch
from IPython.display import Image, Markdown, display
from matplotlib import pyplot as plt
from matplotlib.figure import Figure


def begin(seed: int = 0) -> None:
    """Set the conditions under which the stored outputs were made: seed, one thread, three digits, the house style."""
    os.environ["TQDM_DISABLE"] = "1"  # for processes that a notebook starts
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
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=100, metadata={"Software": None})
    plt.close(figure)
    display(Image(png.getvalue(), alt=alt))
    # JupyterLab drops the alt text of an output image, so it stands below as text too.
    display(Markdown(f"<details><summary>Description of the figure</summary>{alt}</details>"))
