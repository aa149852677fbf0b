"""What ``reproduce`` does: it trains, measures, draws and explains, and everything it makes lies in one folder.

Profile quick shows the paper's three ideas at work in minutes: exact parameter counts, the pair behind Figure 1 and
Table 5 in miniature on the synthetic corpus, and masked sentences filled in by the shipped model. Profiles laptop and
gpu train the pair on real text. Run in notebook 00.
"""

import dataclasses
import json
import shutil
import time
from pathlib import Path

import torch

from albert_edu.analysis.counting import closed_form, count_parameters
from albert_edu.analysis.inspect import fill
from albert_edu.analysis.plots import figure1, parameter_bars, save
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.config import AlbertConfig
from albert_edu.model.interchange import load_pretrained
from albert_edu.paper.measures import order_cross
from albert_edu.paper.pair import MEMBERS, PAIRS, measure_pair, model_card, pair_jobs, seconds_of_pair, watched
from albert_edu.paper.pool import run_all
from albert_edu.paper.provenance import provenance, write_json
from albert_edu.paper.published import TABLES
from albert_edu.paper.summary_page import summary, write_page
from albert_edu.paper.sweep import Run
from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
from albert_edu.text.prepare import prepare
from albert_edu.training.pretrain import pick_device

# Every published size, under the name of the paper's Table 1 (BERT-xlarge: its early versions only).
SIZES = {
    "BERT-base": "bert-base", "BERT-large": "bert-large", "BERT-xlarge": "bert-xlarge", "ALBERT-base": "albert-base-v2",
    "ALBERT-large": "albert-large-v2", "ALBERT-xlarge": "albert-xlarge-v2", "ALBERT-xxlarge": "albert-xxlarge-v2",
}  # fmt: skip
# Table 5 in miniature. The corpus has topics that are easy to see, and negatives come from another topic, as they do in
# real text: then NSP can be solved without the order of sentences.
ORDER_RUNS = {
    name: Run(
        name, 600, corpus="stories:topic_nouns=3,order_strength=0.5", config=(("embedding_size", 64),),
        objective=objective, negatives="topic",
    )
    for name, objective in (("none", "none"), ("NSP", "nsp"), ("SOP", "sop"))
}  # fmt: skip
SENTENCES = (  # written in the style of the addresses; such phrases may occur in the training text
    "the people of the united [MASK] of america",
    "i transmit to the [MASK] of representatives a report from the secretary of state",
    "we must do more to create good [MASK] for american workers",
)


def reproduce(profile: str, runs: Path, device: str | None = None, record_in: Path | None = None) -> None:
    """Do everything that is not done yet in ``runs/profile``, then print a summary and write ``report.html``.

    ``record_in`` is a folder that also gets the pictures and, under results/, the records; without it nothing outside
    ``runs`` changes. Interrupted, the same call goes on where it stopped.
    """
    began, folder = time.perf_counter(), runs / profile
    quick = profile == "quick"
    print(f"Counting, training and measuring into {folder}. You may interrupt; the same command goes on.", flush=True)
    result = {"profile": profile, "counts": parameter_table(folder)["rows"]}
    train_all(profile, folder, device, ORDER_RUNS if quick else {})
    made = folder / "made.json"
    if not made.exists():  # of the call that ended the training; later ones only measure again
        command = f"reproduce --profile {profile}"
        seconds = time.perf_counter() - began
        write_json(made, provenance(command, seconds, [PAIRS[profile].seed], pick_device(device)))
    result["pair"] = figure_of_pair(profile, folder)
    (folder / "README.md").write_text(model_card(result["pair"]))
    if quick:
        result["order"] = {name: json.loads(_order_file(folder, name).read_text()) for name in ORDER_RUNS}
        result["shipped"] = look_at_shipped(folder)
    result["seconds"] = round(time.perf_counter() - began)
    page = write_page(result, folder)
    if record_in:
        (record_in / "results").mkdir(parents=True, exist_ok=True)
        for name in (f"figure1_{profile}.png", "parameter_counts.png", "parameter_counts.md"):
            shutil.copy(folder / name, record_in / name)
        for path in folder.glob("results/*.json"):
            shutil.copy(path, record_in / "results" / path.name)
    print(summary(result, page))


def train_all(profile: str, folder: Path, device: str | None, order_runs: dict[str, Run]) -> None:
    """Train the pair and the runs of Table 5 in miniature that are not done, as many at a time as there are cores."""
    waiting = {name: run for name, run in order_runs.items() if not _order_file(folder, name).exists()}
    jobs = pair_jobs(PAIRS[profile], folder, device)
    jobs += [(train_order_run, (name, folder, device)) for name in waiting]
    steps = len(MEMBERS) * PAIRS[profile].steps
    with watched({member: folder / member for member in MEMBERS}, steps):
        run_all(jobs, processes=len(MEMBERS))


def train_order_run(name: str, folder: Path, device: str | None) -> None:
    """Train one row of Table 5 in miniature and score it on both order tasks, by its head and by a linear probe."""
    torch.set_num_threads(1)
    run = ORDER_RUNS[name]
    model, text, *_ = run.train(folder / f"order-{name}", device)
    write_json(_order_file(folder, name), order_cross(model, text, run))


def _order_file(folder: Path, name: str) -> Path:
    return folder / f"order-{name}.json"


def parameter_table(folder: Path) -> dict:
    """Count every published size exactly beside the paper's print; write parameter_counts as JSON, Markdown and PNG."""
    began, rows = time.perf_counter(), []
    for name, preset in SIZES.items():
        config = AlbertConfig.named(preset)
        count = count_parameters(config)
        if count != closed_form(config):
            raise RuntimeError(f"{name}: the counted parameters differ from the closed formula.")
        table = TABLES["early-main" if name == "BERT-xlarge" else "1"]
        rows.append({
            "model": name, **dataclasses.asdict(count), "without_pooler": count.without_pooler, "total": count.total,
            "with_heads": count.with_heads, "paper_millions": table.value("params", name),
        })  # fmt: skip
    record = {"rows": rows, "provenance": provenance("reproduce", time.perf_counter() - began, [])}
    write_json(folder / "results" / "parameter_counts.json", record)
    (folder / "parameter_counts.md").write_text(markdown_table(rows))
    parts = [
        (row["model"], {"embeddings": row["embeddings"] + row["projection"],
                        "encoder": row["encoder"], "pooler": row["pooler"]})
        for row in rows
        if row["model"] != "BERT-xlarge"
    ]  # fmt: skip
    total = {row["model"]: row["total"] for row in rows}
    ratio = total["BERT-large"] / total["ALBERT-large"]
    title = f"BERT-large has {ratio:.0f} times the parameters of ALBERT-large, a stack of the same shape"
    figure, alt = parameter_bars(parts, title)
    save(figure, folder / "parameter_counts.png", alt)
    return record


def markdown_table(rows: list[dict]) -> str:
    """Return the counts as a Markdown table, with the paper's print in the last column."""
    columns = ("embeddings", "projection", "encoder", "pooler", "without_pooler", "total", "with_heads")
    head = "| model | " + " | ".join(name.replace("_", " ") for name in columns) + " | paper |"
    lines = [head, "|---|" + "---:|" * 8]
    for row in rows:
        counts = " | ".join(f"{row[name]:,}" for name in columns)
        lines.append(f"| {row['model']} | {counts} | {row['paper_millions']:g}M |")
    return "\n".join(lines) + "\n"


def figure_of_pair(profile: str, folder: Path) -> dict:
    """Measure the trained pair and draw Figure 1 beside the untrained pair; return the record."""
    models = {member: load_pretrained(folder / member)[0] for member in MEMBERS}
    record = measure_pair(PAIRS[profile], models)
    for member in MEMBERS:
        record["members"][member]["training_seconds"] = round(seconds_of_pair(PAIRS[profile], folder / member))
    record["profile"] = {"name": profile, **dataclasses.asdict(PAIRS[profile])}
    record["parameters"] = {member: count_parameters(model.config).with_heads for member, model in models.items()}
    record["provenance"] = json.loads((folder / "made.json").read_text())
    write_json(folder / "results" / f"figure1_{profile}.json", record)
    draw_figure1(record, folder / f"figure1_{profile}.png")
    return record


def draw_figure1(record: dict, path: Path) -> str:
    """Draw Figure 1 from its record, with the untrained pair as a control; return the alt text."""
    trained, untrained = (
        [record["members"][member][key] for member in MEMBERS] for key in ("similarity", "similarity_untrained")
    )
    last = [curves["angle_degrees"][-1] for curves in trained]
    verb = "smaller" if last[0] < last[1] else "no smaller"
    title = (f"The last steps of the shared layer are {verb} than those of separate layers "
             f"({last[0]:.0f} and {last[1]:.0f} degrees)")  # fmt: skip
    names = ("one shared layer (ALBERT)", "separate layers (unshared baseline)")
    figure, alt = figure1(*trained, names, title, untrained=untrained)
    save(figure, path, alt)
    return alt


def look_at_shipped(folder: Path) -> dict:
    """Ask the shipped model for masked words, and draw Figure 1 of the shipped pair on held-out real text."""
    model, tokenizer = load_pretrained("laptop")
    guesses = [[sentence, fill(model, tokenizer, sentence, top=5)[0]] for sentence in SENTENCES]
    text = prepare("sotu", tokenizer=tokenizer)
    length = model.config.max_positions
    stream = PretrainingStream(text.held_out, tokenizer, "sop", 32, length, seed=EVAL_SEED_OFFSET)
    batch, curves = stream.batch(0), []
    for name in ("laptop", "laptop-unshared"):
        curves.append(layer_similarity(load_pretrained(name)[0], batch).as_lists())
    last = [curve["angle_degrees"][-1] for curve in curves]
    title = f"On real text the shipped pair ends at {last[0]:.0f} degrees (shared) and {last[1]:.0f} (separate)"
    names = ("one shared layer (ALBERT)", "separate layers (unshared baseline)")
    figure, alt = figure1(*curves, names, title)
    save(figure, folder / "figure1_shipped.png", alt)
    return {"guesses": guesses, "last_angles": last}
