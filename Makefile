# make demo    install into .venv and anonymize the bundled sample into demo/
# make test    install all that the tests need and run every check
# make test-fast  the tests of signal processing, networks, metrics and systems: about a minute
# make docs    build the documentation into site/
# make bench   measure speed against peers and limits: one table
# make lock    make the locks anew from constraints.txt and pyproject.toml
# make digests pin the bundled weights anew, after one of them was meant to change
# make audit   ask for known vulnerabilities of what the locks hold
# make sbom    make the software bill of materials anew, after make lock or make digests
# make wheelhouse collect what a machine without a network needs to install voicenym
# make release audit, and build what is published: packages, bill of materials, checksums
# Another Python: make test PYTHON=python3.12        Options for pip: PIP_ARGS=...

SHELL := /bin/sh
.SHELLFLAGS := -euc
.DELETE_ON_ERROR:
.NOTPARALLEL:
.DEFAULT_GOAL := demo
.PHONY: demo test test-fast lint format docs system clean lock digests audit sbom release

fit = $(1) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13; do \
	$(call fit,$$p) && { echo $$p; break; }; done)
# Where modules are not compiled to files, every process of the tests compiles them anew.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
PIP_ARGS ?=
PIP := PIP_NO_INPUT=1 $(BIN)/pip --disable-pip-version-check
# Only files whose hash is in a lock. A lock is complete, so that nothing is looked up beside it.
# Python compiles the modules that it imports; to compile all that come along takes one to two minutes.
LOCKED := install --quiet --no-compile --no-deps --require-hashes --only-binary :all: $(PIP_ARGS)
# voicenym itself, built by what the lock holds.
OWN := install --quiet --no-deps --no-build-isolation --editable .
GPU := import sys, importlib.metadata as m; \
	sys.exit(not any(n.startswith(("nvidia-", "cuda-", "triton")) for n in m.requires("torch")))
# The build of torch without GPU libraries, where pip is told of a place that has it.
SMALL := $(PIP) $(LOCKED) -r locks/torch-cpu.txt 2>/dev/null || true
# What the build of torch for GPUs needs, where that is the one that was installed; then whether all
# is there. Only Resemblyzer's weights are used, not what it asks for.
COMPLETE := ! $(BIN)/python -c '$(GPU)' || $(PIP) $(LOCKED) -r locks/gpu.txt; \
	! $(PIP) check | grep -v -e '^No broken' -e '^resemblyzer ' >&2

demo: $(VENV)/.base
	mkdir -p demo
	$(BIN)/voicenym anonymize samples/sample.wav -o demo/sample.anon.wav --overwrite
	@echo "listen: samples/sample.wav, demo/sample.anon.wav"

# Each process gets tests that follow each other, which share speech and weights. On two cores a
# third and a fourth one fill the time in which tests wait for servers and devices.
PYTEST := $(BIN)/pytest -n 4 --dist worksteal --durations=20
LINT := $(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports
# Rooms whose tests start no process and train next to nothing.
FAST := $(addprefix tests/,audio dsp metrics nets systems test_pseudonym.py)

# Programs are installed while the environment is filled, but for what makes an environment.
.PHONY: ready
ready:
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || $(MAKE) system
	@$(MAKE) system & programs=$$!; $(MAKE) $(VENV)/.dev; wait $$programs

# One process compiles the modules and the tests before all others read them, beside the checkers,
# which use one core and a minute or more.
test: ready
	{ $(LINT); } >$(VENV)/lint.log 2>&1 & lint=$$!; failed=0; \
	$(BIN)/pytest --collect-only -q >/dev/null 2>&1 || true; \
	$(PYTEST) || failed=1; wait $$lint || failed=1; cat $(VENV)/lint.log; exit $$failed

test-fast: $(VENV)/.dev
	$(PYTEST) -q -m "not slow" $(FAST)

lint: $(VENV)/.dev
	$(LINT)

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/table.py

clean:
	rm -rf demo site build dist

# Fuzz all that reads files of others: make fuzz COUNT=20000 SEED=0
COUNT ?= 20000
SEED ?= 0
.PHONY: fuzz
fuzz: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python tests/security/fuzzing --count $(COUNT) --seed $(SEED)

# Each stamp holds until what it was installed from changes.
$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "voicenym needs Python 3.11 or later" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml locks/base.txt locks/gpu.txt | $(BIN)/python
	$(SMALL)
	$(PIP) $(LOCKED) -r locks/base.txt
	$(PIP) $(OWN)
	$(COMPLETE)
	touch $@

$(VENV)/.dev: pyproject.toml locks/dev.txt locks/gpu.txt locks/resemblyzer.txt locks/croissant.txt \
		| $(BIN)/python
	$(SMALL)
	$(PIP) $(LOCKED) -r locks/dev.txt -r locks/resemblyzer.txt
	$(PIP) $(LOCKED) --no-build-isolation --no-binary jsonpath-rw -r locks/croissant.txt
	$(PIP) $(OWN)
	$(COMPLETE)
	touch $@ $(VENV)/.base

$(VENV)/.docs: pyproject.toml locks/docs.txt locks/gpu.txt | $(BIN)/python
	$(SMALL)
	$(PIP) $(LOCKED) -r locks/docs.txt
	$(PIP) $(OWN)
	$(COMPLETE)
	touch $@ $(VENV)/.base

# Tools of a release have an environment of their own.
TOOLS := $(VENV)/tools
$(TOOLS)/.done: locks/release.txt | $(BIN)/python
	$(BIN)/python -m venv $(TOOLS)
	PIP_NO_INPUT=1 $(TOOLS)/bin/pip --disable-pip-version-check $(LOCKED) -r locks/release.txt
	touch $@

# The first lock of all needs a uv from elsewhere: make lock UV=uv
UV ?= $(TOOLS)/bin/uv
TORCH_CPU ?=
lock: $(if $(filter $(TOOLS)/%,$(UV)),$(TOOLS)/.done) | $(BIN)/python
	$(BIN)/python tools/locks.py $(UV) $(TORCH_CPU)

digests: | $(BIN)/python
	$(BIN)/python tools/digests.py

# --strict: a package that could not be looked up is a failure, and no good news.
audit: $(TOOLS)/.done
	for lock in base croissant dev docs gpu release resemblyzer; do $(TOOLS)/bin/pip-audit \
		--strict --disable-pip --require-hashes -r locks/$$lock.txt; done

sbom: $(TOOLS)/.done
	$(TOOLS)/bin/python tools/sbom.py

# Wheel and source package have the time of the last commit, so that anybody can build the same bytes.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 946684800)
release: audit sbom
	rm -rf dist
	$(TOOLS)/bin/python -m hatchling build -d dist
	cp locks/sbom.cdx.json dist/voicenym.cdx.json
	cd dist && sha256sum *.whl *.tar.gz *.json > SHA256SUMS

# Everything that a machine without a network needs, of this system and Python: wheels, and a lock of
# them with their hashes. With all extras: make wheelhouse LOCK=dev
LOCK ?= base
.PHONY: wheelhouse
wheelhouse: $(TOOLS)/.done | $(BIN)/python
	rm -rf wheelhouse && mkdir wheelhouse
	$(TOOLS)/bin/python -m hatchling build -t wheel -d wheelhouse
	PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python tools/wheelhouse.py wheelhouse \
		--lock $(LOCK) $(PIP_ARGS)
	cd wheelhouse && sha256sum *.whl *.txt > SHA256SUMS

# The tests make their speech with flite and espeak-ng, look at files with ffmpeg, watch connections
# with strace, open the report in chromium, and hold live sessions over a sound server of their own.
PROGRAMS := flite espeak-ng ffmpeg chromium strace
SOUND := wireplumber pipewire-pulse pipewire-alsa pulseaudio-utils libportaudio2 dbus-daemon
system:
	@test -n "$(PYTHON)" || { echo "voicenym needs Python 3.11 or later" >&2; exit 1; }
	@missing=""; for p in $(PROGRAMS); do command -v $$p >/dev/null || missing="$$missing $$p"; done; \
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || missing="$$missing python3-venv"; \
	sound=""; command -v pactl >/dev/null || sound=" $(SOUND)"; \
	test -n "$$missing$$sound" || exit 0; \
	if [ "$$(id -u)" = 0 ]; then as=""; elif sudo -n true 2>/dev/null; then as="sudo -n"; \
	else echo "please install:$$missing$$sound (tests that need them are skipped)" >&2; exit 0; fi; \
	command -v apt-get >/dev/null || { echo "please install:$$missing$$sound" >&2; exit 0; }; \
	$$as apt-get update -qq </dev/null || true; \
	for group in "$$missing" "$$sound"; do \
		test -z "$$group" || $$as env DEBIAN_FRONTEND=noninteractive \
			apt-get install -y -qq --no-install-recommends $$group </dev/null >/dev/null \
		|| echo "could not install:$$group (tests that need them are skipped)" >&2; done
