# Needs Python 3.10+ and nothing else: compiler, cmake and ninja come from PyPI into .venv.
#
#   make demo    set up, couple a flexible arm with motors and controller (three FMUs), run it, leave a report in build/out/demo
#   make test    set up with the development tools, run every test
#   make setup   .venv with an editable install and the development tools
#   make kernel  compile the C kernel alone after an edit (make setup, test, demo and bench compile the FMU binaries too)
#   make lint    ruff, mypy, who may know whom, warnings and symbols of the kernel
#   make fuzz    attack everything with mutated input until the counts are reached; FUZZ_MINUTES=480 goes on all night
#   make kills   kill writing commands 500 times by strace, and let each write fail: files are old or new, never else
#   make bench   set up with the peers, run the benchmarks
#   make clean   remove build output; the .venv stays
#
# PYTHON=python3.12 chooses the Python for a new .venv; BOUGH_CC=gcc another C compiler; PYTEST_ARGS is handed to pytest,
# FUZZ_ARGS to the fuzzer: FUZZ_ARGS="--only state --seed 7".

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=
JOBS ?= 2
FUZZ_MINUTES ?= 0
FUZZ_ARGS ?=

.PHONY: demo test setup kernel lint fuzz kills bench clean runtime tools
.DEFAULT_GOAL := help

help:
	@sed -n 's/^#   //p' Makefile

runtime:
	@$(PYTHON) build/setup_venv.py --venv $(VENV) --extras fmu
	@$(BIN)/python build/rebuild_kernel.py

setup:
	@$(PYTHON) build/setup_venv.py --venv $(VENV) --extras dev
	@$(BIN)/python build/rebuild_kernel.py

kernel:
	@$(BIN)/python build/rebuild_kernel.py --kernel-only

tools:
	@sh build/ci_tools.sh

demo: runtime
	$(BIN)/bough demo -o build/out/demo

test: setup tools
	$(BIN)/python -m pytest -n $(JOBS) $(PYTEST_ARGS)

lint: setup tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python build/check_kernel.py

fuzz: setup tools
	$(BIN)/python tests/fuzz/night.py --minutes $(FUZZ_MINUTES) --jobs $(JOBS) $(FUZZ_ARGS)

kills: setup tools
	BOUGH_KILLS=500 BOUGH_FAILURES=200 $(BIN)/python -m pytest tests/files/test_kills.py

bench:
	@$(PYTHON) build/setup_venv.py --venv $(VENV) --extras dev,bench
	@$(BIN)/python build/rebuild_kernel.py
	$(BIN)/python -m benchmarks

clean:
	rm -rf build/out dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -f $(VENV)/.bough-setup.json
