# `make study` reproduces the sample study, `make test` tests; `make help` lists the rest.
PYTHON ?= python3
VENV ?= .venv
# Not abspath: it takes a folder with a space in its path for two.
BIN := $(if $(filter /%,$(VENV)),$(VENV),$(CURDIR)/$(VENV))/bin
# The requirements are whole: exactly they are installed, only from files whose hashes they hold, and
# built by pinned tools.
INSTALL := "$(BIN)/python" -m pip install --quiet --disable-pip-version-check --no-deps
# DVC and Snakemake start programs by name, so the environment's own come first.
export PATH := $(BIN):$(PATH)
export PREFECT_SERVER_ANALYTICS_ENABLED := false
export DO_NOT_TRACK := 1
# Each program would compile the package again: a tenth of its time.
unexport PYTHONDONTWRITEBYTECODE
# Memory that tests have freed goes back to the system: without this a process of theirs keeps a fifth more.
export MALLOC_ARENA_MAX := 2
export MALLOC_TRIM_THRESHOLD_ := 131072
export ARROW_DEFAULT_MEMORY_POOL := system
# Each process begins with tests of its own files and takes over what another has left at the end. There
# is one more than cores, since tests also wait: for servers, programs, intervals.
PYTEST = "$(BIN)/pytest" -n $(shell $(PYTHON) -c 'import os; print(min(os.cpu_count() + 1, 8))') \
	--dist worksteal

.DEFAULT_GOAL := help
.PHONY: help setup study serve docs test test-all test-slow test-long lint sample generated lock clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.tests ## set up .venv with everything that tests and checks need

study: $(VENV)/.runs ## run the sample study: set up, build, print the report's path
	"$(BIN)/snakemake" --cores all
	@cat results/analyze/headline.txt

serve: $(VENV)/.runs ## serve the scheduled flows on this machine until Ctrl-C
	@"$(BIN)/omibench" serve

docs: $(VENV)/.tests ## build the documentation as a site that opens from disk: site/index.html
	NO_MKDOCS_2_WARNING=1 "$(BIN)/mkdocs" build --strict --quiet
	@echo site/index.html

test: $(VENV)/.tests ## the fast tests: every part, without whole studies and browsers (five minutes on two idle cores)
	$(PYTEST) -m "not slow"

test-all: $(VENV)/.tests ## the tests with the slow ones
	$(PYTEST) -m "not long"

test-slow: $(VENV)/.tests ## the slow tests alone: whole studies, killed processes, walks in a browser
	$(PYTEST) --durations=20 -m "slow and not long" $$(grep -rlE --include='*.py' 'mark\.slow|browser' tests)

test-long: $(VENV)/.tests ## load tests, simulation studies, rare courses, many more examples: no gate waits for them
	$(PYTEST) -m long $$(grep -rl --include='*.py' 'mark\.long' tests)
	$(PYTEST) --hypothesis-profile=thorough -m "hypothesis and not slow" $$(grep -rl --include='*.py' '^@given' tests)

lint: $(VENV)/.tests ## style, types, workflow lint, generated files: every check, whichever fails
	@failed=; check() { echo "$$1"; sh -c "$$1" || failed="$$failed\n  $$1"; }; \
	check "ruff check ."; \
	check "ruff format --check ."; \
	check "mypy"; \
	check "snakefmt --check Snakefile rules"; \
	check "snakemake --lint --config study='{results: .snakemake/lint}'"; \
	check "omibench schema | diff - schemas/params.schema.json"; \
	check "omibench files | diff - docs/files.md"; \
	check "python scripts/papers.py | diff - docs/papers.md"; \
	if [ -n "$$failed" ]; then printf "failed:$$failed\n"; exit 1; fi

sample: $(VENV)/.runs ## typeset the sample booklets again
	"$(BIN)/python" sample/build.py

generated: $(VENV)/.runs ## write the schema of params.yaml, docs/files.md, docs/papers.md and the page of dvc plots again
	"$(BIN)/omibench" schema > schemas/params.schema.json
	"$(BIN)/omibench" files > docs/files.md
	"$(BIN)/python" scripts/papers.py > docs/papers.md
	"$(BIN)/python" -m omibench.web.plots_page > .dvc/plots.html

lock: $(VENV)/.tests ## pin the requirements again
	sh scripts/lock.sh

clean: ## remove results and logs; the store of responses stays
	rm -rf results logs .snakemake

$(VENV)/.runs: requirements-build.txt requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "omibench needs Python 3.11 or later: make PYTHON=python3.12 ...")'
	test -x "$(BIN)/python" || $(PYTHON) -m venv "$(VENV)"
	$(INSTALL) --require-hashes -r requirements-build.txt
	$(INSTALL) --require-hashes --no-build-isolation -r requirements.txt
	$(INSTALL) --no-build-isolation -e .
	@touch $@

$(VENV)/.tests: $(VENV)/.runs requirements-dev.txt
	$(INSTALL) --require-hashes --no-build-isolation -r requirements-dev.txt
	@touch $@
