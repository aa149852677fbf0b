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

ROWS = 8  # of up to 512 tokens: about a minute on two cores for a pair of large models


def compare(models: Sequence[str | Path], text: str, out: Path) -> str:
    """Draw ``out/figure1.png`` for two models, folders or Hub names, and return what it shows.

    Each model reads the first tokens of the text with its own tokenizer. Raises what
    ``load_pretrained`` and ``rows_of_text`` raise.
    """
    curves = []
    for model in models:
        loaded, tokenizer = load_pretrained(model, required=["tokenizer"])
        rows = rows_of_text(tokenizer, text, min(512, loaded.config.max_positions))
        curves.append(layer_similarity(loaded, *rows.first(ROWS)).as_lists())
    names = [Path(str(model)).name for model in models]
    turns = [median(curve["angle_degrees"][1:] or curve["angle_degrees"]) for curve in curves]
    title = f"A layer turns a token by {turns[0]:.0f} degrees in {names[0]}, "
    title += f"by {turns[1]:.0f} in {names[1]} (medians)"
    figure, alt = figure1(*curves, names, title)
    save(figure, out / "figure1.png", alt)
    return f"{title}.\ndrawn: {out / 'figure1.png'}"
