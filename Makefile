# Each target sets up what it needs in .venv by itself.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test lint bench reproduce clean

demo: $(READY)
	$(BIN)/dualfree demo

test: $(READY)
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m benchmarks

reproduce: $(READY)
	$(BIN)/dualfree reproduce

clean:
	rm -rf .venv build

$(READY): pyproject.toml CMakeLists.txt $(shell find cpp -type f)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "dualfree needs Python 3.11 or newer; set PYTHON=/path/to/it."; exit 1; }
	$(PYTHON) -m venv .venv
	@echo "Installing dualfree and its tools into .venv (a minute or two) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(READY)
