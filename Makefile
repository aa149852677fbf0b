# make reproduce      parameter counts, a trained pair, Figure 1 (PROFILE=quick by default)
# make lab            JupyterLab in the same environment, over copies of the notebooks in work/
# make test           every test and every notebook
# make test-fast      the tests without notebooks, JupyterLab and what takes more than about two seconds
# make test-lowest    the same with the oldest versions that pyproject.toml allows, in an environment of their own
# make test-machines  every notebook under settings that imitate other machines; says which cells print something else
# make site           the notebooks and pages as a site with search: build/site/index.html
# make slides         one lesson as slides for a lecture: make slides NOTEBOOK=04
# make book           the road, the optional lessons, the glossary and the claims as a PDF: build/book.pdf
# make constraints    writes constraints.txt from the versions in .venv
# tasks.py holds what they do, so that Windows has the same: py -3 tasks.py reproduce

PYTHON ?= python3
COMMANDS := reproduce lab test test-fast test-lowest test-machines site slides book constraints

.PHONY: $(COMMANDS) clean

$(COMMANDS):
	@command -v $(PYTHON) > /dev/null || { echo "There is no $(PYTHON) here. Try: make $@ PYTHON=python3.12"; exit 1; }
	@$(PYTHON) tasks.py $@ $(if $(filter reproduce,$@),$(if $(PROFILE),--profile $(PROFILE))) $(if $(filter test-machines,$@),$(NOTEBOOKS)) $(if $(filter slides,$@),$(NOTEBOOK))

clean:
	rm -rf .venv .venv-lowest build
