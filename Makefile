# Two commands do everything on a machine with Python 3.11 or newer: make talk, make test.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
export PYTHONUTF8 := 1

.PHONY: talk test check format models bench clean

talk: $(VENV)/installed ## install, then talk to BMO in the terminal
	@$(BIN)/bmo chat

test: $(VENV)/installed-dev ## install, then run the tests
	$(BIN)/python -m pytest

check: $(VENV)/installed-dev ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

models: $(VENV)/installed-training ## train the encoder from training/data (some two hours on two cores, by the time of a step)
	$(BIN)/python -m training.glossary
	$(BIN)/python -m training.train

bench: $(VENV)/installed-dev ## the budgets of the design, measured here
	$(BIN)/bmo bench

clean:
	rm -rf $(VENV)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "BMO needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
	  rm -rf $(VENV); echo "Python's venv module is incomplete here; on Debian or Ubuntu install it with: apt install python3-venv"; exit 1; }

$(VENV)/installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing BMO into $(VENV) (once, about a minute) ..."
	@$(PIP) install --quiet -c constraints.txt -e .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	@echo "Installing the test tools into $(VENV) ..."
	@$(PIP) install --quiet -c constraints.txt -e ".[dev,postgres]"
	@touch $@

$(VENV)/installed-training: $(VENV)/installed-dev training/requirements.txt
	@$(PIP) install --quiet -r training/requirements.txt
	@touch $@
