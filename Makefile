# make train   trains word2vec on the shipped corpus, in a virtual environment of its own
# make test    runs the tests
#
# Both set up what they need in .venv: Python 3.10 or newer and a C++17 compiler are all they ask for.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OUT ?= train
SOURCES := $(shell find src csrc -name '*.py' -o -name '*.pyx' -o -name '*.pxi' -o -name '*.cc' -o -name '*.c' -o -name '*.h' \
	-o -name '*.in' -o -name '*.binpb' -o -name '*.json') tools/make_tables.py tools/make_stubs.py CMakeLists.txt pyproject.toml
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: train test test-peer test-upstream test-libraries test-sanitize fuzz bench lint format wheel clean

train: $(VENV)/usable
	$(BIN)/stillflow word2vec --out $(OUT)

test: $(VENV)/installed
	$(BIN)/python -m pytest tests -m "not peer" -n auto

# Beside real TensorFlow: the programs of tests/programs and more. TensorFlow 1.15.5 wants a Python 3.7. And what
# TensorBoard shows, in a browser.
test-peer: $(VENV)/installed
	$(BIN)/python tools/make_peers.py
	$(BIN)/python -m pytest tests -m peer -n auto

# TensorFlow 1.15.5's own tests: DIR is a folder of yours with its sources, FOLDERS says which of tensorflow/python.
FOLDERS ?= framework,ops,kernel_tests,training,data,summary,lib,client,saved_model
test-upstream: $(VENV)/installed
	$(BIN)/python tools/make_peers.py
	$(INSTALL) six termcolor wrapt
	$(BIN)/python tools/upstream_tests.py $(DIR) --folders $(FOLDERS)

# Libraries that stand on TensorFlow 1, from PyPI, each with a program of tests/living_libraries.
test-libraries: $(VENV)/installed
	$(BIN)/python tools/try_libraries.py

# The tests under AddressSanitizer and UndefinedBehaviorSanitizer.
test-sanitize: $(VENV)/installed
	$(BIN)/python tools/test_sanitize.py

# Mutated files and messages for everything that reads some; SECONDS says how long.
SECONDS ?= 60
fuzz: $(VENV)/installed
	$(BIN)/python tools/fuzz.py --seconds $(SECONDS)

bench: $(VENV)/installed
	$(BIN)/python tools/make_peers.py
	$(BIN)/python -m bench
	$(BIN)/python -m pytest bench --benchmark-only

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/typos
	git ls-files 'csrc/*.h' 'csrc/*.cc' 'csrc/*.c' | xargs $(BIN)/clang-format --dry-run --Werror

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	git ls-files 'csrc/*.h' 'csrc/*.cc' 'csrc/*.c' | xargs $(BIN)/clang-format -i

wheel: $(VENV)/tools
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(BIN)/python tools/compress_wheel.py dist/stillflow-*.whl

$(VENV)/tools: pyproject.toml tools/check_environment.py
	@$(PYTHON) tools/check_environment.py
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) "scikit-build-core>=0.10" "cython>=3.0" "numpy>=2.0" cmake ninja
	touch $@

# Built in place, without isolation, so that a change compiles only what it touches. Kernels for the machine's own
# instruction set are enough to train; tests want those for all.
$(VENV)/usable: $(VENV)/tools $(SOURCES)
	@$(BIN)/python tools/install.py native progress,plot
	@touch $@

$(VENV)/installed: $(VENV)/tools $(SOURCES)
	@$(BIN)/python tools/install.py all progress,plot,images,safetensors,scipy,test,bench,lint
	@touch $@ $(VENV)/usable

clean:
	rm -rf $(VENV) build dist $(OUT)
