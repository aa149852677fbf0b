"""What ``reproduce`` does: it trains, measures, draws and explains, all in one folder.

Profile quick shows the paper's three ideas at work in minutes: exact parameter counts, and the pair
behind Figure 1, which learns the order of sentences on the synthetic corpus. Profiles laptop and
gpu train the pair on real text.

A pair is an ALBERT and its unshared baseline, which are trained alike. The quick pair is trained
from scratch at its full depth. A long warm-up and a low learning rate keep a deep post-LN stack
from getting stuck at the unigram baseline. On real text the pair is stacked from two layers, which
reached a lower loss. The plan is ``data/reproduce.toml``. Read in notebook 08.
"""

import dataclasses
from functools import partial
from pathlib import Path

import torch
from matplotlib.figure import Figure

from albert_edu.analysis.counting import count_parameters
from albert_edu.analysis.health import health
from albert_edu.analysis.plots import figure1, save
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.errors import FileError, read_json
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.prepare import PreparedText
from albert_edu.training.evaluate import baselines, evaluate
from albert_edu.training.workers import pick_device
from albert_paper.pool import run_all
from albert_paper.provenance import provenance, write_json
from albert_paper.published import CONFIGS, TABLES, read_toml
from albert_paper.sweep import do_run, recorded_run, results
from albert_paper.templates import render
from albert_paper.training_run import Run

PLAN = read_toml("reproduce.toml")
BEGINNINGS = read_toml("unjudged.toml")["beginnings"]
MEMBERS = PLAN["members"]  # name -> sharing
PAIRS = {name: recorded_run({"row": name} | plan) for name, plan in PLAN["pairs"].items()}


def reproduce(
    profile: str, runs: Path, device: str = "auto", record_in: Path | None = None
) -> None:
    """Do everything that is not done yet in ``runs/profile``; draw Figure 1, print a summary.

    ``record_in`` is a folder that also gets Figure 1 and, under results/, its record; without it
    nothing outside ``runs`` changes. Interrupted, the same call goes on where it stopped.
    """
    # Profile gpu takes a card, unless a device is named.
    device = pick_device("cuda" if profile == "gpu" and device == "auto" else device)
    folder = runs / profile
    name = f"figure1_{profile}"
    print(f"Working in {folder}; interrupted, the same command goes on.", flush=True)
    jobs = []
    for member in MEMBERS:
        job = partial(
            do_run,
            member_run(PAIRS[profile], member),
            member_scores,
            folder,
            device,
            keep=folder / member,
            describe="training the pair" if member == "albert" else "",  # a bar for both
        )
        jobs.append(job)
    run_all(jobs, processes=len(MEMBERS))
    record = pair_record(PAIRS[profile], folder)
    if PAIRS[profile].corpus == BEGINNINGS["settings"]["corpus"]:
        record["tried"] = {"setting": BEGINNINGS["setting"], "rows": recipes_tried(Path("figures"))}
    (folder / "README.md").write_text(render("model_card.md", record=record))
    for place in (folder, record_in):
        if place:
            write_json(place / "results" / f"{name}.json", record)
            figure, alt = pair_picture(record["members"])
            save(figure, place / f"{name}.png", alt)
    summary = render(
        "summary.txt",
        sizes={model: count_parameters(config) for model, config in CONFIGS["1"].items()},
        tables=TABLES,
        pair=record,
        labels=PLAN["labels"],
        picture=folder / f"{name}.png",
    )
    print(summary)


def member_run(pair: Run, member: str) -> Run:
    """Return the run of one member of a pair."""
    return dataclasses.replace(pair, row=member, config=(*pair.config, ("share", MEMBERS[member])))


def member_scores(model: AlbertForPretraining, text: PreparedText, run: Run) -> dict:
    """Return what is measured on a member.

    These are the scores on held-out text, the health of its parts, and the distances from layer to
    layer in the trained stack and in a random stack of its shape. A point of Figure 1 is the mean
    over the tokens of one batch of 32 rows.
    """
    held_out = run.stream(text, held_out=True, batch_size=32)
    found = health(model, held_out, batches=2)
    torch.manual_seed(run.seed)
    untrained = AlbertForPretraining(model.config)
    unseen = held_out.batch(0).unmasked()
    similarity = layer_similarity(model, *unseen)
    similarity_untrained = layer_similarity(untrained, *unseen)
    known = baselines(text.train, text.held_out, len(text.tokenizer))
    return {
        "scores": evaluate(model, held_out, 32),
        "health": found._asdict() | {"verdict": found.verdict()},
        "similarity": similarity.as_lists(),
        "similarity_untrained": similarity_untrained.as_lists(),
        "baselines": known._asdict(),
        "parameters": count_parameters(model.config).with_heads,
    }


def pair_record(pair: Run, folder: Path) -> dict:
    """Return the record of a trained pair: how it was trained, and the measures of its members."""
    done = results([member_run(pair, name) for name in MEMBERS], member_scores, folder)
    members = {result["row"]: result for result in done}
    return {
        "members": members,
        "provenance": provenance(f"reproduce --profile {pair.row}", members.values()),
        "profile": dataclasses.asdict(pair) | {"stages": [stage[:6] for stage in pair.stages()]},
    }


def recipes_tried(figures: Path) -> list[dict]:
    """Return what became of the recipes of unjudged.toml; nothing where they have no record."""
    path = figures / "results" / "beginnings.json"
    if not path.exists():
        return []
    return [
        {
            "recipe": run["row"],
            "loss": run["held_out_masked_token_loss"],
            "order_accuracy": run["held_out_sentence_order_accuracy"],
            "ffn_worth": run["health"]["ffn_worth"],
            "least_open": run["health"]["least_open"],
            "minutes": run["cpu_seconds"] / 60,
        }
        for run in read_json(path, FileError)["runs"]
    ]


def pair_picture(members: dict[str, dict]) -> tuple[Figure, str]:
    """Draw Figure 1 of a recorded pair, beside random stacks of the same shapes."""
    shared, separate = (members[name]["similarity"] for name in MEMBERS)
    untrained = [members[name]["similarity_untrained"] for name in MEMBERS]
    title = (
        f"The last application turns its input by {shared['angle_degrees'][-1]:.0f} degrees "
        f"(shared layer) and by {separate['angle_degrees'][-1]:.0f} degrees (separate layers)"
    )
    names = [PLAN["labels"][name] for name in MEMBERS]
    return figure1(shared, separate, names, title, untrained)
