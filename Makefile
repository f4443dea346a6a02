# Each target sets up what it needs in .venv by itself.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
BUILD := --config-settings=cmake.define.DUALFREE_LEVELS=here

.PHONY: demo test lint bench bench-methods bench-threads bench-scaling reproduce clean

demo: $(READY)
	$(BIN)/dualfree demo

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Options of the benchmarks: make bench BENCH="--quick", or "--datasets rcv1 --losses logistic", ...
BENCH ?=
BENCH_READY := .venv-bench/ready

bench: $(BENCH_READY)
	.venv-bench/bin/python -m benchmarks $(BENCH)

bench-methods: $(BENCH_READY)
	.venv-bench/bin/python -m benchmarks.methods $(BENCH)

bench-threads: $(BENCH_READY)
	.venv-bench/bin/python -m benchmarks.threads $(BENCH)

bench-scaling: $(BENCH_READY)
	.venv-bench/bin/python -m benchmarks.scaling $(BENCH)

reproduce: $(READY)
	$(BIN)/dualfree reproduce

clean:
	rm -rf .venv .venv-bench build

$(READY): pyproject.toml CMakeLists.txt $(shell find cpp -type f)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "dualfree needs Python 3.11 or newer; set PYTHON=/path/to/it."; exit 1; }
	$(PYTHON) -m venv .venv
	@echo "Installing dualfree and its tools into .venv (a minute or two) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' $(BUILD)
	touch $(READY)

$(BENCH_READY): pyproject.toml CMakeLists.txt benchmarks/environment.py $(shell find cpp -type f)
	$(PYTHON) -m venv .venv-bench
	@echo "Installing dualfree and its peers into .venv-bench (some minutes) ..."
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[plots,tables,numba]' $(BUILD)
	.venv-bench/bin/python -m benchmarks.environment
	touch $(BENCH_READY)
