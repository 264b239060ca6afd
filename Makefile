# Everything from a clean clone, with Python 3.11 or newer, make and git.

PYTHON ?= python3
VENV := .venv
LINT := .venv-lint
export TF_CPP_MIN_LOG_LEVEL ?= 3

.PHONY: demo test golden sweep lint clean

demo: $(VENV)/.demo  ## record the corpus, lift it, run both, compare and time
	$(VENV)/bin/graphlift record -- $(VENV)/bin/python corpus/run.py > $(VENV)/record.log
	$(VENV)/bin/graphlift verify corpus/

test: $(VENV)/.test
	$(VENV)/bin/python -m pytest --numprocesses auto --dist worksteal

golden: $(VENV)/.test  ## write the lifted texts of rules and corpus anew
	$(VENV)/bin/python -m pytest tests/rules tests/corpus --update-rules --update-golden

sweep: $(VENV)/.test  ## lift many random programs (SEED=...) and hold them against what they did
	$(VENV)/bin/python tests/random_programs.py --n 2000 --seed $(or $(SEED),0) --seconds 1800
	$(VENV)/bin/python tests/random_programs.py --effects --n 500 --seed $(or $(SEED),0) --seconds 600

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
