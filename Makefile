# Every target sets up what it needs. `make` alone lists them.
.DEFAULT_GOAL := help
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SHARED ?= $(or $(HEADWAY_SHARED),../shared)
export OMP_NUM_THREADS ?= 1
# Live tests of guides and engines, Slurm among them: about half of the time that live tests take.
SITES := tests/docs tests/engines tests/live/slurm

.PHONY: help setup system site browser console demo test check format evaluate benchmark clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(STAMP) ## build .venv with all extras

$(STAMP): pyproject.toml
	@deploy/make-venv $(VENV) $(PYTHON)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[server,torch,dev]'
	@touch $@

system: ## install the Debian packages the tests use (PostgreSQL, Alertmanager)
	@deploy/install-system postgresql prometheus-alertmanager

browser: ## install Chromium and a Chinese font, for make evaluate
	@deploy/install-system chromium fonts-wqy-microhei

site: ## install the Debian packages a real Slurm needs
	@deploy/install-system slurmctld slurmd slurm-client munge slurmdbd slurm-wlm-mysql-plugin mariadb-server iproute2 nftables sudo

console: setup ## check, test and build the web console into the package (Node from PyPI where none fits)
	@$(BIN)/python deploy/build_console.py check test build

demo: setup ## run the main job: one training from the queue to the bill (KEEP=1, DEMO_JSON=FILE, DEMO_HOME=DIR)
	@$(BIN)/python -m examples.demo $(if $(KEEP),--keep) $(if $(DEMO_JSON),--json $(DEMO_JSON)) $(if $(DEMO_HOME),--home $(DEMO_HOME))

test: ## pass every test: those that mostly compute beside two halves of those that mostly wait
	@$(MAKE) --no-print-directory -j3 -O setup system site
	@$(MAKE) --no-print-directory -j2 -O console check
	@mkdir -p build
	@export HEADWAY_SHARED=$(abspath $(SHARED)); \
	nice -n 5 $(BIN)/pytest -m 'not live' > build/computing.log 2>&1 & computing=$$!; \
	$(BIN)/pytest -m live $(SITES) > build/sites.log 2>&1 & sites=$$!; \
	trap 'kill $$computing $$sites' INT TERM; \
	$(BIN)/pytest -m live $(addprefix --ignore=,$(SITES)); live=$$?; \
	wait $$sites; at_sites=$$?; \
	wait $$computing; computed=$$?; \
	cat build/sites.log build/computing.log; \
	exit $$((live || at_sites || computed))

check: setup ## formatting, lint, types, imports
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: setup ## format the code
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --quiet --fix .

evaluate: setup system site browser console ## every seed of the kill matrices, saves cut at any byte, every fault of a real Slurm, the console in Chromium; takes long
	HEADWAY_SHARED=$(abspath $(SHARED)) HEADWAY_SEEDS=all $(BIN)/pytest tests/live tests/engines tests/docs tests/browser -m 'live or browser'
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[lightning]'
	HEADWAY_SEEDS=all $(BIN)/pytest tests/sdk_job

benchmark: setup ## print every benchmark's table
	$(BIN)/python -m benchmarks

clean: ## remove what was built
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
