# The commands a person types; CMake and Ninja do the work.
BUILD := build
JOBS ?= $(shell nproc)

.PHONY: all setup configure build run test bench format tidy sanitize fuzz macos-check clean

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

test: build
	@cd $(BUILD) && ctest --output-on-failure -j $(JOBS) --no-tests=error

format:
	@git ls-files '*.cc' '*.h' '*.c' '*.m' | xargs clang-format-22 -i

clean:
	@rm -rf $(BUILD) build-*
