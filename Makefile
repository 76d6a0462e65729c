# make run    set up, then the main job on the sample      make test   set up, then every check and test
# make ui     the Dagster UI on the same lake              make bench  speed and memory, as ratios
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
LAKE ?= data/lake
DUMPS ?= data/sample/dumps
DOCUMENTS ?= data/sample/documents
PROFILE ?= sample
PORT ?= 3000

# Where this is set, every process compiles Dagster, Polars and the rest anew: seconds at each start, and hundreds are started.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup setup-gpu run ui test lint types tests test-long gpu-tests bench fuzz lock docs clean

setup: .venv/ready

.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-deps --no-compile --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

# An environment of its own: FAISS for the processor and for CUDA have one import name, and torch and CUDA stay out of the other.
setup-gpu: .venv-gpu/ready

.venv-gpu/ready: requirements-gpu.lock pyproject.toml
	$(PYTHON) -m venv .venv-gpu
	.venv-gpu/bin/python -m pip install --quiet --no-deps --no-compile --require-hashes -r requirements-gpu.lock
	.venv-gpu/bin/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

run: setup
	$(BIN)/scholarlake build --lake $(LAKE) --dumps $(DUMPS) --documents $(DOCUMENTS) --profile $(PROFILE)
	$(BIN)/scholarlake status --lake $(LAKE)

ui: setup
	SCHOLARLAKE_LAKE=$(abspath $(LAKE)) SCHOLARLAKE_DUMPS=$(abspath $(DUMPS)) \
	SCHOLARLAKE_DOCUMENTS=$(abspath $(DOCUMENTS)) SCHOLARLAKE_PROFILE=$(PROFILE) \
	$(BIN)/python -m pipelines.ui --port $(PORT)

test: lint types tests

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

tests: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not gpu and not bench"

# Hours: ten times as many random sequences of changes, and other ones than in `make test`; 50 kills at random moments.
test-long: setup
	SCHOLARLAKE_SEQUENCES=2000 SCHOLARLAKE_KILLS=50 \
	$(BIN)/python -m pytest -n 2 --dist loadscope tests/properties tests/e2e/test_killed_anywhere.py

gpu-tests: setup-gpu
	.venv-gpu/bin/python tests/gpu/run.py

bench: setup
	$(BIN)/python -m tests.bench.bench
	$(BIN)/python -m tests.bench.formats_bench

# Strangers' bytes at every door, for so many seconds each. Atheris lies apart: nothing else needs it.
FUZZ_SECONDS ?= 120
fuzz: .fuzz/ready
	for target in dump document sentences packed; do \
	  PYTHONPATH=.fuzz $(BIN)/python -m tests.fuzz.run $$target --seconds $(FUZZ_SECONDS) || exit 1; done

.fuzz/ready: .venv/ready
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target .fuzz 'atheris>=3,<4'
	touch $@

docs: setup
	$(BIN)/python -m scholarlake.lake.tables_doc > docs/tables.md

# Needs uv: pip install uv
COMPILE = uv pip compile --quiet pyproject.toml requirements.in --override requirements.override --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-header --no-annotate --extra dev
lock:
	$(COMPILE) --extra cpu -o requirements.lock
	$(COMPILE) --extra gpu --python-platform x86_64-manylinux_2_28 -o requirements-gpu.lock

clean:
	rm -rf .venv .venv-gpu .fuzz data/lake data/bench data/fuzz
