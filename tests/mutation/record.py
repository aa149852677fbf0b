"""Which tests answer for which module, and README.md from the results and the reasons."""

import hashlib
import json
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
TESTS = {  # for each module the test files that answer for it
    "training/lamb": ["training/test_lamb.py", "test_hostile_input.py"],
    "model/sharing": ["model/test_sharing.py"],
    "model/embeddings": ["model/test_albert.py", "model/test_parity.py"],
    "model/layers": ["model/test_layers.py", "model/test_parity.py"],
    "model/albert": [
        "model/test_albert.py",
        "model/test_loss.py",
        "model/test_parity.py",
        "analysis/test_similarity.py",
        "test_hostile_input.py",
    ],
    "model/encoder": ["model/test_sharing.py", "model/test_albert.py"],
    "model/heads": ["model/test_albert.py", "model/test_loss.py", "model/test_parity.py"],
    "text/masking": [
        "text/test_masking.py",
        "text/test_batches.py",
        "text/test_recorded_batches.py",
    ],
    "text/segments": [
        "text/test_segments.py",
        "text/test_batches.py",
        "text/test_recorded_batches.py",
    ],
    "text/batches": [
        "text/test_batches.py",
        "text/test_recorded_batches.py",
        "test_hostile_input.py",
    ],
    "text/tokenized": ["text/test_tokenized.py", "text/test_prepare.py", "test_hostile_input.py"],
    "text/tokenizer": ["text/test_tokenizer.py", "test_hostile_input.py"],
    "model/task_heads": [
        "model/test_task_heads.py",
        "model/test_task_folders.py",
        "test_hostile_input.py",
    ],
    "model/interchange": [
        "model/test_interchange.py",
        "model/test_task_folders.py",
        "model/test_folders.py",
        "test_hostile_input.py",
    ],
    "model/formats": [
        "model/test_interchange.py",
        "model/test_folders.py",
        "model/test_task_folders.py",
        "test_hostile_input.py",
    ],
    "text/prepare": ["text/test_prepare.py", "test_hostile_input.py"],
    "text/corpora": ["text/test_corpora.py", "text/test_prepare.py", "test_hostile_input.py"],
    "text/stories": [
        "text/test_stories.py",
        "text/test_corpora.py",
        "text/test_recorded_batches.py",
        "test_hostile_input.py",
    ],
    "text/spans": ["text/test_spans.py", "text/test_hub_tokenizer.py"],
    "text/task_rows": ["text/test_task_rows.py"],
    "text/tasks": ["text/test_tasks.py", "text/test_course_tasks.py", "test_hostile_input.py"],
}


def scores(mutants: int, killed: int, equivalent: int) -> str:
    """Five cells of the table: the counts, and the score without and with equivalent mutants."""
    score, of_all = 100 * killed / (mutants - equivalent), 100 * killed / mutants
    return f"{mutants} | {killed} | {equivalent} | {score:.1f}% | {of_all:.1f}%"


def state(name: str) -> str:
    """Ten digits that change with the file of a module."""
    return hashlib.sha256((HERE.parents[1] / "albert_edu" / f"{name}.py").read_bytes()).hexdigest()[
        :10
    ]


def write_record() -> None:
    (HERE / "README.md").write_text(record())


def record() -> str:
    """The page, from the results and from survivors.json, the reasons people wrote.

    Its prose, before the table and after the survivors, stays as it is.
    """
    page = (HERE / "README.md").read_text()
    head, tail = page[: page.index("| module")], page[page.index("\n## Why not") :]
    reasons = json.loads((HERE / "survivors.json").read_text())
    results = json.loads(RESULTS.read_text())
    table = [
        "| module | mutants | killed | equivalent | score | of all | tests that answer for it | "
        "measured | core seconds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines, sums = [], Counter()
    for name, files in TESTS.items():
        if name not in results:
            table.append(f"| `{name}.py` | - | - | - | not yet | - | {', '.join(files)} | - | - |")
            continue
        result = results[name]
        alive, count = result["survivors"], result["mutants"]
        told = [reasons.get(f"{name}: {key}", "") for key in alive]
        own = {
            "mutants": count,
            "killed": count - len(alive),
            "equivalent": sum(reason.startswith("Equivalent:") for reason in told),
        }
        sums.update(own)
        table.append(
            f"| `{name}.py` | {scores(**own)} | {', '.join(files)} | "
            f"{result['date']}, on {result['commit']}"
            f"{'' if result['state'] == state(name) else ', **changed since**'} | "
            f"{result['seconds']} |"
        )
        for key, line in alive.items():
            where, change = key.split(": ", 1)
            place = f"`{where}`" if where else "outside functions"
            lines.append(
                f"- `{name}.py`, line {line}, {place}: {change}. "
                f"{reasons.get(f'{name}: {key}', '**Not explained yet.**')}"
            )
    if sums:
        table.append(f"| together | {scores(**sums)} | | | |")
    survivors = "\n".join(lines) or "None."
    return head + "\n".join(table) + f"\n\n## The survivors\n\n{survivors}\n{tail}"


if __name__ == "__main__":
    write_record()
