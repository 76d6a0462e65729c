# make run    set up, then the main job on the sample      make test   set up, then every check and test
# make ui     the Dagster UI on the same lake              make bench  speed and memory, as ratios
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
LAKE ?= data/lake
DUMPS ?= data/sample/dumps
PROFILE ?= sample
PORT ?= 3000

.PHONY: setup setup-gpu run ui test lint types tests gpu-tests bench lock docs clean

setup: .venv/ready

.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-deps --no-compile --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

# One import name, two packages: the GPU build of FAISS takes the place of the other.
setup-gpu: setup
	$(BIN)/python -m pip uninstall --quiet --yes faiss-cpu
	$(BIN)/python -m pip install --quiet "faiss-gpu==1.15.1"

run: setup
	$(BIN)/scholarlake build --lake $(LAKE) --dumps $(DUMPS) --profile $(PROFILE)
	$(BIN)/scholarlake status --lake $(LAKE)

ui: setup
	SCHOLARLAKE_LAKE=$(abspath $(LAKE)) SCHOLARLAKE_DUMPS=$(abspath $(DUMPS)) SCHOLARLAKE_PROFILE=$(PROFILE) \
	$(BIN)/python -m pipelines.ui --port $(PORT)

test: lint types tests

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

tests: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not gpu and not bench"

gpu-tests: setup-gpu
	$(BIN)/python -m pytest -m gpu tests/gpu

bench: setup
	$(BIN)/python -m tests.bench.bench

docs: setup
	$(BIN)/python -m scholarlake.lake.tables_doc > docs/tables.md

# Needs uv: pip install uv
lock:
	uv pip compile --quiet pyproject.toml requirements.in --extra cpu --extra dev --override requirements.override \
	  --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate -o requirements.lock

clean:
	rm -rf .venv data/lake data/bench
