# make demo    install into .venv and anonymize the bundled sample into demo/
# make test    install all that the tests need and run every check
# make docs    build the documentation into site/
# Another Python: make test PYTHON=python3.12        Options for pip: PIP_ARGS=...

SHELL := /bin/sh
.SHELLFLAGS := -euc
.DELETE_ON_ERROR:
.NOTPARALLEL:
.DEFAULT_GOAL := demo
.PHONY: demo test lint format docs system clean

fit = $(1) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13; do \
	$(call fit,$$p) && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
PIP_ARGS ?=
INSTALL := PIP_NO_INPUT=1 $(BIN)/pip install --quiet --disable-pip-version-check \
	-c constraints.txt $(PIP_ARGS)

demo: $(VENV)/.base
	mkdir -p demo
	$(BIN)/voicenym anonymize samples/sample.wav -o demo/sample.anon.wav --overwrite
	@echo "listen: samples/sample.wav, demo/sample.anon.wav"

test: system lint
	$(BIN)/pytest -n 2

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf demo site build dist

# Each stamp holds until what it was installed from changes.
$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "voicenym needs Python 3.11 or later" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) -e .
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) -e ".[lhotse,evaluate,recognisers,train,dev]"
	$(INSTALL) --no-deps resemblyzer
	touch $@ $(VENV)/.base

$(VENV)/.docs: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) -e ".[docs]"
	touch $@ $(VENV)/.base

# The tests make their speech with flite and espeak-ng, look at files with ffmpeg, and open the
# report in chromium.
PROGRAMS := flite espeak-ng ffmpeg chromium
system:
	@test -n "$(PYTHON)" || { echo "voicenym needs Python 3.11 or later" >&2; exit 1; }
	@missing=""; for p in $(PROGRAMS); do command -v $$p >/dev/null || missing="$$missing $$p"; done; \
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || missing="$$missing python3-venv"; \
	test -n "$$missing" || exit 0; \
	if [ "$$(id -u)" = 0 ]; then as=""; elif sudo -n true 2>/dev/null; then as="sudo -n"; \
	else echo "please install:$$missing (tests that need them are skipped)" >&2; exit 0; fi; \
	command -v apt-get >/dev/null || { echo "please install:$$missing" >&2; exit 0; }; \
	$$as apt-get update -qq </dev/null || true; \
	$$as env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		$$missing </dev/null >/dev/null \
	|| echo "could not install:$$missing (tests that need them are skipped)" >&2
