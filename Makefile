# Everything from a clean clone, with Python 3.11 or newer, make and git.

PYTHON ?= python3
VENV := .venv
LINT := .venv-lint
export TF_CPP_MIN_LOG_LEVEL ?= 3

.PHONY: demo test lint clean

demo: $(VENV)/.demo  ## lift the corpus, run both, compare and time
	$(VENV)/bin/graphlift verify corpus/

test: $(VENV)/.test
	$(VENV)/bin/python -m pytest

lint: $(LINT)/.lint  ## types are checked as users see them: in the wheel
	$(LINT)/bin/ruff check
	$(LINT)/bin/ruff format --check
	rm -rf $(LINT)/dist
	$(LINT)/bin/python -m build --outdir $(LINT)/dist . > $(LINT)/build.log || { cat $(LINT)/build.log; exit 1; }
	$(LINT)/bin/pip install --quiet --force-reinstall --no-deps $(LINT)/dist/*.whl
	$(LINT)/bin/mypy -p graphlift.codemods -p graphlift.transforms

clean:
	rm -rf $(VENV) $(LINT) *.egg-info build dist

$(VENV)/.demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --editable '.[tensorflow]'
	touch $@

$(VENV)/.test: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --editable '.[tensorflow,dev]'
	touch $@ $(VENV)/.demo

$(LINT)/.lint: pyproject.toml
	$(PYTHON) -m venv $(LINT)
	$(LINT)/bin/pip install --quiet '.[dev]'
	touch $@
