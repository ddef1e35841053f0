#!/bin/sh
# `make run`: simulates a shipped system, prints a summary and draws the trajectories.
set -eu
cd "$(dirname "$0")/.."
mkdir -p out
build/penn info oup
echo
build/penn simulate oup -n 2000 -o out/oup --force --page out/index.html
echo
echo "Open out/index.html in a browser to look at the trajectories."
