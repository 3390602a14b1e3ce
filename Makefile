# Every target makes its own .venv and installs what it needs.
PYTHON ?= python3
BIN := .venv/bin
TOOLS := .venv/.tools
INSTALLED := .venv/.installed
BENCH_INSTALLED := .venv/.installed-bench
DOCS_INSTALLED := .venv/.installed-docs
RELEASE_INSTALLED := .venv/.installed-release
BROWSER := .venv/.browser
QUICK := "not slow and not docs and not package"
LOWEST_PYTHON ?= 3.11
# uv does not read pip's settings, in which the index of packages may be another.
INDEX = $(or $(PIP_INDEX_URL),$(shell $(PYTHON) -m pip config get global.index-url 2>/dev/null))
WITH_INDEX = $(if $(INDEX),UV_DEFAULT_INDEX=$(INDEX))

# The core is compiled again when one of these changes, and only what changed.
CORE := CMakeLists.txt $(wildcard cmake/*.cmake src/modeclust/core/*.?pp)
EDITABLE := $(BIN)/pip install --quiet --no-build-isolation -Cbuild-dir='build/{wheel_tag}' --editable
# Where the machine has no C++ compiler, that of the package ziglang compiles.
COMPILER := $(or $(filter-out default,$(origin CXX)),$(shell for name in c++ g++ clang++; do command -v $$name || true; done))
export MODECLUST_ZIG ?= $(if $(COMPILER),,1)
ZIG := $(shell sed -n 's/^build.requires = \["\(ziglang[^"]*\)"\]$$/\1/p' pyproject.toml)

.DEFAULT_GOAL := help
.PHONY: help install demo test test-slow test-lowest sanitize coverage coverage-core fuzz docs lint lint-core format package audit release-check paper paper-docs bench bench-docs compare compare-docs battery battery-docs bench-disk clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 15

install: $(INSTALLED)  ## Make .venv with the library and all tools of development

$(TOOLS): pyproject.toml
	$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.x")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --group build $(if $(MODECLUST_ZIG),'$(ZIG)')
	@touch $@

$(INSTALLED): $(TOOLS) $(CORE)
	$(EDITABLE) '.[dev]' --group reproduction
	@touch $@

demo: $(INSTALLED)  ## Cluster the handwritten digits; ends with a page to explore
	$(BIN)/python examples/digits.py

$(BROWSER): pyproject.toml tests/browser.py | $(INSTALLED)
	$(BIN)/python tests/browser.py
	@touch $@

test: $(INSTALLED) $(BROWSER)  ## Run the tests, all but the slow ones
	$(BIN)/pytest -n 2 --dist worksteal -m $(QUICK)

test-slow: $(INSTALLED) $(BROWSER)  ## Run the slow tests
	$(BIN)/pytest -n 2 --dist worksteal -m slow

test-lowest: $(INSTALLED) $(RELEASE_INSTALLED) $(BROWSER)  ## Run the tests with the lowest Python and versions that are declared
	$(BIN)/uv venv --quiet --clear --python $(LOWEST_PYTHON) .venv/lowest
	$(WITH_INDEX) $(BIN)/uv pip install --quiet --python .venv/lowest --resolution lowest-direct --editable '.[test]' --group reproduction
	.venv/lowest/bin/pytest -n 2 --dist worksteal -m $(QUICK)

sanitize: $(INSTALLED)  ## Run the tests of the core under sanitizers: address and undefined, then thread
	$(BIN)/python tests/sanitize.py

coverage: $(INSTALLED) $(BROWSER)  ## Measure which lines and branches the tests reach; fails below the floor
	$(BIN)/pytest -n 2 --dist worksteal -m $(QUICK) --cov --cov-report=term-missing --cov-report=html:out/coverage

coverage-core: $(INSTALLED)  ## Measure which lines of the core its tests reach; fails below the floor
	$(BIN)/python tests/core_coverage.py

MINUTES ?= 10
fuzz: $(INSTALLED)  ## Read damaged files for MINUTES=10; files that cause faults are kept in out/fuzz
	PYTHONPATH=tests $(BIN)/python -m fuzzing --minutes $(MINUTES)

$(DOCS_INSTALLED): pyproject.toml | $(INSTALLED)
	$(EDITABLE) '.[docs]'
	@touch $@

docs: $(INSTALLED) $(DOCS_INSTALLED)  ## Make the documentation, run all that it shows, and check its links
	$(BIN)/sphinx-build --fail-on-warning --keep-going docs out/docs
	$(BIN)/pytest -m docs

lint: $(INSTALLED) lint-core  ## Check style, types, spelling, docstrings and the C++ of the core
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell
	$(BIN)/python -m numpydoc.hooks.validate_docstrings $$(git ls-files 'src/**/*.py' 'reproduction/*.py')
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format --default-filetype yaml CITATION.cff
	$(BIN)/zizmor --offline --quiet .github

# clang-tidy reads how each file is compiled, and the headers of the compiler. Those of zig it
# does not know.
lint-core: $(INSTALLED)
	$(BIN)/clang-format --dry-run --Werror src/modeclust/core/*.?pp
ifeq ($(MODECLUST_ZIG),)
	$(BIN)/run-clang-tidy.py -quiet -hide-progress -j 2 -clang-tidy-binary $(BIN)/clang-tidy \
	  -p $$(dirname $$(ls -t build/*/compile_commands.json | head -1)) src/modeclust/core
else
	@echo 'Left out: clang-tidy, which needs g++ or clang'
endif

format: $(INSTALLED)  ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i src/modeclust/core/*.?pp

$(RELEASE_INSTALLED): pyproject.toml | $(INSTALLED)
	$(EDITABLE) '.[release]'
	@touch $@

package: $(INSTALLED) $(RELEASE_INSTALLED)  ## Build wheel and sdist into dist, install them as users do, and check them
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(WITH_INDEX) $(BIN)/pytest -m package

audit: $(RELEASE_INSTALLED)  ## Look for known vulnerabilities of what users install
	@mkdir -p out
	$(WITH_INDEX) $(BIN)/uv pip compile --quiet --extra all pyproject.toml -o out/requirements.txt
	$(BIN)/pip-audit --strict --disable-pip --no-deps -r out/requirements.txt

release-check: $(INSTALLED)  ## Check that TAG, as v0.1.0, can be released from here
	$(BIN)/python tests/release.py $(TAG)

# The data sets of the paper, as in the tests.
paper: export MODECLUST_DATA ?= $(wildcard $(CURDIR)/../shared/data)
paper: $(INSTALLED)  ## Reproduce every figure, table and claim of the paper; the page is in out/paper
	@mkdir -p out
	$(BIN)/python -m reproduction -o out/paper --force

paper-docs: $(INSTALLED)  ## Show what `make paper` found in the documentation
	$(BIN)/python docs/_ext/measured.py paper out/paper

$(BENCH_INSTALLED): pyproject.toml | $(INSTALLED)
	$(EDITABLE) '.[bench]'
	@touch $@

bench: $(INSTALLED) $(BENCH_INSTALLED)  ## Time everything beside its peers, in one run; results in out/bench
	$(BIN)/python benchmarks/run.py

bench-docs: $(INSTALLED)  ## Show what `make bench` measured in the documentation
	$(BIN)/python docs/_ext/measured.py benchmarks out/bench

compare: $(INSTALLED) $(BENCH_INSTALLED)  ## Compare clusterings by other libraries on three sets; results in out/comparison
	$(BIN)/python benchmarks/comparison.py

compare-docs: $(INSTALLED)  ## Show what `make compare` found in the documentation
	$(BIN)/python docs/_ext/measured.py comparison out/comparison

battery: $(INSTALLED) $(BENCH_INSTALLED)  ## Compare clusterings of many sets with their known clusters; results in out/battery
	$(BIN)/python benchmarks/battery.py

battery-docs: $(INSTALLED)  ## Show what `make battery` found in the documentation
	$(BIN)/python docs/_ext/measured.py battery out/battery

bench-disk: $(INSTALLED) $(BENCH_INSTALLED)  ## Fit 20 GB from the disk with 4 GB of memory; takes long
	$(BIN)/python benchmarks/from_disk.py

clean:  ## Remove .venv, caches, and all that the other targets made
	rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist out
	rm -rf docs/api docs/gallery docs/measured docs/sg_execution_times.rst
	find . -name __pycache__ -prune -exec rm -rf {} +
