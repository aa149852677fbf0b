"""What ``reproduce`` does: text, the trained pair, Figure 1, the parameter table; each with a JSON that says how it was made."""

import dataclasses
import json
import time
from pathlib import Path

from albert_edu.analysis.counting import closed_form, count_parameters
from albert_edu.analysis.plots import figure1, parameter_bars, save
from albert_edu.config import AlbertConfig
from albert_edu.model.interchange import load_pretrained
from albert_edu.paper.pair import MEMBERS, PAIRS, measure_pair, model_card, seconds_of_pair, train_pair
from albert_edu.paper.provenance import provenance, write_json
from albert_edu.paper.published import TABLES
from albert_edu.text.prepare import prepare
from albert_edu.training.pretrain import pick_device

# Every published size, under the name of the paper's Table 1 (BERT-xlarge: its early versions only).
SIZES = {
    "BERT-base": "bert-base", "BERT-large": "bert-large", "BERT-xlarge": "bert-xlarge", "ALBERT-base": "albert-base-v2",
    "ALBERT-large": "albert-large-v2", "ALBERT-xlarge": "albert-xlarge-v2", "ALBERT-xxlarge": "albert-xxlarge-v2",
}  # fmt: skip


def reproduce(profile: str, figures: Path, runs: Path, device: str | None = None) -> None:
    """Do everything, keep what is finished, say where it lies and what to read next."""
    began = time.perf_counter()
    print("1/4  counting the parameters of every published size")
    rows = parameter_table(figures)
    print(f"2/4  preparing the text ({PAIRS[profile].corpus}: a few seconds once it is cached)", flush=True)
    text = prepare(PAIRS[profile].corpus)
    print(f"     {text.train} for training, {text.held_out} held out")
    folder = runs / profile
    print(f"3/4  training ALBERT and its not-shared control side by side into {folder}; you may interrupt", flush=True)
    train_pair(PAIRS[profile], folder, device)
    made = folder / "made.json"
    if not made.exists():  # of the call that ended the training; later ones only measure again
        command = f"reproduce --profile {profile}"
        write_json(made, provenance(command, time.perf_counter() - began, [PAIRS[profile].seed], pick_device(device)))
    print("4/4  measuring how far each layer moves its input")
    record = figure_of_pair(profile, figures, folder)
    (folder / "README.md").write_text(model_card(record))
    print()
    print(report(rows, record))
    print(f"\nFigures: {figures}/figure1_{profile}.png, {figures}/parameter_counts.png. Models: {folder}/albert, {folder}/control.")
    print("Next: 'make lab', then open notebooks/00_start_here.ipynb.")


def parameter_table(figures: Path) -> list[dict]:
    """Exact counts of every published size beside the paper's print; writes parameter_counts.{json,md,png}."""
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
    write_json(figures / "results" / "parameter_counts.json", record)
    (figures / "parameter_counts.md").write_text(markdown_table(rows))
    drawn = [
        (row["model"], {"embeddings": row["embeddings"] + row["projection"], "encoder": row["encoder"], "pooler": row["pooler"]})
        for row in rows
        if row["model"] != "BERT-xlarge"
    ]
    large = {row["model"]: row["total"] for row in rows}
    ratio = large["BERT-large"] / large["ALBERT-large"]
    title = f"BERT-large holds {ratio:.0f} times the parameters of ALBERT-large, a stack of the same shape"
    figure, alt = parameter_bars(drawn, title)
    save(figure, figures / "parameter_counts.png", alt)
    return rows


def markdown_table(rows: list[dict]) -> str:
    columns = ("embeddings", "projection", "encoder", "pooler", "without_pooler", "total", "with_heads")
    lines = ["| model | " + " | ".join(name.replace("_", " ") for name in columns) + " | paper |", "|---|" + "---:|" * 8]
    for row in rows:
        lines.append(f"| {row['model']} | " + " | ".join(f"{row[name]:,}" for name in columns) + f" | {row['paper_millions']:g}M |")
    return "\n".join(lines) + "\n"


def figure_of_pair(profile: str, figures: Path, folder: Path) -> dict:
    """Measure the trained pair and draw Figure 1; writes figure1_PROFILE.{json,png}."""
    models = {member: load_pretrained(folder / member)[0] for member in MEMBERS}
    record = measure_pair(PAIRS[profile], models)
    for member in MEMBERS:
        record["members"][member]["training_seconds"] = round(seconds_of_pair(PAIRS[profile], folder / member))
    record["profile"] = {"name": profile, **dataclasses.asdict(PAIRS[profile])}
    record["parameters"] = {member: count_parameters(model.config).with_heads for member, model in models.items()}
    record["provenance"] = json.loads((folder / "made.json").read_text())
    write_json(figures / "results" / f"figure1_{profile}.json", record)
    draw_figure1(record, figures / f"figure1_{profile}.png")
    return record


def draw_figure1(record: dict, path: Path) -> None:
    """Figure 1 from its record; the title says what the curves show and not more."""
    albert, control = (record["members"][member]["similarity"] for member in MEMBERS)
    last = {"ALBERT": albert["angle_degrees"][-1], "control": control["angle_degrees"][-1]}
    verb = "end smaller than" if last["ALBERT"] < last["control"] else "end no smaller than"
    title = f"Steps of shared layers {verb} those of separate layers ({last['ALBERT']:.0f} against {last['control']:.0f} degrees)"
    figure, alt = figure1(albert, control, ("ALBERT: one shared layer", "control: a layer for each step"), title)
    save(figure, path, alt)


def report(rows: list[dict], record: dict) -> str:
    """The short table at the end of the run."""
    lines = ["parameters            ours (exact)        paper prints"]
    for row in rows:
        convention = "without_pooler" if row["model"].startswith("BERT") else "total"
        lines.append(f"  {row['model']:18} {row[convention]:>14,}  {row['paper_millions']:>12g}M")
    lines += ["", "trained pair          masked-token loss   order accuracy   parameters"]
    for member, found in record["members"].items():
        scores = found["scores"]
        lines.append(
            f"  {member:18} {scores['masked_token_loss']:>14.3f} {scores['sentence_order_accuracy']:>18.3f}   "
            f"{record['parameters'][member]:>12,}   {found['verdict'].split(':')[0]}"
        )
    baselines = record["baselines"]
    lines.append(f"  baselines             {baselines['unigram']:>14.3f} {0.5:>18.3f}   (piece frequencies alone; a coin)")
    lines.append(f"                     {baselines['copy']:>14.3f}                      (and copying: notebook 05)")
    if all(found["scores"]["sentence_order_accuracy"] < 0.6 for found in record["members"].values()):
        lines.append("Order accuracy near 0.5 is expected here: learning it from real text takes far more of it (see notebook 06).")
    return "\n".join(lines)
