# make run    install what is missing (Debian), build the program build/penn, identify a shipped trajectory with a shipped model (page: out/index.html)
# make test   install what the tests need besides, build and run them all
.PHONY: run build test sanitize fuzz clean

run: build
	scripts/run.sh

# Once the tests have been asked for, build/ holds them too, and they stay configured.
build:
	@scripts/setup.sh run
	cmake --preset release $(CMAKE_OPTIONS)
	cmake --build --preset release

test:
	@scripts/setup.sh test
	cmake --preset test $(CMAKE_OPTIONS)
	cmake --build --preset test
	ctest --preset test

sanitize:
	@scripts/setup.sh test
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
