# Everything here creates its own virtual environment in .venv with plain python3 and pip.
PYTHON ?= python3
# With EXTRAS=dev,spark the tests run on Spark too: half a gigabyte, and it needs Java.
EXTRAS ?= dev
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help install demo test check lint types imports bare bench docs papers clean

help:  ## List the commands
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

install: $(STAMP)  ## Create .venv and install Sfumato with its development tools

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(EXTRAS)]"
	@touch $@

demo: $(STAMP)  ## Anonymise, detect, decouple, verify and publish the bundled sample
	$(BIN)/sfumato demo

test: $(STAMP)  ## Run the tests and the examples in the docs, with branch coverage
	$(BIN)/python -m pytest -q -n 2 --cov --cov-report=
	$(BIN)/coverage report --fail-under=97

lint: $(STAMP)  ## Check formatting and style
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)  ## Check static types
	$(BIN)/mypy

imports: $(STAMP)  ## Check that imports point downwards
	$(BIN)/lint-imports

bare:  ## Run the demo where only the package itself is installed
	rm -rf $(VENV)-bare
	$(PYTHON) -m venv $(VENV)-bare
	$(VENV)-bare/bin/python -m pip install --quiet --disable-pip-version-check .
	$(VENV)-bare/bin/sfumato demo --output $(VENV)-bare/demo-release
	rm -rf $(VENV)-bare

check: lint types imports test bare  ## Everything CI runs

bench: $(STAMP)  ## Run the benchmarks and rewrite their table
	$(BIN)/python -m benchmarks

docs: $(STAMP)  ## Rewrite the reference pages from the code
	$(BIN)/python -m docs.generate

papers: $(STAMP)  ## Run the experiments of the literature again and rewrite their page
	$(BIN)/python -m docs.papers

clean:  ## Remove the environment and caches
	rm -rf $(VENV) $(VENV)-bare .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
