"""What ``reproduce`` does: it trains, measures, draws and explains, all in one folder.

Profile quick shows the paper's three ideas at work in minutes: exact parameter counts, the pair
behind Figure 1 and Table 5 in miniature on the synthetic corpus, and masked sentences filled in by
the shipped model. Profiles laptop and gpu train the pair on real text. Run in notebook 00.
"""

import base64
import dataclasses
import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from albert_edu.analysis.charts import bars
from albert_edu.analysis.counting import count_parameters
from albert_edu.analysis.inspect import fill
from albert_edu.analysis.plots import figure1, save
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.model.interchange import load_pretrained
from albert_edu.paper.measures import order_cross
from albert_edu.paper.pair import MEMBERS, PAIRS, measure_pair, model_card, train_member
from albert_edu.paper.pool import run_all
from albert_edu.paper.provenance import ROOT, provenance, write_json
from albert_edu.paper.published import CONFIGS, TABLES
from albert_edu.paper.sweep import Run, do_run, read_result
from albert_edu.paper.templates import render
from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
from albert_edu.text.prepare import prepare

# Table 5 in miniature. The corpus has topics that are easy to see, and negatives come from another
# topic, as they do in real text: then NSP can be solved without the order of sentences.
ORDER_RUNS = {
    name: Run(
        name, 600, corpus="stories:topic_nouns=3,order_strength=0.5",
        config=(("embedding_size", 64),), objective=name.lower(), negatives="topic",
    )
    for name in ("none", "NSP", "SOP")
}  # fmt: skip
LABELS = {
    "albert": "one shared layer (ALBERT)", "unshared": "separate layers (unshared baseline)",
    "none": "no order loss", "NSP": "NSP", "SOP": "SOP (ALBERT)",
}  # fmt: skip
ORDER_TASKS = {"NSP": "nsp-topic", "SOP": "sop"}  # name in the paper -> in our measurement
SENTENCES = (  # written in the style of the addresses; such phrases may occur in the training text
    "the people of the united [MASK] of america",
    "i transmit to the [MASK] of representatives a report from the secretary of state",
    "we must do more to create good [MASK] for american workers",
)


def reproduce(
    profile: str, runs: Path, device: str | None = None, record_in: Path | None = None
) -> None:
    """Do everything that is not done yet in ``runs/profile``; print a summary, write a report page.

    ``record_in`` is a folder that also gets the pictures and, under results/, the records; without
    it nothing outside ``runs`` changes. Interrupted, the same call goes on where it stopped.
    """
    began, folder, pair = time.perf_counter(), runs / profile, PAIRS[profile]
    order_runs = ORDER_RUNS if profile == "quick" else {}
    print(f"Counting, training and measuring into {folder}. "
          "You may interrupt; the same command goes on.", flush=True)  # fmt: skip
    counts = parameter_table(folder)["rows"]
    jobs = [(train_member, (pair, member, folder, device)) for member in MEMBERS]
    jobs += [(do_run, (run, order_cross, folder, device)) for run in order_runs.values()]
    run_all(jobs, processes=len(MEMBERS))
    record = measure_pair(pair, folder)
    write_json(folder / "results" / f"figure1_{profile}.json", record)
    (folder / "README.md").write_text(model_card(record))
    trained, untrained = ([member[key] for member in record["members"].values()]
                          for key in ("similarity", "similarity_untrained"))  # fmt: skip
    title = "The last steps turn a vector by {:.0f} degrees (shared) and {:.0f} (separate layers)"
    draw_pair(trained, title, folder / f"figure1_{profile}.png", untrained)
    order = {name: read_result(folder, run, order_cross) for name, run in order_runs.items()}
    page = folder / "report.html"
    values = {
        "profile": profile, "folder": folder, "page": page, "counts": counts, "pair": record,
        "order": order, "shipped": look_at_shipped(folder) if order else None, "labels": LABELS,
        "tasks": ORDER_TASKS, "printed": lambda task, row: TABLES["5"].value(f"{task} acc", row),
        "picture": lambda name: picture(folder / f"{name}.png"),
        "seconds": round(time.perf_counter() - began),
    }  # fmt: skip
    page.write_text(render("report.html", **values), encoding="utf-8")
    if record_in:
        for path in (*folder.glob("results/*.json"), folder / f"figure1_{profile}.png",
                     *folder.glob("parameter_counts.*")):  # fmt: skip
            kept = record_in / path.relative_to(folder)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, kept)
    print(render("summary.txt", **values))


def picture(path: Path) -> tuple[str, str]:
    """Return the alt text that is stored in a PNG file, and the file in base64."""
    with Image.open(path) as image:
        return image.text["Description"], base64.b64encode(path.read_bytes()).decode()


def parameter_table(folder: Path) -> dict:
    """Count every published size exactly; write the counts as JSON, Markdown and PNG.

    The paper's number is that of Table 1; BERT-xlarge is in early versions only.
    """
    began, rows = time.perf_counter(), []
    for name in TABLES["early-main"].column("model"):
        count = count_parameters(CONFIGS["early-main", name])
        table = TABLES["1" if (name,) in TABLES["1"].keys else "early-main"]
        rows.append({
            "model": name, **dataclasses.asdict(count), "without_pooler": count.without_pooler,
            "total": count.total, "with_heads": count.with_heads,
            "paper_millions": table.value("params", name),
        })  # fmt: skip
    record = {"rows": rows, "provenance": provenance("reproduce", time.perf_counter() - began, [])}
    write_json(folder / "results" / "parameter_counts.json", record)
    (folder / "parameter_counts.md").write_text(render("parameter_counts.md", rows=rows))
    drawn = {row["model"]: row for row in rows if row["model"] != "BERT-xlarge"}
    ratio = drawn["BERT-large"]["total"] / drawn["ALBERT-large"]["total"]
    title = (f"BERT-large has {ratio:.0f} times the parameters of ALBERT-large, "
             "a stack of the same shape")  # fmt: skip
    series = {
        "embeddings": [(row["embeddings"] + row["projection"]) / 1e6 for row in drawn.values()],
        "layers": [row["encoder"] / 1e6 for row in drawn.values()],
    }
    figure, alt = bars(list(drawn), series, "parameters (millions)", title, digits=1)
    save(figure, folder / "parameter_counts.png", alt)
    return record


def draw_pair(curves: list[dict], title: str, path: Path, untrained: Sequence[dict] = ()) -> None:
    """Draw Figure 1 of a pair, perhaps with the untrained pair as a control.

    ``title`` has two fields, for the angles at which the members end.
    """
    last = [curve["angle_degrees"][-1] for curve in curves]
    names = tuple(LABELS[member] for member in MEMBERS)
    figure, alt = figure1(*curves, names, title.format(*last), untrained=untrained)
    save(figure, path, alt)


def look_at_shipped(folder: Path) -> dict:
    """Ask the shipped model for masked words, and draw Figure 1 of the shipped pair.

    The minutes of its training are those of its record, where the course's folder has it.
    """
    model, tokenizer = load_pretrained("laptop")
    guesses = [[sentence, fill(model, tokenizer, sentence, top=5)[0]] for sentence in SENTENCES]
    text = prepare("sotu", tokenizer=tokenizer)
    stream = PretrainingStream(
        text.held_out, tokenizer, "sop", 32, model.config.max_positions, seed=EVAL_SEED_OFFSET
    )
    curves = [layer_similarity(load_pretrained(name)[0], stream.batch(0)).as_lists()
              for name in ("laptop", "laptop-unshared")]  # fmt: skip
    title = "On real text the shipped pair ends at {:.0f} degrees (shared) and {:.0f} (separate)"
    draw_pair(curves, title, folder / "figure1_shipped.png")
    record, minutes = ROOT / "figures" / "results" / "figure1_laptop.json", 0
    if record.exists():
        seconds = json.loads(record.read_text())["members"]["albert"]["training_seconds"]
        minutes = round(seconds / 60)
    return {"guesses": guesses, "minutes": minutes}
