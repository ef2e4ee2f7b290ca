# `make serve` and `make test` need Python 3.11 or newer, make and npm; everything else they get, pinned by hash.
# The tests of GraphiQL also want a Chromium or Chrome: `make test` gets one where there is none and it can.

PYTHON_FROM := $(origin PYTHON)
PYTHON ?= python3
# Prints the interpreter to install for. `make serve` takes the fastest with the same version, unless PYTHON=… names one.
FIND_PYTHON = echo $(PYTHON)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: serve test coverage equivalence acceptance generated torture log live figures lint docs snapshots bench bench-growth bench-flood bench-hostile bench-process bench-live graphiql dashboard gameday base-images lock clean

# STORE=http://… is a store of your own, such as DynamoDB Local, in place of the embedded one.
serve: FIND_PYTHON = $(if $(filter undefined,$(PYTHON_FROM)),$(PYTHON) bench/fastest_python.py,echo $(PYTHON))
serve: $(VENV)/installed
	@$(if $(STORE),SMARTLOCKER_ENDPOINT_URL=$(STORE) $(BIN)/smartlocker table create --demo >&2)
	@$(if $(STORE),SMARTLOCKER_ENDPOINT_URL=$(STORE)) exec $(BIN)/smartlocker serve $(if $(PORT),--port $(PORT))

test: $(VENV)/tested $(VENV)/deploy-tools lint
	@$(BIN)/python -m tests.browser.program
	$(BIN)/python -m pytest --numprocesses 4 --dist worksteal

# The tests that start no server, but for the longest, at most six cases of each, with the coverage of the product. PYTHON=… VENV=.venv/other runs them on another Python.
coverage: $(VENV)/tested
	COVERAGE_CORE=$$($(BIN)/python -c 'import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")') \
		$(BIN)/python -m pytest --numprocesses 2 --dist worksteal --cases 6 --cov --cov-report term \
		tests/domain tests/loaders tests/resolvers tests/server \
		$(addprefix --ignore tests/,loaders/test_damages.py resolvers/test_migrated_facts.py resolvers/test_no_n_plus_one.py)

# Twenty times as many documents as `make test` compares with graphql-core; a document that differs is shown with its seed.
equivalence: $(VENV)/tested
	EQUIVALENCE_DOCUMENTS=10000 $(BIN)/python -m pytest --numprocesses 2 tests/equivalence

# 100,000 documents, most of them with mistakes: none is accepted without validation that graphql-core finds invalid; some minutes.
acceptance: $(VENV)/tested
	ACCEPTANCE_DOCUMENTS=100000 $(BIN)/python -m pytest --numprocesses 2 tests/fuzz/test_acceptance.py

# Four times as many generated tables, attempts with access codes and documents of tenants as `make test`; some minutes.
generated: $(VENV)/tested
	GENERATED=4 $(BIN)/python -m pytest --numprocesses 2 tests/fuzz/test_tenants.py tests/fuzz/test_access_codes.py \
		tests/resolvers/test_migrated_facts.py

# Load and faults for about half an hour on two cores; PHASE=kills runs one phase, SCALE=0.1 a tenth of it, SEED=2 another load.
torture: $(VENV)/tested
	$(BIN)/python -m tests.torture $(if $(PHASE),--phase $(PHASE)) $(if $(SCALE),--scale $(SCALE)) $(if $(SEED),--seed $(SEED))

# 20,000 changes through delays, lost answers and stopped writers, and 25 kills of servers that follow the log; about 15 minutes.
log: $(VENV)/tested
	LOG_CHANGES=20000 FOLLOWING_KILLS=25 $(BIN)/python -m pytest -s tests/races/test_log_order.py tests/e2e/test_following.py

# 20 subscribers on two servers, whose connections are cut 200 times, and 10 kills of servers, under load; some minutes.
live: $(VENV)/tested
	LIVE_CLIENTS=20 LIVE_CUTS=200 LIVE_KILLS=10 $(BIN)/python -m pytest -s tests/e2e/test_live.py

# Compares figures with a count of the table after 10,000 changes at once and at least 25 kills of followers; some minutes.
figures: $(VENV)/tested
	FIGURES_CHANGES=10000 $(BIN)/python -m pytest tests/loaders/test_figures.py

# Causes the fault of every alert at a running server, about half a minute.
gameday: $(VENV)/deploy-tools
	$(BIN)/python -m pytest -s tests/deploy/test_game_day.py

# Delivers 2,000 events to three endpoints that fail at random, through 25 kills of servers, and beside 20 that hang; about 15 minutes.
webhooks: $(VENV)/tested
	WEBHOOK_KILLS=25 WEBHOOK_EVENTS=2000 $(BIN)/python -m pytest -s tests/e2e/test_webhooks.py

lint: $(VENV)/tested
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/smartlocker schema check
	$(BIN)/smartlocker contracts check
	$(BIN)/smartlocker permissions check
	$(BIN)/smartlocker events check
	$(BIN)/smartlocker settings check

# Writes what is generated: the schema and the pages of access patterns, permissions and settings.
docs: $(VENV)/installed
	$(BIN)/smartlocker schema export
	$(BIN)/smartlocker contracts list --markdown > docs/access-patterns.md
	$(BIN)/smartlocker permissions list > docs/permissions.md
	$(BIN)/smartlocker events list > docs/events.md
	$(BIN)/smartlocker settings list > docs/settings.md

# Writes the requests of the contracts anew, which the tests compare with; review what changed.
snapshots: $(VENV)/tested
	$(BIN)/python -m pytest --quiet --update-snapshots tests/contracts/test_requests.py

# Compares SmartLocker with other GraphQL servers; QUICK=1 takes under three minutes and leaves docs/performance.md as it is.
bench: $(VENV)/tested
	$(BIN)/python -m bench.run $(if $(QUICK),--quick)

# Measures how cost grows with the data and with the number of clients.
bench-growth: $(VENV)/tested
	$(BIN)/python -m bench.growth $(if $(QUICK),--quick)

# Measures /health while one caller floods the server.
bench-flood: $(VENV)/tested
	$(BIN)/python -m bench.flood

bench-hostile: $(VENV)/tested
	$(BIN)/python -m bench.hostile

# Measures start-up, tail latency, workers and memory over a million requests.
bench-process: $(VENV)/tested
	$(BIN)/python -m bench.process $(if $(QUICK),--requests 0)

# Measures subscriptions, beside those of Mercurius; QUICK=1 takes about two minutes and leaves docs/performance.md as it is.
bench-live: $(VENV)/tested
	$(BIN)/python -m bench.live $(if $(QUICK),--quick)

$(VENV)/installed: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "SmartLocker needs Python 3.11 or newer")'
	@echo "Installing the pinned requirements into $(VENV) (once)"
	@"$$($(FIND_PYTHON))" -m venv $(VENV)
	@$(PIP) install --require-hashes --requirement requirements.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/tested: $(VENV)/installed requirements-test.txt
	@echo "Installing the pinned tools of the tests (once)"
	@$(PIP) install --require-hashes --requirement requirements-test.txt
	@touch $@

$(VENV)/deploy-tools: $(VENV)/tested requirements-deploy.txt
	@echo "Installing the pinned tools that check deploy/ (once)"
	@$(PIP) install --require-hashes --requirement requirements-deploy.txt
	@touch $@

# Builds the GraphiQL page anew; what it builds is committed, so only a change in graphiql/ asks for it.
graphiql:
	cd graphiql && npm ci --ignore-scripts --no-progress && npm run build

# Builds the dashboard anew, with the types of its documents; what it builds is committed, too.
dashboard:
	cd examples/dashboard && npm ci --ignore-scripts --no-progress && npm run types && npm run build

# Pins the base images by the digests that their tags have now; needs Docker and a registry.
base-images:
	for image in $$(sed -n 's/^FROM \([^@ ]*\)@.*/\1/p' Dockerfile | sort -u); do \
		digest=$$(docker buildx imagetools inspect "$$image" --format '{{.Manifest.Digest}}') && \
		sed -i "s|$$image@sha256:[0-9a-f]*|$$image@$$digest|" Dockerfile || exit 1; \
	done

# Renews the lock files; needs uv. They hold for every platform and for Python 3.11 to 3.14.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header \
		--group build pyproject.toml --output-file requirements.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header \
		--group build --group test pyproject.toml --constraint requirements.txt --output-file requirements-test.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header \
		--group deploy --constraint requirements-test.txt --output-file requirements-deploy.txt

clean:
	rm -rf .venv .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis artefacts graphiql/node_modules graphiql/dist examples/dashboard/node_modules examples/dashboard/dist
