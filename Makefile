# `make help` lists what there is. Everything runs in an environment of its own, .venv; nothing else is touched.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
ARGS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt
PINS := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.PHONY: help setup train test check format format-check lint types layers site docs linkcheck groups golden bench marks clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit("bg_env needs Python 3.10 or newer: make PYTHON=python3.12 ..." if sys.version_info < (3, 10) else 0)'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.train: $(VENV)/.made $(PINS)
	@echo "Installing bg_env and what training needs into $(VENV) (once, a few minutes) ..."
	@$(PIP) -e '.[train]'
	@touch $@

$(VENV)/.dev: $(VENV)/.made $(PINS)
	@echo "Installing bg_env and all that its tests need into $(VENV) (once, a few minutes) ..."
	@$(PIP) -e '.[dev]'
	@touch $(VENV)/.train $@

setup: $(VENV)/.dev ## the environment with everything that development needs

train: $(VENV)/.train ## train an agent against the random player, then evaluate it; options in ARGS="..."
	$(BIN)/python -m bg_env train $(ARGS)

test: $(VENV)/.dev ## all tests
	$(BIN)/python -m pytest -n $(JOBS) $(ARGS)

check: format-check lint types layers site test ## all that must hold before a commit

format: $(VENV)/.dev ## put the code in its usual form
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

format-check: $(VENV)/.dev
	$(BIN)/ruff format --check .

lint: $(VENV)/.dev ## ruff
	$(BIN)/ruff check .

types: $(VENV)/.dev ## mypy --strict over the package and the examples
	$(BIN)/mypy

layers: $(VENV)/.dev ## who may import whom
	$(BIN)/lint-imports --no-logo

site: $(VENV)/.dev ## the documentation site, into site/: every warning is an error
	$(BIN)/python -m sphinx -W --keep-going -qE -b html docs site

docs: site ## the site, and every code block of README and docs run, every link followed
	$(BIN)/python -m pytest -n 0 -q tests/test_docs_code.py tests/test_docs_site.py

linkcheck: $(VENV)/.dev ## the links of the site that lead to other sites; not a part of CI, which may have no network
	$(BIN)/python -m sphinx -q -b linkcheck docs build/linkcheck

groups: ## the RL libraries that cannot all live together, each group in an environment of its own
	PYTHON=$(PYTHON) .ci/groups

golden: $(VENV)/.dev ## rewrite the golden files; read the difference before you commit it
	$(BIN)/python -m pytest -n 0 -q --golden -k test_golden

bench: $(VENV)/.dev ## measure the speed of the engine and of other libraries
	$(BIN)/python -m benchmarks $(ARGS)

marks: $(VENV)/.dev ## marks of style to steer by: long modules, wide functions, parameters that are Any
	$(BIN)/python tests/style_marks.py

clean: ## remove the environment and all that was built
	rm -rf $(VENV) build dist site htmlcov .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find bg_env tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} +
