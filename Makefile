# Every target makes its own .venv and installs what it needs.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
BENCH_INSTALLED := .venv/.installed-bench
DOCS_INSTALLED := .venv/.installed-docs
BROWSER := .venv/.browser

.DEFAULT_GOAL := help
.PHONY: help install demo test test-slow docs lint format bench bench-disk bench-docs compare compare-docs paper paper-docs clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(INSTALLED)  ## Make .venv with the library and all tools of development

$(INSTALLED): pyproject.toml
	$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.x")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(INSTALLED)  ## Cluster the handwritten digits; ends with a page to explore
	$(BIN)/python examples/digits.py

$(BROWSER): $(INSTALLED)
	$(BIN)/python tests/browser.py
	@touch $@

test: $(INSTALLED) $(BROWSER)  ## Run the tests, all but the slow ones
	$(BIN)/pytest -n 2 -m "not slow and not docs"

test-slow: $(INSTALLED)  ## Run the slow tests
	$(BIN)/pytest -m slow

$(DOCS_INSTALLED): $(INSTALLED)
	$(BIN)/pip install --quiet --editable '.[docs]'
	@touch $@

docs: $(DOCS_INSTALLED)  ## Make the documentation, run all that it shows, and check its links
	$(BIN)/sphinx-build --fail-on-warning --keep-going docs out/docs
	$(BIN)/pytest -m docs

lint: $(INSTALLED)  ## Check style, types, spelling and docstrings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell
	$(BIN)/python -m numpydoc.hooks.validate_docstrings $$(git ls-files 'src/**/*.py')

format: $(INSTALLED)  ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# As in the tests: the data sets of the paper, where they are at hand.
paper: export MODECLUST_DATA ?= $(wildcard $(CURDIR)/../shared/data)
paper: $(INSTALLED)  ## Reproduce every figure, table and claim of the paper; the page is in out/paper
	@mkdir -p out
	$(BIN)/modeclust paper -o out/paper --force

paper-docs: $(INSTALLED)  ## Show what `make paper` found in the documentation
	$(BIN)/python docs/measured.py paper out/paper

$(BENCH_INSTALLED): $(INSTALLED)
	$(BIN)/pip install --quiet --editable '.[bench]'
	@touch $@

bench: $(BENCH_INSTALLED)  ## Time everything beside its peers, in one run; results in out/bench
	$(BIN)/python benchmarks/run.py

bench-docs: $(INSTALLED)  ## Show what `make bench` measured in the documentation
	$(BIN)/python docs/measured.py benchmarks out/bench

compare: $(BENCH_INSTALLED)  ## Compare clusterings by other libraries on three sets; results in out/comparison
	$(BIN)/python benchmarks/comparison.py

compare-docs: $(INSTALLED)  ## Show what `make compare` found in the documentation
	$(BIN)/python docs/measured.py comparison out/comparison

bench-disk: $(BENCH_INSTALLED)  ## Fit 20 GB from the disk with 4 GB of memory; takes long
	$(BIN)/python benchmarks/from_disk.py

clean:  ## Remove .venv, caches and what the demo made
	rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis dist out
	find . -name __pycache__ -prune -exec rm -rf {} +
