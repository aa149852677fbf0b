"""The pair behind Figure 1: an ALBERT and its unshared baseline, which are trained alike.

The quick pair is trained from scratch at its full depth. A long warm-up and a low learning rate
keep a deep post-LN stack from getting stuck at the unigram baseline. On real text the pair is
stacked from two layers, which reached a lower loss. The plan is ``data/reproduce.toml``. Read in
notebook 08.
"""

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

import torch

from albert_edu.analysis.counting import count_parameters
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.prepare import PreparedText
from albert_edu.training.evaluate import baselines, evaluate
from albert_paper.experiments import provenance_of
from albert_paper.measures import rounded
from albert_paper.published import read_toml
from albert_paper.sweep import Run, do_run, read_result, recorded_run
from albert_paper.templates import render

PLAN = read_toml("reproduce.toml")
MEMBERS = PLAN["members"]  # name -> sharing
PAIRS = {name: recorded_run({"row": name} | plan) for name, plan in PLAN["pairs"].items()}


def member_run(pair: Run, member: str) -> Run:
    """Return the run of one member of a pair."""
    return dataclasses.replace(pair, row=member, config=(*pair.config, ("share", MEMBERS[member])))


def pair_jobs(pair: Run, folder: Path, device: str | None) -> list[tuple[Callable, tuple]]:
    """Return the calls that train each member, measure it and save it in ``folder/member``.

    A member takes half of the cores: two processes with a thread each do 1.4 times the work of one
    process with two threads at these widths. One progress bar stands for both.
    """
    threads = max(1, (os.cpu_count() or 2) // 2)
    return [
        (
            do_run,
            (
                member_run(pair, member),
                member_scores,
                folder,
                device,
                threads,
                folder / member,
                "training the pair" if member == "albert" else None,
            ),
        )
        for member in MEMBERS
    ]


def member_scores(model: AlbertForPretraining, text: PreparedText, run: Run) -> dict:
    """Return what is measured on a member.

    These are the scores on held-out text, and the distances from layer to layer in the trained
    stack and in a random stack of its shape.
    """
    held_out = run.stream(text, held_out=True, batch_size=32)
    baseline = baselines(text.train, text.held_out, len(text.tokenizer))
    torch.manual_seed(run.seed)
    untrained = AlbertForPretraining(model.config)
    scores = evaluate(model, held_out, 32)
    return {
        "scores": rounded(scores),
        "verdict": baseline.verdict(scores["masked_token_loss"]),
        "similarity": layer_similarity(model, held_out.batch(0)).as_lists(),
        "similarity_untrained": layer_similarity(untrained, held_out.batch(0)).as_lists(),
        "baselines": baseline._asdict(),
        "parameters": count_parameters(model.config).with_heads,
    }


def pair_record(pair: Run, folder: Path, device: str | None) -> dict:
    """Return the record of a trained pair: how it was trained, and the measures of its members."""
    results = {
        member: read_result(folder, member_run(pair, member), member_scores) for member in MEMBERS
    }
    kept = (
        "scores",
        "verdict",
        "similarity",
        "similarity_untrained",
        "training_seconds",
        "ended",
        "corpus_hash",
    )
    stages = pair.stages(pair.model_config(len(pair.text().tokenizer)))
    return {
        "baselines": results["albert"]["baselines"],
        "members": {
            member: {name: result[name] for name in kept} for member, result in results.items()
        },
        "parameters": {member: result["parameters"] for member, result in results.items()},
        "provenance": provenance_of(f"reproduce --profile {pair.row}", results.values(), device),
        "profile": dataclasses.asdict(pair) | {"name": pair.row, "stages": stages},
    }


def model_card(record: dict) -> str:
    """Return what to know before using a trained pair, as Markdown made from its record alone."""
    return render("model_card.md", record=record)
