"""What ``reproduce`` ends with: a self-contained page, and the same in a few lines for the terminal."""

import base64
import html
import shutil
from importlib import resources
from pathlib import Path
from string import Template

from PIL import Image

from albert_edu.paper.published import TABLES

ORDER_ROWS = {"none": "no order loss", "NSP": "NSP", "SOP": "SOP (ALBERT)"}
TASKS = {"NSP": "nsp-topic", "SOP": "sop"}  # the two order tasks: name in the paper -> in our measurement


def summary(result: dict, page: Path) -> str:
    """Return the run in about fifteen lines: what each idea showed, the paper's number beside it, what to open next."""
    table, base = _count(result, "BERT-base"), _count(result, "ALBERT-base")
    pair, sizes, baseline = result["pair"]["members"], result["pair"]["parameters"], result["pair"]["baselines"]
    angles = {name: member["similarity"]["angle_degrees"][-1] for name, member in pair.items()}
    lines = [
        "",
        f"Factorised embeddings: the table shrinks from {table['embeddings'] / 1e6:.1f} to "
        f"{(base['embeddings'] + base['projection']) / 1e6:.1f} million parameters (BERT-base, ALBERT-base).",
        f"Shared layers: {base['total'] / 1e6:.1f} million parameters in all "
        f"(paper: {base['paper_millions']:g}), BERT-base has {table['without_pooler'] / 1e6:.1f} "
        f"(paper: {table['paper_millions']:g}).",
        f"  a trained pair             {'MLM loss':>9} {'order':>7} {'parameters':>11}   last layer moves by",
    ]
    for name, member in pair.items():
        scores = member["scores"]
        lines.append(
            f"  {_member(name):26} {scores['masked_token_loss']:9.2f} {scores['sentence_order_accuracy']:7.0%} "
            f"{sizes[name]:11,}   {angles[name]:.0f} degrees"
        )
    lines.append(f"  {'unigram baseline, chance':26} {baseline['unigram']:9.2f} {0.5:7.0%}")
    if "order" in result:
        lines.append("Sentence-order prediction: accuracy on the NSP task and on the SOP task (in the paper's Table 5)")
        for row, label in ORDER_ROWS.items():
            cells = [f"{task} {result['order'][row]['head'][ours]['accuracy']:4.0%} ({_paper(task, row):4.1f})"
                     for task, ours in TASKS.items()]  # fmt: skip
            lines.append(f"  trained with {label:16} {'   '.join(cells)}")
    if "shipped" in result:
        sentence, guesses = result["shipped"]["guesses"][0]
        words = ", ".join(_word(token) for token, _ in guesses)
        lines.append(f"Real text, shipped model: {sentence!r} -> {words}")
    opener = shutil.which("xdg-open") or shutil.which("open")
    lines += [
        f"The report with all figures: {page}" + (f" (open it: {Path(opener).name} {page})" if opener else ""),
        "Next: make lab, then open notebooks/00_start_here.ipynb.",
    ]
    return "\n".join(lines)


def write_page(result: dict, folder: Path) -> Path:
    """Write ``folder/report.html``, which needs no other file, and return its path."""
    sections = [_embeddings(result, folder), _pair(result, folder)]
    if "order" in result:
        sections.append(_order(result))
    if "shipped" in result:
        sections.append(_shipped(result, folder))
    template = Template(resources.files("albert_edu.paper").joinpath("summary_page.html").read_text(encoding="utf-8"))
    page = folder / "report.html"
    device = html.escape(result["pair"]["provenance"]["device"])
    page.write_text(template.substitute(
        profile=result["profile"], seconds=result["seconds"], device=device, folder=html.escape(str(folder)),
        sections="\n".join(sections),
    ), encoding="utf-8")  # fmt: skip
    return page


def _embeddings(result: dict, folder: Path) -> str:
    rows = [
        [row["model"], f"{row['embeddings'] + row['projection']:,}", f"{row['encoder']:,}",
         f"{row['without_pooler' if row['model'].startswith('BERT') else 'total']:,}", f"{row['paper_millions']:g}M"]
        for row in result["counts"]
    ]  # fmt: skip
    return "\n".join([
        "<h2>1. Where the parameters go: factorised embeddings and shared layers</h2>",
        "<p>These counts are exact. BERT rows are without the pooler and ALBERT rows with it, because that is how the "
        "paper counts.</p>",
        _table(["model", "embeddings", "layers", "all", "paper"], rows),
        _figure(folder / "parameter_counts.png", "Parameters of each published size, by component."),
    ])  # fmt: skip


def _pair(result: dict, folder: Path) -> str:
    record = result["pair"]
    rows = [
        [_member(name), f"{member['scores']['masked_token_loss']:.2f}", f"{member['scores']['sentence_order_accuracy']:.1%}",
         f"{record['parameters'][name]:,}", f"{member['similarity']['angle_degrees'][-1]:.0f}°"]
        for name, member in record["members"].items()
    ]  # fmt: skip
    baseline = record["baselines"]
    rows += [["unigram baseline, chance", f"{baseline['unigram']:.2f}", "50.0%", "", ""],
             ["copy baseline", f"{baseline['copy']:.2f}", "", "", ""]]  # fmt: skip
    return "\n".join([
        "<h2>2. Shared layers: one layer applied twelve times, beside twelve layers</h2>",
        "<p>Both models were trained alike. The MLM loss (in nats) and the order accuracy are measured on held-out text. "
        "The last column says by how many degrees the last application turns its input.</p>",
        _table(["", "MLM loss", "order accuracy", "parameters", "last angle"], rows),
        _figure(folder / f"figure1_{result['profile']}.png",
                "The paper's Figure 1, measured on this pair; dotted lines show the same two before training. "
                "The paper has 24 layers of width 1024 and reports that the shared layer's steps are smaller and "
                "smoother. The separate layers started as copies of a shallower stack, so their curve can jump where "
                "one set of copies ends; notebook 08 trains them from scratch too."),
    ])  # fmt: skip


def _order(result: dict) -> str:
    head = ["trained with", *(f"{task}: {what}" for task in TASKS for what in ("head", "probe", "paper"))]
    rows = []
    for row, label in ORDER_ROWS.items():
        cells = [label]
        for task, ours in TASKS.items():
            scores = [result["order"][row][how][ours]["accuracy"] for how in ("head", "probe")]
            cells += [*(f"{score:.1%}" for score in scores), f"{_paper(task, row):.1f}%"]
        rows.append(cells)
    return "\n".join([
        "<h2>3. Sentence-order prediction: Table 5 in miniature</h2>",
        "<p>Three small models on a synthetic corpus whose topics are easy to see. <i>Head</i> is the model's own order "
        "head as it was trained; <i>probe</i> is a linear classifier fitted to the frozen model. Chance is 50%. "
        "A model trained with NSP solves NSP from the topic alone and is at chance on the order of sentences.</p>",
        _table(head, rows),
    ])  # fmt: skip


def _shipped(result: dict, folder: Path) -> str:
    rows = [
        [html.escape(sentence), ", ".join(html.escape(f"{_word(token)} {share:.0%}") for token, share in guesses)]
        for sentence, guesses in result["shipped"]["guesses"]
    ]
    return "\n".join([
        "<h2>4. Real text: the model that comes with the course</h2>",
        "<p>It was trained for an hour on the State of the Union addresses, so its five best guesses are those of a small "
        "model.</p>",
        _table(["sentence", "best guesses for [MASK]"], rows),
        _figure(folder / "figure1_shipped.png", "Figure 1 of the shipped pair on held-out addresses."),
    ])  # fmt: skip


def _table(head: list[str], rows: list[list[str]]) -> str:
    cells = "".join(f"<th scope='col'>{name}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div class='table'><table><tr>{cells}</tr>{body}</table></div>"


def _figure(path: Path, caption: str) -> str:
    """A picture inside the page, with the alt text that was stored in the file."""
    with Image.open(path) as image:
        alt = html.escape(image.text["Description"], quote=True)
    data = base64.b64encode(path.read_bytes()).decode()
    return f"<figure><img alt=\"{alt}\" src=\"data:image/png;base64,{data}\"><figcaption>{caption}</figcaption></figure>"


def _count(result: dict, model: str) -> dict:
    return next(row for row in result["counts"] if row["model"] == model)


def _paper(task: str, row: str) -> float:
    return TABLES["5"].value(f"{task} acc", row)


def _member(name: str) -> str:
    return {"albert": "one shared layer (ALBERT)", "unshared": "twelve separate layers"}[name]


def _word(token: str) -> str:
    return token.lstrip("▁")
