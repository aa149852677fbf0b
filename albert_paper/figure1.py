"""The paper's Figure 1 from released checkpoints: how far each layer moves its input.

With a network, ``python -m albert_paper figure1 albert/albert-large-v2
google-bert/bert-large-uncased`` repeats the paper's measurement on the authors' own weights. The
paper does not say on which text it measured; ours is the newest State of the Union address, which
neither model has seen. Built in notebook 08.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from albert_edu.analysis.inspect import rows_of_text
from albert_edu.analysis.plots import figure1, save
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.model.interchange import load_pretrained

LONGEST = 512  # tokens of a row
ROWS = 8  # about a minute on two cores for a pair of large models


def compare(models: Sequence[str | Path], text: str, out: Path) -> str:
    """Draw ``out/figure1.png`` for two models, folders or Hub names, and return what it shows.

    Each model reads the first tokens of the text with its own tokenizer. Raises what
    ``load_pretrained`` and ``rows_of_text`` raise.
    """
    shared, separate = (curves_of(model, text) for model in models)
    names = [Path(str(model)).name for model in models]
    if names[0] == names[1]:
        names = [str(model) for model in models]
    title = (
        f"A layer turns a token by {usual_turn(shared):.0f} degrees in {names[0]}, "
        f"by {usual_turn(separate):.0f} in {names[1]} (medians)"
    )
    figure, alt = figure1(shared, separate, names, title)
    path = out / "figure1.png"
    save(figure, path, alt)
    return f"{title}.\ndrawn: {path}"


def curves_of(model: str | Path, text: str) -> dict[str, list[float]]:
    """Return how far each layer of a model moves the first tokens of a text."""
    loaded, tokenizer = load_pretrained(model, required=["tokenizer"])
    assert tokenizer is not None, "it was required"
    rows = rows_of_text(tokenizer, text, min(LONGEST, loaded.config.max_positions))
    return layer_similarity(loaded, *rows.first(ROWS)).as_lists()


def usual_turn(curves: dict[str, list[float]]) -> float:
    """Return the median angle of the layers, without the step from the embedding."""
    angles = curves["angle_degrees"]
    return median(angles[1:] or angles)
