# Everything here creates its own virtual environment in .venv with plain python3 and pip, and
# puts into it what the command needs: the package alone, what tests need, or everything.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable
ALONE  := $(VENV)/.alone
TEST   := $(VENV)/.test
DEV    := $(VENV)/.dev
SITE   := $(VENV)/.site
RUN    := $(BIN)/python -m pytest -q -n 2
ALL    := $(RUN) --lane full --cov --cov-report=
REST   := $(RUN) --lane rest

# A hundred tests start Python anew: what it compiled is worth keeping.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo test test-all test-rest check lint types imports bare bench fuzz docs site papers clean

help:  ## List the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(ALONE): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) .
	@touch $@

$(TEST): $(ALONE)
	$(PIP) ".[test]"
	@touch $@

$(DEV): $(TEST)
	$(PIP) ".[dev]"
	@touch $@

$(SITE): $(ALONE)
	$(PIP) ".[site]"
	@touch $@

demo: $(ALONE)  ## Anonymise, detect, decouple, verify and publish the bundled sample
	$(BIN)/sfumato demo

test: $(TEST)  ## Run the tests that need nothing but Python, and the examples in the docs
	$(RUN)

# One process has the tests with servers, so that there is one Spark and one PostgreSQL; meanwhile
# others have the rest. Servers make it wait, so there is room for both.
test-all: $(DEV)  ## Run all tests, on real servers, Spark, Weka and a browser, with coverage
	@COVERAGE_FILE=.coverage-servers $(ALL) -n 0 -m "spark or postgres" >$(VENV)/servers.log 2>&1 & \
	servers=$$!; \
	COVERAGE_FILE=.coverage-rest $(ALL) -m "not (spark or postgres)"; rest=$$?; \
	wait $$servers; servers=$$?; \
	cat $(VENV)/servers.log; \
	exit $$((servers + rest))
	$(BIN)/coverage combine --quiet .coverage-servers .coverage-rest
	$(BIN)/coverage report --fail-under=97

# What is left to do after the fast lane; CI has run that already, as newcomers do.
test-rest: $(DEV)  ## Run what the fast lane leaves out, or does less of
	@$(REST) -n 0 -m "spark or postgres" >$(VENV)/servers.log 2>&1 & \
	servers=$$!; \
	$(REST) -m "not (spark or postgres)"; rest=$$?; \
	wait $$servers; servers=$$?; \
	cat $(VENV)/servers.log; \
	exit $$((servers + rest))

install: $(DEV)  ## Create .venv and install Sfumato with all development tools

lint: $(DEV)  ## Check formatting and style
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(DEV)  ## Check static types
	$(BIN)/mypy

imports: $(DEV)  ## Check that imports point downwards
	$(BIN)/lint-imports

bare:  ## Run the demo where only the package itself is installed
	rm -rf $(VENV)-bare
	$(PYTHON) -m venv $(VENV)-bare
	$(VENV)-bare/bin/python -m pip install --quiet --disable-pip-version-check .
	$(VENV)-bare/bin/sfumato demo --output $(VENV)-bare/demo-release
	rm -rf $(VENV)-bare

check: lint types imports test-all bare  ## Everything a change must pass

bench: $(DEV)  ## Run the benchmarks and rewrite their table
	$(BIN)/python -m benchmarks

# New seeds every time; a fault is kept in tests/fuzz/corpus and printed with how to try it again.
SECONDS ?= 600
fuzz: $(DEV)  ## Let the guards look for faults: make fuzz SECONDS=3600 SEED=1
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

docs: $(DEV)  ## Rewrite the reference pages from the code
	$(BIN)/python -m docs.generate

site: $(SITE)  ## Build the documentation as a site that works from disk: site/index.html
	$(BIN)/python -m docs.site

# Needs one public file and nothing else; without it, it says where that comes from.
papers: $(DEV)  ## Run the experiments of the literature again: make papers ADULT=path/to/adult.data
	$(BIN)/python -m docs.papers $(if $(ADULT),--adult "$(ADULT)")

clean:  ## Remove the environment and caches
	rm -rf $(VENV) $(VENV)-bare .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build site
