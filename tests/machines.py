"""Run every notebook as other machines would, and list the cells that print something else than what is stored.

    python -m tests.machines [00 07 ...]

Each setting makes torch, oneDNN, MKL or NumPy's OpenBLAS take the kernels of another processor, or another number of
threads. Sums then come in another order, so that a number which hangs by its last digits, or by which of inf and NaN
comes first, shows itself. It is no proof: a processor of another make was not there, and a setting may change nothing.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLD = {"ATEN_CPU_CAPABILITY": "default", "DNNL_MAX_CPU_ISA": "SSE41", "MKL_CBWR": "COMPATIBLE"}
SETTINGS = {
    "this machine as it is": {},
    "torch and NumPy for Haswell": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "OPENBLAS_CORETYPE": "Haswell",
    },
    "all of the oldest at once": OLD | {"OPENBLAS_CORETYPE": "Prescott"},
    "two threads": {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
}
NBVAL = "-q -n 2 --dist loadfile --nbval --nbval-current-env --nbval-cell-timeout 3000"
NBVAL += " --nbval-sanitize-with tests/nbval_sanitize.cfg"


def main(numbers: list[str]) -> int:
    """Print each setting with what nbval says of the cells that differ; return 1 if there is any."""
    paths = sorted((ROOT / "notebooks").glob("**/[0-9][0-9]_*.ipynb"))
    paths = [path for path in paths if "assignments" not in path.parts]
    chosen = [path for path in paths if not numbers or path.name.startswith(tuple(numbers))]
    if not chosen:
        print(f"no notebook begins with {', '.join(numbers)}")
        return 2
    command, codes = [sys.executable, "-m", "pytest", *NBVAL.split(), *map(str, chosen)], []
    for name, setting in SETTINGS.items():
        print(f"{name}: {len(chosen)} notebooks", flush=True)
        codes.append(subprocess.run(command, cwd=ROOT, env=os.environ | setting).returncode)
    return int(any(codes))  # one that the system has ended has a negative code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
