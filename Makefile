# make setup   a virtual environment with everything the other targets need, in the versions of constraints.txt
# make constraints   choose those versions anew
# make run     Accord at work on its examples: a ranking with its report, then the studio
# make test    every check and every test
# make coverage   the tests again, and which lines none of them runs
# make bench   Accord against its peers, three runs each, written to benchmarks/results.json and docs/benchmarks.md
# make bench-peers   the peers that need torch or JAX, each in an environment of its own
# make docs    the documentation as HTML, with its gallery and its reference, every example run
# make release   wheel and source package in dist/, checked and tried, with the notes of the release
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.accord-setup
# One test process a core; set to 0 to run the tests in one process.
JOBS ?= auto
# Which benchmarks `make bench` runs; all unless named.
BENCH ?=
# Where the studio of `make run` listens.
PORT ?= 8765
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

.PHONY: setup constraints run test coverage lint types layers bench bench-peers docs release clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e ".[dev]"
	@touch $@

# Names and versions only: no address of a package index is written.
constraints:
	@test -x $(BIN)/uv || { $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet uv; }
	$(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.11 --extra dev --extra bench pyproject.toml \
		--no-emit-index-url --no-annotate --no-header --output-file constraints.txt

run: setup
	@$(BIN)/accord rank --example arguments --report accord-report.html
	@$(BIN)/accord studio --demo --port $(PORT)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports

PYTEST = $(BIN)/python -m pytest

test: setup
	@$(MAKE) --no-print-directory --jobs 2 lint types layers
	$(PYTEST) -n $(JOBS) --ignore tests/browser
	$(PYTEST) -n $(JOBS) --doctest-modules src/accord --ignore src/accord/store/migrations  # the examples in docstrings
	$(PYTEST) tests/browser  # a browser wants its own process

coverage: setup
	$(PYTEST) -n $(JOBS) --ignore tests/browser --cov --cov-report=
	$(PYTEST) -n $(JOBS) --doctest-modules src/accord --ignore src/accord/store/migrations --cov --cov-append --cov-report=
	$(PYTEST) tests/browser --cov --cov-append --cov-report=term:skip-covered

bench: $(VENV)/.accord-bench
	$(BIN)/python benchmarks/run.py $(BENCH)

bench-peers: $(VENV)/.accord-bench
	$(BIN)/python benchmarks/run.py --peers engines pairs

$(VENV)/.accord-bench: $(STAMP)
	@$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e ".[dev,bench]"
	@touch $@

docs: setup
	$(BIN)/sphinx-build -W -n -q --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html
	$(BIN)/python docs/run_snippets.py docs/*.md
	@echo "docs/_build/html/index.html"

# Nothing is sent anywhere: what comes out is dist/ and the lines to run.
release: setup
	@rm -rf dist
	$(BIN)/uv build --quiet --python $(BIN)/python
	$(BIN)/twine check --strict dist/*.whl dist/*.tar.gz
	$(BIN)/python .ci/release.py

clean:
	rm -rf $(VENV) docs/_build docs/gallery docs/api dist .pytest_cache .mypy_cache .ruff_cache .coverage
