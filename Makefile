# Everything here creates its own virtual environment in .venv with plain python3 and pip, and
# puts into it what the command needs: the package alone, what tests need, or everything.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile
PIP    := $(BIN)/python $(INSTALL) --editable
ALONE  := $(VENV)/.alone
TEST   := $(VENV)/.test
DEV    := $(VENV)/.dev
SITE   := $(VENV)/.site
# Each of two processes has half of the tests, and takes some of the other's when it is done.
RUN    := $(BIN)/python -m pytest -q -n 2 --dist worksteal
ALL    := $(RUN) --lane full --cov --cov-report=
REST   := $(RUN) --lane rest

# Python compiles what is imported, and keeps it for the tests that start it anew: pip need not
# compile everything.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo test test-all test-rest check lint types typed imports package start extras pythons oldest \
	few bench fuzz sanitize docs cases site papers clean

help:  ## List the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

# Who has more has the package, too, so that a first `make test` builds it once.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(ALONE): pyproject.toml | $(BIN)/python
	$(PIP) .
	@touch $@

$(TEST): pyproject.toml | $(BIN)/python
	$(PIP) ".[test]"
	@touch $(ALONE) $@

$(DEV): pyproject.toml | $(BIN)/python
	$(PIP) ".[dev]"
	@touch $(ALONE) $(TEST) $@

$(SITE): pyproject.toml | $(BIN)/python
	$(PIP) ".[site]"
	@touch $(ALONE) $@

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
test-rest: $(DEV)  ## Run what the fast lane leaves out, and other examples
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

# What users of a type checker see, in the package as it is installed. Inner parts may lack some.
typed:  ## Check with a second tool that every public function has all its types
	rm -rf $(VENV)-typed
	$(PYTHON) -m venv $(VENV)-typed
	$(VENV)-typed/bin/python $(INSTALL) . "pyright[nodejs]>=1.1.400"
	. $(VENV)-typed/bin/activate && pyright --verifytypes sfumato --ignoreexternal >$(VENV)-typed/found || true
	@grep "completeness score" $(VENV)-typed/found
	@! grep -A2 '^sfumato\.[a-zA-Z_]*$$' $(VENV)-typed/found
	rm -rf $(VENV)-typed

imports: $(DEV)  ## Check that imports point downwards
	$(BIN)/lint-imports

# What is published: built apart from this folder, looked at, and tried where nothing else is. The
# source must build without a compiler, hold nothing that is not in the repository, and make the
# same wheel again, byte for byte.
package:  ## Build wheel and source, check both, and run the demo where only one of them is installed
	rm -rf dist $(VENV)-release $(VENV)-bare
	$(PYTHON) -m venv $(VENV)-release
	$(VENV)-release/bin/python $(INSTALL) ".[release]"
	$(VENV)-release/bin/python -m build --outdir dist .
	$(VENV)-release/bin/twine check --strict dist/*
	$(VENV)-release/bin/check-wheel-contents dist/*.whl
	@tar -tzf dist/*.tar.gz | sed 's,^[^/]*/,,' | grep -vx PKG-INFO | LC_ALL=C sort >$(VENV)-release/held
	@git ls-files | LC_ALL=C sort | LC_ALL=C comm -13 - $(VENV)-release/held >$(VENV)-release/more
	@! grep . $(VENV)-release/more || { echo "The source holds files that are not in the repository."; exit 1; }
	mkdir $(VENV)-release/again && tar -xzf dist/*.tar.gz --strip-components 1 -C $(VENV)-release/again
	cd $(VENV)-release/again && $(CURDIR)/$(VENV)-release/bin/python -m build --wheel --outdir . .
	cmp dist/*.whl $(VENV)-release/again/*.whl
	$(PYTHON) -m venv $(VENV)-bare
	$(VENV)-bare/bin/python $(INSTALL) dist/*.whl
	$(VENV)-bare/bin/sfumato demo --output $(VENV)-bare/demo-release
	CC=false $(VENV)-bare/bin/python $(INSTALL) --no-deps --force-reinstall dist/*.tar.gz
	@! find $(VENV)-bare -name "_kernel.*.so" | grep .
	$(VENV)-bare/bin/sfumato demo --rows 1000 --output $(VENV)-bare/demo-release
	rm -rf $(VENV)-release $(VENV)-bare

# For people without a terminal: see docs/get-started/install.md. It is opened as a double-click
# does, but for the browser: whoever has no token is turned away, so the app is there.
start:  ## Build dist/sfumato.pyz, the app in one file, and start it once
	$(PYTHON) packaging/build_start.py dist/sfumato.pyz
	$(PYTHON) dist/sfumato.pyz --version
	@$(PYTHON) dist/sfumato.pyz app --no-browser --port 8765 & app=$$!; \
	told=$$(curl --silent --retry 60 --retry-connrefused --retry-delay 1 --output /dev/null \
	  --write-out '%{http_code}' http://127.0.0.1:8765/); \
	kill $$app; wait $$app; \
	test "$$told" = 403 && echo "dist/sfumato.pyz starts."

# Takes ten minutes and most of what can be installed, so CI does not do it for every change.
extras:  ## Install each extra for users alone, from the wheel, and run a first example of it
	rm -rf dist $(VENV)-release
	$(PYTHON) -m venv $(VENV)-release
	$(VENV)-release/bin/python $(INSTALL) "build>=1.2"
	$(VENV)-release/bin/python -m build --wheel --outdir dist .
	$(PYTHON) -m tests.extras dist/*.whl
	rm -rf $(VENV)-release

# Folders in which versions of Python and of libraries show, without servers.
FEW := tests/cli/test_help.py tests/evidence tests/hierarchy tests/models tests/tables/test_office.py \
	tests/tables/test_types.py tests/tasks/test_anonymize.py
few: $(TEST)  ## Run the tests of a few folders
	$(RUN) $(FEW)

PYTHONS ?= python3.11 python3.12 python3.13 python3.14
pythons:  ## Run some tests with every supported Python that is here: make pythons PYTHONS=python3.13
	@for python in $(PYTHONS); do \
		if ! $$python -c "" 2>/dev/null; then echo "$$python is not here"; continue; fi; \
		$(MAKE) few PYTHON=$$python VENV=$(VENV)-pythons || exit 1; \
		rm -rf $(VENV)-pythons; \
	done

oldest:  ## Run some tests with the oldest libraries that users may have
	$(PYTHON) -m tests.oldest >.oldest.txt
	PIP_CONSTRAINT=$(CURDIR)/.oldest.txt $(MAKE) few VENV=$(VENV)-oldest
	rm -rf $(VENV)-oldest .oldest.txt

check: lint types imports test-all package  ## Everything a change must pass

bench: $(DEV)  ## Run the benchmarks and rewrite their table
	$(BIN)/python -m benchmarks

# New seeds every time; a fault is kept in tests/fuzz/corpus and printed with how to try it again.
SECONDS ?= 600
fuzz: $(DEV)  ## Let the guards look for faults: make fuzz SECONDS=3600 SEED=1
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

# A copy of the package, so that nobody's work meets a build that needs its runtime loaded first.
# Leaks are not looked for: Python itself keeps memory until its end.
CHECKED := $(VENV)-sanitize
CHECKS  := -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
sanitize: $(TEST)  ## Try the compiled loops with a build that stops at any access outside an array
	rm -rf $(CHECKED)
	mkdir $(CHECKED)
	cp -R src/sfumato $(CHECKED)/sfumato
	rm -f $(CHECKED)/sfumato/search/_kernel.*.so
	$(CC) -shared -fPIC -std=c11 -Wall -Wextra -Werror $(CHECKS) \
		-I$$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('include'))") \
		-o $(CHECKED)/sfumato/search/_kernel.abi3.so src/sfumato/search/_kernel.c
	. $(BIN)/activate && export LD_PRELOAD="$$($(CC) -print-file-name=libasan.so)" PYTHONMALLOC=malloc \
		ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=$(CHECKED) && \
		python -c "from sfumato.search import kernel; assert '-sanitize' in kernel.COMPILED.__file__" && \
		python -m pytest -q -n 0 --lane full -o pythonpath="$(CHECKED) ." tests/search/test_kernel.py
	rm -rf $(CHECKED)

docs: $(DEV)  ## Write the reference pages into docs/reference, to read them there
	$(BIN)/python -m docs.generate

cases: $(DEV)  ## Run the notebooks of the worked cases, and keep what they show
	$(BIN)/python -m docs.cases

site: $(SITE)  ## Build the documentation as a site that works from disk: site/index.html
	$(BIN)/python -m docs.site

# Needs one public file and nothing else; without it, it says where that comes from.
papers: $(DEV)  ## Run the experiments of the literature again, a long while: make papers ADULT=path/to/adult.data
	$(BIN)/python -m docs.papers $(if $(ADULT),--adult "$(ADULT)")

clean:  ## Remove the environment and caches
	rm -rf $(VENV) $(VENV)-release $(VENV)-bare $(VENV)-typed $(VENV)-pythons $(VENV)-oldest $(CHECKED) .oldest.txt .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build site
