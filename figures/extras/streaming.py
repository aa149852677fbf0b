"""How much memory preparing a synthetic text takes, measured once a second on all its processes.

    python -m figures.extras.streaming runs/streaming 0.1 1

makes texts of that many GB (deleted afterwards), prepares each in a process of its own, and writes
figures/results/streaming.json. Private memory is what only these processes hold. Resident memory
has the pages of mapped files too, which the system takes back when it needs them; a page that
several processes share counts once (Linux's PSS). A text takes about 20 minutes a GB on two cores.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from albert_paper.provenance import provenance, write_json

FIGURES = Path(__file__).resolve().parents[1]
FILE_BYTES = 50_000_000
COMMAND = "import sys; from albert_edu.text.prepare import prepare; prepare(sys.argv[1], 4000)"


def write_text(folder: Path, size: float) -> None:
    """Write files of sentences of 6 to 25 words; word n of 30,000 has a frequency of 1/(n + 10)."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    ends = ("", "i", "n", "r", "u")
    syllables = [c + v + end for c in "bcdfghjklmnprstvwz" for v in "aeiou" for end in ends]
    words = ["".join(rng.choice(syllables, n)) for n in rng.integers(1, 4, 30_000)]
    frequencies = 1 / np.arange(10, 30_010)
    written = 0
    while written < size:
        with (folder / f"{written // FILE_BYTES:04d}.txt").open("a") as file:
            text = rng.choice(words, 200_000, p=frequencies / frequencies.sum()).tolist()
            cuts = np.cumsum(rng.integers(6, 26, 20_000))
            cuts = cuts[cuts < len(text)]
            sentences = (" ".join(text[a:b]) for a, b in pairwise(cuts))
            written += file.write("".join(f"{line.capitalize()}.\n\n" for line in sentences))


def memory(pid: int) -> np.ndarray:
    """Return private and resident bytes of a process and of those that it has started."""
    total = np.zeros(2)
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
        sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
        total += sizes["Pss_Anon"], sizes["Pss"]
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (OSError, KeyError):  # the process has ended
        return total
    return total + sum(memory(int(child)) for child in children)


def measure(text: Path) -> dict:
    """Prepare a text in a process with a cache of its own; return its memory in MB by second."""
    cache, start, curve = text.with_name("cache"), time.monotonic(), []
    environment = os.environ | {"ALBERT_EDU_CACHE": str(cache), "TQDM_DISABLE": "1"}
    process = subprocess.Popen([sys.executable, "-c", COMMAND, str(text)], env=environment)
    while process.poll() is None:
        curve.append([round(time.monotonic() - start), *(memory(process.pid) // 1e6).tolist()])
        time.sleep(1)
    shutil.rmtree(cache)
    if process.returncode:
        raise RuntimeError(f"preparing {text} failed with code {process.returncode}.")
    _, private, resident = np.max(curve, axis=0)
    peaks = {"peak_private_mb": private, "peak_resident_mb": resident}
    return peaks | {"seconds": curve[-1][0], "curve": curve[:: max(1, len(curve) // 40)]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("gigabytes", type=float, nargs="+")
    options = parser.parse_args()
    start, runs = time.monotonic(), []
    for gigabytes in options.gigabytes:
        write_text(options.folder / "text", gigabytes * 1e9)
        runs.append({"text_gb": gigabytes} | measure(options.folder / "text"))
        shutil.rmtree(options.folder / "text")
        source = provenance("", time.monotonic() - start, [0])
        source["command"] = "python -m figures.extras.streaming"
        columns = ["seconds", "private MB", "resident MB"]
        write_json(
            FIGURES / "results" / "streaming.json",
            {"columns": columns, "runs": runs, "provenance": source},
        )
        print(runs[-1] | {"curve": "..."}, flush=True)
