# cameo from nothing: `make demo` compiles and runs a model, `make check` builds and runs every test, `make` builds build/cameo.
# CMake does the building; this file only knows the order of the steps and how many compilers fit into memory.
BUILD ?= build
PREFIX ?= /usr/local
# A file that includes clang's headers takes some 1.5 GB to compile.
JOBS ?= $(shell awk -v cores="$$(nproc)" '/^MemAvailable/ {n = int($$2 / 1500000); print n < 1 ? 1 : n < cores ? n : cores}' /proc/meminfo)

.PHONY: all demo check check-sanitized packages install clean format
.NOTPARALLEL:

all: $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS) --target cameo

$(BUILD)/build.ninja:
	@command -v cmake >/dev/null && command -v ninja >/dev/null || { echo 'make: `cmake` or `ninja` is missing; `make packages` installs what cameo is built from' >&2; exit 1; }
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release

# Compiles the model in models/ and runs it on a picture.
demo: packages all
	@models/demo $(BUILD)

check: packages_of_check $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS)
	@tests/tools/run_tests $(BUILD)

# The tests of every floor, the ONNX suite and hostile models under an address and an undefined-behaviour sanitizer; `check` runs a part.
check-sanitized: packages_of_check
	@tests/tools/check_sanitized $(BUILD)/sanitized $(JOBS)

packages:
	@.ci/packages

.PHONY: packages_of_check
packages_of_check:
	@.ci/packages --check

install: all
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf $(BUILD)

format:
	@git ls-files '*.h' '*.cpp' '*.cu' | xargs -r clang-format-19 -i
