"""What ``reproduce`` does: it trains, measures, draws and explains, all in one folder.

Profile quick shows the paper's three ideas at work in minutes: exact parameter counts, the pair
behind Figure 1 and Table 5 in miniature on the synthetic corpus, and masked sentences filled in by
the shipped model. Profiles laptop and gpu train the pair on real text. Run in notebook 00.
"""

import base64
import time
from pathlib import Path

from PIL import Image

from albert_course.charts import bars
from albert_edu.analysis.counting import count_parameters
from albert_edu.analysis.inspect import fill
from albert_edu.analysis.plots import save
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.model.interchange import load_pretrained
from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
from albert_edu.text.prepare import prepare
from albert_paper.measures import order_cross
from albert_paper.pair import MEMBERS, PAIRS, PLAN, model_card, pair_jobs, pair_record
from albert_paper.pictures import pair_picture
from albert_paper.pool import run_all
from albert_paper.provenance import write_json
from albert_paper.published import CONFIGS, TABLES
from albert_paper.sweep import do_run, read_result, recorded_run
from albert_paper.templates import render

# Table 5 in miniature.
ORDER_RUNS = {
    name: recorded_run(PLAN["order"] | {"row": name, "objective": name.lower()})
    for name in ("none", "NSP", "SOP")
}


def reproduce(
    profile: str, runs: Path, device: str | None = None, record_in: Path | None = None
) -> None:
    """Do everything that is not done yet in ``runs/profile``; print a summary, write a report page.

    ``record_in`` is a folder that also gets Figure 1 and, under results/, its record; without it
    nothing outside ``runs`` changes. Interrupted, the same call goes on where it stopped.
    """
    began, folder, pair = time.perf_counter(), runs / profile, PAIRS[profile]
    order_runs = ORDER_RUNS if profile == "quick" else {}
    print(
        f"Counting, training and measuring into {folder}. "
        "You may interrupt; the same command goes on.",
        flush=True,
    )
    counts = parameter_table(folder)
    jobs = pair_jobs(pair, folder, device)
    jobs += [(do_run, (run, order_cross, folder, device)) for run in order_runs.values()]
    run_all(jobs, processes=len(MEMBERS))
    record = pair_record(pair, folder, device)
    (folder / "README.md").write_text(model_card(record))
    for place in filter(None, (folder, record_in)):
        write_json(place / "results" / f"figure1_{profile}.json", record)
        figure, alt = pair_picture(record["members"].values())
        save(figure, place / f"figure1_{profile}.png", alt)
    order = {name: read_result(folder, run, order_cross) for name, run in order_runs.items()}
    page = folder / "report.html"
    values = {
        "profile": profile,
        "folder": folder,
        "page": page,
        "counts": counts,
        "pair": record,
        "order": order,
        "guesses": look_at_shipped(folder) if order else [],
        "plan": PLAN,
        "printed": lambda task, row: TABLES["5"].value(f"{task} acc", row),
        "picture": lambda name: picture(folder / f"{name}.png"),
        "seconds": round(time.perf_counter() - began),
    }
    page.write_text(render("report.html", **values), encoding="utf-8")
    print(render("summary.txt", **values))


def picture(path: Path) -> tuple[str, str]:
    """Return the alt text that is stored in a PNG file, and the file in base64."""
    with Image.open(path) as image:
        return image.text["Description"], base64.b64encode(path.read_bytes()).decode()


def parameter_table(folder: Path) -> list[dict]:
    """Return the exact counts of every published size, and draw them as parameter_counts.png.

    The paper's number is that of Table 1; BERT-xlarge is in early versions only.
    """
    rows = []
    for name in TABLES["early-main"].column("model"):
        count = count_parameters(CONFIGS["early-main", name])
        table = TABLES["1" if (name,) in TABLES["1"].keys else "early-main"]
        rows.append(
            {
                "model": name,
                **count._asdict(),
                "without_pooler": count.without_pooler,
                "total": count.total,
                "paper_millions": table.value("params", name),
            }
        )
    drawn = {row["model"]: row for row in rows if row["model"] != "BERT-xlarge"}
    ratio = drawn["BERT-large"]["total"] / drawn["ALBERT-large"]["total"]
    title = (
        f"BERT-large has {ratio:.0f} times the parameters of ALBERT-large, "
        "a stack of the same shape"
    )
    series = {
        "embeddings": [(row["embeddings"] + row["projection"]) / 1e6 for row in drawn.values()],
        "layers": [row["encoder"] / 1e6 for row in drawn.values()],
    }
    figure, alt = bars(list(drawn), series, "parameters (millions)", title, digits=1)
    save(figure, folder / "parameter_counts.png", alt)
    return rows


def look_at_shipped(folder: Path) -> list:
    """Return what the shipped model puts for masked words, and draw Figure 1 of its pair."""
    model, tokenizer = load_pretrained("laptop")
    text = prepare("sotu", tokenizer=tokenizer)
    stream = PretrainingStream(
        text.held_out, tokenizer, "sop", 32, model.config.max_positions, seed=EVAL_SEED_OFFSET
    )
    pair = (model, load_pretrained("laptop-unshared")[0])
    curves = [layer_similarity(member, stream.batch(0)).as_lists() for member in pair]
    figure, alt = pair_picture([{"similarity": curve} for curve in curves])
    save(figure, folder / "figure1_shipped.png", alt)
    return [(text, fill(model, tokenizer, text, top=5)[0]) for text in PLAN["sentences"]]
