#!/bin/sh
# Installs the Debian packages that are missing; says nothing and needs no rights when all are there.
set -eu
packages="
  g++ make cmake ninja-build ccache git
  libfmt-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev
  librandom123-dev libfftw3-dev
  libtorch-dev libdnnl-dev ocl-icd-opencl-dev libopenblas0-pthread
  libgtest-dev libbenchmark-dev fonts-dejavu-core
"
command -v dpkg-query >/dev/null || {
  echo "setup: this is not a Debian system; install the equivalents of:" $packages >&2
  exit 0
}
missing=""
for package in $packages; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
# For the tests: asked for by command, because node, npm and python often come from elsewhere than Debian.
for tool in node:nodejs npm:npm chromium:chromium python3:python3; do
  command -v "${tool%%:*}" >/dev/null || missing="$missing ${tool##*:}"
done
[ -z "$missing" ] && exit 0
echo "setup: installing$missing"
as_root=""
[ "$(id -u)" -eq 0 ] || as_root="sudo"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
$as_root apt-get install -y -qq --no-install-recommends $missing
