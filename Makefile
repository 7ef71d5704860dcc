# The commands a person types; CMake and Ninja do the work.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
BUILD := build
JOBS ?= $(shell nproc)

.PHONY: all setup configure build run test bench format tidy sanitize fuzz fuzz-kernels macos-check clean

all: build

setup:
	@scripts/setup

configure: setup
	@[ -f $(BUILD)/build.ninja ] || cmake --preset release >/dev/null

build: configure
	@cmake --build $(BUILD) -j $(JOBS) -- --quiet

# Classifies handwritten digits with a compiled model: the whole way, end to end.
run: build
	@$(BUILD)/bin/digits

# All tests, then those that need no LLVM once more under AddressSanitizer and UBSan.
test: build
	@cd $(BUILD) && ctest --output-on-failure -j $(JOBS) --no-tests=error
	@[ -f build-asan-core/build.ninja ] || cmake --preset asan-core >/dev/null
	@cmake --build --preset asan-core -j $(JOBS) -- --quiet
	@cd build-asan-core && BESSEMER_COMPILER=$(CURDIR)/$(BUILD)/lib/libMetalCompiler.so \
	  ctest --output-on-failure -j $(JOBS) --no-tests=error

# The kernel suite against the machine's limit and its peers: a table, a CSV file and a picture. Then
# compiled programs against IREE's own CPU back end.
bench:
	@scripts/setup --bench
	@cmake --preset release -DBESSEMER_BUILD_BENCHMARKS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) -- --quiet
	@.venv/bin/python bench/run.py $(BUILD)
	@.venv/bin/python bench/models.py $(BUILD)

# The tests under AddressSanitizer with UBSan, then those that use threads under ThreadSanitizer.
sanitize: setup
	@for preset in asan-ubsan tsan; do \
	  cmake --preset $$preset >/dev/null && cmake --build --preset $$preset -j $(JOBS) && \
	  (cd build-$${preset%%-ubsan} && ctest --output-on-failure -j $(JOBS) --no-tests=error) || exit 1; \
	done

# clang-tidy over the files that differ from BASE (default: the main branch's last push).
BASE ?= HEAD~1
tidy: configure
	@files=$$(git diff --name-only --diff-filter=d $(BASE) -- '*.cc'); \
	[ -z "$$files" ] || clang-tidy-22 -p $(BUILD) --quiet $$files

# Each fuzzer for FUZZ_SECONDS, from its seeds.
FUZZ_SECONDS ?= 60
fuzz: setup
	@cmake --preset fuzz >/dev/null && cmake --build --preset fuzz -j $(JOBS)
	@for fuzzer in $$(find build-fuzz/fuzz -maxdepth 1 -type f -executable); do \
	  mkdir -p $$fuzzer-corpus $$fuzzer-seeds; \
	  echo "== $$(basename $$fuzzer)"; \
	  $$fuzzer -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
	    -artifact_prefix=$$fuzzer- $$fuzzer-corpus $$fuzzer-seeds 2>&1 | tail -n 12 || exit 1; \
	done

# Random kernels, compiled at every width, against the reference: FUZZ_COUNT programs from FUZZ_SEED.
FUZZ_SEED ?= $(shell date +%s)
FUZZ_COUNT ?= 10000
fuzz-kernels: build
	@$(BUILD)/tests/kernel_fuzz --seed $(FUZZ_SEED) --count $(FUZZ_COUNT)

# Builds for arm64 Macs from here, and checks the programs that come out.
macos-check:
	@scripts/macos-check $(JOBS)

format:
	@git ls-files '*.cc' '*.h' '*.c' '*.m' | xargs clang-format-22 -i

clean:
	@rm -rf $(BUILD) build-*
