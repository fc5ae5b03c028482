# make demo: set up everything and run a small real study. make test: set up everything and test it.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: setup browser demo test test-all check wheel-check bench audit sbom constraints site clean server-weights

setup: $(INSTALLED)
	@$(BIN)/shaketable models fetch > /dev/null

# PyTorch comes first and by its exact version, so that no other package chooses a build for it.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -m venv .venv || { echo "Python's venv module is missing. On Debian: apt-get install python3-venv"; exit 1; }
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	$(BIN)/shaketable models fetch
	@touch $@

demo: setup
	$(BIN)/shaketable demo

# The tests also start a real llama.cpp server, which reads the same weights as a GGUF file.
server-weights: setup
	@$(BIN)/shaketable models fetch smollm2-gguf > /dev/null

# Report and viewer are tested in a real browser. Without one those tests are left out, and in CI they fail.
browser:
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null || { \
	  install="apt-get install --yes --quiet --no-install-recommends chromium fonts-dejavu-core"; \
	  if ! command -v apt-get > /dev/null; then false; \
	  elif [ "$$(id -u)" = 0 ]; then apt-get update --quiet && $$install; \
	  else sudo -n apt-get update --quiet && sudo -n $$install; fi; } > /dev/null 2>&1 \
	  || echo "No Chromium, and it could not be installed: the tests in a browser are left out. On Debian: apt-get install chromium"

# One process per core, each with one thread for its matrices; the tests of a file share its fixtures.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

test: server-weights browser
	$(PYTEST) -m "not slow and not gpu"

test-all: server-weights browser
	$(PYTEST) -m "not gpu"

check: server-weights browser
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PYTEST) -m "not slow and not gpu"

# What people get who have no checkout: the wheel in two empty environments, without PyTorch and with it, used from an
# empty folder. The weights of the demo come from the user cache, which `setup` fills.
wheel-check: setup
	$(BIN)/python scripts/check_wheel.py light
	$(BIN)/python scripts/check_wheel.py local

bench: setup
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

# The tools that look at the environment live in one of their own, so that they are no part of what they look at.
AUDIT := .venv-audit/bin
EXPLAINED := scripts/explained_findings.txt

$(AUDIT)/.installed: Makefile
	@$(PYTHON) -m venv .venv-audit
	$(AUDIT)/pip install --quiet --disable-pip-version-check pip-audit==2.10.1 cyclonedx-bom==7.5.0
	@touch $@

# Known vulnerabilities of the pinned versions; needs the network, and fails where a package could not be looked up.
# Explained findings are passed over.
audit: $(AUDIT)/.installed
	$(AUDIT)/pip-audit --requirement constraints.txt --no-deps --disable-pip --strict \
	  $$(sed -n 's/^\([A-Z]*-[^ ]*\) .*/--ignore-vuln \1/p' $(EXPLAINED))

# What is installed, with versions and licenses, as CycloneDX.
sbom: setup $(AUDIT)/.installed
	$(AUDIT)/cyclonedx-py environment .venv --pyproject pyproject.toml --output-reproducible --of JSON -o sbom.json

# Newer versions into constraints.txt; run the tests afterwards.
constraints:
	$(PYTHON) scripts/refresh_constraints.py

# The documentation as a site that opens from a file: site/index.html. Pages that are made from the code come first.
site: $(INSTALLED)
	$(BIN)/python scripts/make_pages.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open site/index.html"

clean:
	rm -rf .venv .venv-audit runs site
