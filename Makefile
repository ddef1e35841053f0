# make run    install what is missing (Debian), build the program build/penn, identify a shipped trajectory with a shipped model (page: out/index.html)
# make test   install what the tests need besides, build and run them all
# make install PREFIX=...   library, program, systems and models; the tree below PREFIX may be moved afterwards
# make deb    the same as a Debian package, build-package/penn_*.deb
.PHONY: run build test install deb package sanitize fuzz clean

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

# What leaves this machine is compiled for any x86-64 processor with AVX2.
PREFIX ?= /usr/local
install: package
	cmake --install build-package --prefix "$(PREFIX)"

deb: package
	cd build-package && cpack

package:
	@scripts/setup.sh run
	cmake --preset package $(CMAKE_OPTIONS)
	cmake --build --preset package

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
	rm -rf build build-package build-sanitize build-fuzz out
