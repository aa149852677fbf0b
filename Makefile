# make reproduce      counts, a trained pair, Table 5 in miniature, Figure 1, and a report page (PROFILE=quick by default)
# make test           every test and every notebook
# make test-fast      the tests without notebooks, JupyterLab and what takes more than about two seconds
# make test-machines  every notebook under settings that imitate other machines; says which cells print something else
# make lab            JupyterLab in the same environment
# All of them make .venv first, when it is missing or older than pyproject.toml. On a machine whose plain torch wheel is
# CUDA's and large, TORCH_INDEX=URL adds an index to look for a CPU build in.

PYTHON ?= python3
PROFILE ?= quick
TORCH_INDEX ?=
BIN := .venv/bin
# One thread per worker and two workers: two cores, no crowding. tests/offline cuts the network off.
QUIET := PYTHONPATH="$(CURDIR)/tests/offline" TQDM_DISABLE=1 OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1
PYTEST := $(QUIET) $(BIN)/python -m pytest -q -n 2 --dist loadfile --durations=20
NBVAL := --nbval --nbval-current-env --nbval-sanitize-with tests/nbval_sanitize.cfg --nbval-cell-timeout 300 \
	--nbval-kernel-startup-timeout 120

.PHONY: reproduce test test-fast test-machines lab clean

reproduce: .venv/ready
	$(BIN)/python -m albert_paper reproduce --profile $(PROFILE)

test: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(PYTEST) $(NBVAL) tests notebooks

test-fast: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(PYTEST) -m "not slow" --ignore=tests/test_jupyterlab.py --ignore=tests/figures tests

test-machines: .venv/ready
	$(QUIET) $(BIN)/python -m tests.machines $(NOTEBOOKS)

lab: .venv/ready
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) --LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb

.venv/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "This needs Python 3.11 or newer; $(PYTHON) is older. Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
		{ echo "Python has no venv module here. On Debian and Ubuntu: sudo apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -e '.[test]'
	@touch $@

clean:
	rm -rf .venv
