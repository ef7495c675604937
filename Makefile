# `make study` reproduces the sample study, `make test` tests; `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
# DVC and Snakemake start programs by name, so the environment's own come first.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export PREFECT_SERVER_ANALYTICS_ENABLED := false
export DO_NOT_TRACK := 1

.DEFAULT_GOAL := help
.PHONY: help study test test-all lint sample generated lock clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

study: .venv/.runs ## run the sample study: set up, build, print the report's path
	snakemake --cores all
	@cat results/analyze/headline.txt

test: .venv/.tests ## the tests (under ten minutes on two cores)
	pytest -m "not slow"

test-all: .venv/.tests ## the tests with the slow ones
	pytest

lint: .venv/.tests ## style, types, workflow lint, generated files
	ruff check .
	ruff format --check .
	mypy
	snakefmt --check Snakefile rules
	snakemake --lint
	omibench schema | diff - schemas/params.schema.json
	omibench files | diff - docs/files.md

sample: .venv/.runs ## typeset the sample booklets anew
	python sample/build.py

generated: .venv/.runs ## write the schema of params.yaml and docs/files.md anew
	omibench schema > schemas/params.schema.json
	omibench files > docs/files.md

lock: .venv/.tests ## pin the requirements anew
	sh scripts/lock.sh

clean: ## remove results and logs; the store of responses stays
	rm -rf results logs .snakemake

.venv/.runs: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "omibench needs Python 3.11 or later: make PYTHON=python3.12 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.venv/.tests: .venv/.runs requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@
