"""Run every notebook as other machines would, and list the cells that print something else than what is stored.

    python -m tests.machines [00 07 ...]

Each setting makes torch, oneDNN, MKL or NumPy's OpenBLAS take the kernels of another processor, or another number of
threads. Sums then come in another order, so that a number which hangs by its last digits, or by which of inf and NaN
comes first, shows itself. It is no proof: a processor of another make was not there.

A setting may change nothing on a given processor (oneDNN is not asked there, or AVX-512 is what torch takes anyway). So a
probe goes first: the bits of eleven kinds of result. The table names those that changed; if none did, the notebooks are
not run again.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import torch

from albert_edu.training.workers import device_name

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = {
    "this machine as it is": {},
    "torch without vector instructions": {"ATEN_CPU_CAPABILITY": "default"},
    "torch with AVX2": {"ATEN_CPU_CAPABILITY": "avx2"},
    "torch with AVX-512": {"ATEN_CPU_CAPABILITY": "avx512"},
    "oneDNN with SSE4.1": {"ONEDNN_MAX_CPU_ISA": "SSE41", "DNNL_MAX_CPU_ISA": "SSE41"},
    "MKL with its compatible branch": {
        "MKL_CBWR": "COMPATIBLE",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    },
    "OpenBLAS blocked for an old processor": {"OPENBLAS_CORETYPE": "Prescott"},
    "OpenBLAS blocked for Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "two threads": {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
    "all of the oldest at once": {
        "ATEN_CPU_CAPABILITY": "default",
        "DNNL_MAX_CPU_ISA": "SSE41",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_CBWR": "COMPATIBLE",
        "OPENBLAS_CORETYPE": "Prescott",
        "OMP_NUM_THREADS": "2",
    },
}
PROBE = """
import hashlib, numpy, torch
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
hidden = torch.randn(8, 64, 64)
layer(hidden).logsumexp(-1).mean().backward()
square, wide = numpy.random.default_rng(0).standard_normal((200, 200)), torch.randn(512, 512)
results = {
    "layer": layer(hidden), "gradient": torch.cat([weight.grad.flatten() for weight in layer.parameters()]),
    "small product": hidden[0] @ hidden[1].T, "product": wide @ wide.T, "bfloat16": (wide.bfloat16() @ wide.bfloat16()).float(),
    "convolution": torch.nn.functional.conv1d(hidden, torch.ones(64, 64, 3)), "sum": hidden.sum(), "exp": hidden.exp(),
    "SVD": torch.linalg.svdvals(wide), "NumPy product": square @ square, "NumPy SVD": numpy.linalg.svd(square)[1],
}
for name, value in results.items():
    print(name, hashlib.sha256(numpy.asarray(torch.as_tensor(value).detach()).tobytes()).hexdigest(), sep=":")
"""


def bits(setting: dict[str, str]) -> dict[str, str]:
    """Return kind of result -> hash of its bits, as a fresh process computes them under one setting."""
    run = subprocess.run(
        [sys.executable, "-c", PROBE],
        env=os.environ | setting,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.split(":") for line in run.stdout.splitlines())


def failures(notebooks: list[Path], setting: dict[str, str]) -> tuple[int, str]:
    """Return how many cells differ under one setting, and what nbval says of them."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "2",
        "--dist",
        "loadfile",
        "--nbval",
        "--nbval-current-env",
        "--nbval-sanitize-with",
        "tests/nbval_sanitize.cfg",
        "--nbval-cell-timeout",
        "3000",
        *map(str, notebooks),
    ]
    run = subprocess.run(
        command, cwd=ROOT, env=os.environ | setting, capture_output=True, text=True
    )
    if run.returncode not in (0, 1):
        return 1, f"pytest itself: {run.stdout[-500:]}{run.stderr[-500:]}"
    return run.stdout.count("\nFAILED "), run.stdout.partition(" FAILURES ")[2].strip("=\n")


def main(numbers: list[str]) -> int:
    """Print each setting with what nbval says of the cells that differ; return 1 if there is any."""
    paths = [
        path
        for path in sorted((ROOT / "notebooks").glob("**/[0-9][0-9]_*.ipynb"))
        if "assignments" not in path.parts
    ]
    notebooks = [path for path in paths if not numbers or path.name.startswith(tuple(numbers))]
    total, usual = 0, bits({})
    processor = (
        f"{device_name(torch.device('cpu'))}, torch takes {torch.backends.cpu.get_cpu_capability()}"
    )
    print(f"{len(notebooks)} notebooks, {len(SETTINGS)} settings, {processor}")
    for name, setting in SETTINGS.items():
        began, probed = time.perf_counter(), bits(setting)
        changed = [kind for kind in usual if probed[kind] != usual[kind]]
        if setting and not changed:
            print(f"{name:40} changes no bit of the probe here: not run", flush=True)
            continue
        different, said = failures(notebooks, setting)
        total += different
        print(
            f"{name:40} {different:3} cells differ   ({time.perf_counter() - began:.0f} s)",
            flush=True,
        )
        print(
            f"    other bits in: {', '.join(changed) or 'nothing, this is the machine itself'}",
            flush=True,
        )
        print(said, end="\n" if said else "", flush=True)
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
