"""What the notebooks themselves need.

``begin`` is the first cell of each. A guess waits for the reader, a record is read from any folder,
a trained model is asked as people ask, and a figure comes with its description.
"""

import io
import json
import os
import re
from typing import TYPE_CHECKING

import PIL.Image
import torch
from IPython.display import Image, Markdown, display
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from albert_course.folder import course_folder
from albert_course.guesses import answer_to
from albert_edu.config import check_one_of
from albert_edu.errors import InputError
from albert_edu.text.hub_tokenizer import Tokenizer

if TYPE_CHECKING:
    from albert_edu.model.task_heads import AlbertForSpan


def begin(seed: int = 0, device: str = "cpu") -> None:
    """Set the conditions under which the stored outputs were made.

    These are the CPU, the seed, one thread, three printed digits, and the style of the figures. On
    a GPU, as in Colab, ``begin(device="cuda")`` is faster, and its last digits differ from ours.
    Raises ValueError where there is none, and for another name.
    """
    check_one_of("device", str(device).partition(":")[0], ("cpu", "cuda"))
    os.environ["TQDM_DISABLE"] = "1"
    if device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # for processes that a notebook starts, too
    elif not torch.cuda.is_available():
        raise InputError(
            "there is no GPU here, or begin() has hidden it: restart the kernel to try again. In "
            "Colab, choose one under Runtime, Change runtime type. Without one, write begin()."
        )
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.set_printoptions(precision=3, sci_mode=False)
    from albert_edu.analysis.plots import style

    style()


def reveal(guess: object, truth: float, unit: str = "") -> None:
    """Print whether your guess is right, close, or how far it is away, with the truth.

    As long as the cell says ``guess = ...`` there is none, and the number is shown alone. It is
    on the second line: of a folded output JupyterLab shows the first.

    >>> reveal(..., 1_000, "rows")
    no guess yet
    it is 1,000 rows
    >>> reveal(1_000, 1_000, "rows")
    you said 1,000 rows
    right, it is 1,000 rows
    >>> reveal("8%", 10, "percent")
    you said 8 percent
    close, it is 10 percent
    >>> reveal(2_000, 1_000, "rows")
    you said 2,000 rows
    it is 1,000 rows: your guess is 2 times too large
    """
    print(answer_to(guess, truth, unit))


def record(name: str) -> dict:
    """Return a recorded run: "sharing_laptop" is in figures/results/sharing_laptop.json.

    Works in any folder of the course. Raises ValueError with the names that there are.
    """
    place = course_folder() / "figures" / "results" / f"{name}.json"
    if not place.exists():
        there = " ".join(sorted(path.stem for path in place.parent.glob("*.json")))
        raise InputError(f"there is no record {name!r} in {place.parent}. There are: {there}")
    return json.loads(place.read_text(encoding="utf-8"))


def outcomes() -> dict:
    """Return what our first plan found: figures/outcomes.json, a part of the claims page."""
    return json.loads((course_folder() / "figures" / "outcomes.json").read_text(encoding="utf-8"))


def show(figure: Figure, alt: str) -> None:
    """Display a figure, and under it, folded away, its description for those who cannot see it."""
    # JupyterLab drops the alt text of an output image, so it is shown below as text, too.
    words = f"<details><summary>Description of the figure</summary>{alt}</details>"
    display(Image(_png(figure), alt=alt), Markdown(words))


def ask(model: "AlbertForSpan", tokenizer: Tokenizer, question: str, story: str) -> str:
    """Answer a question as a person types it: "Who repaired the lens?", "What Kate bought?".

    The model has never read *who* or *what*, so they go, with capitals and question marks. The
    answer says so where a word of the question is not in the story, because a span always exists.
    """
    asked = [word for word in _words(question) if word not in ("who", "what")]
    told = _words(story)
    missing = [word for word in asked if word not in told]
    if not told or not asked or missing:
        reason = f"the story does not say {missing[0]!r}" if missing else "a word is missing"
        return f"{reason}: ask with the story's own words, like 'who repaired the lens'"
    from albert_edu.training.finetune import answer  # takes a second, and most notebooks need none

    return answer(model, tokenizer, " ".join(asked), story)


def _words(text: str) -> list[str]:
    """The words of a text in small letters, without any sign."""
    return re.findall(r"\w+", text.lower())


def _png(figure: Figure) -> bytes:
    """The figure as a PNG of at most 256 colours: enough for a chart, and a third of the size."""
    full, small = io.BytesIO(), io.BytesIO()
    figure.savefig(full, format="png", dpi=100)
    plt.close(figure)
    PIL.Image.open(full).convert("RGB").quantize(256).save(small, "PNG", optimize=True)
    return small.getvalue()
