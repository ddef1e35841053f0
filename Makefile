# make run    build, then identify a shipped trajectory with a shipped model (page: out/index.html)
# make test   build and run every test
# make build  install what is missing (Debian), configure, compile: the program is build/penn
.PHONY: run test build setup sanitize fuzz clean

run: build
	scripts/run.sh

test: build
	ctest --preset release

build: setup
	cmake --preset release $(CMAKE_OPTIONS)
	cmake --build --preset release

setup:
	@scripts/setup.sh

sanitize: setup
	cmake --preset sanitize
	cmake --build --preset sanitize
	ctest --preset sanitize

# MINUTES of libFuzzer for every target in fuzz/ (needs clang, see fuzz/README.md).
MINUTES ?= 5
fuzz:
	cmake --preset fuzz
	cmake --build --preset fuzz
	scripts/fuzz.sh $(MINUTES)

clean:
	rm -rf build build-sanitize build-fuzz out
