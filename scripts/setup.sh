#!/bin/sh
# Installs the Debian packages that are missing; says nothing and needs no rights when all are there.
#   scripts/setup.sh run    what the program needs to be built and to run
#   scripts/setup.sh test   and what the tests need: LibTorch, which they compare with, a browser for the pages, clang as a second compiler
set -eu
packages="
  g++ make cmake ninja-build
  libfmt-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev libfftw3-dev libeigen3-dev
"
tools=""
case "${1-run}" in
  run) ;;
  test)
    packages="$packages
      ccache pkg-config libgtest-dev librandom123-dev libtorch-dev libopenblas0-pthread fonts-dejavu-core
      git clang-14 clang-format-14 clang-tidy-14
    "
    tools="node:nodejs npm:npm chromium:chromium python3:python3"
    ;;
  *)
    echo "usage: setup.sh run|test" >&2
    exit 2
    ;;
esac
command -v dpkg-query >/dev/null || {
  echo "setup: this is not a Debian system; install the equivalents of:" $packages >&2
  exit 0
}
missing=""
for package in $packages; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
# Asked for by command, because node, npm and python often come from elsewhere than Debian.
for tool in $tools; do
  command -v "${tool%%:*}" >/dev/null || missing="$missing ${tool##*:}"
done
[ -z "$missing" ] && exit 0
echo "setup: installing$missing"
as_root=""
[ "$(id -u)" -eq 0 ] || as_root="sudo"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
$as_root apt-get install -y -qq --no-install-recommends $missing
