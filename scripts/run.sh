#!/bin/sh
# `make run`: identifies a shipped trajectory with a shipped model, prints the answer and writes the page to look at.
set -eu
cd "$(dirname "$0")/.."
mkdir -p out
echo "penn infer soup examples/soup/trajectory.csv: an Ornstein-Uhlenbeck process, simulated with lg_tau = 0.5 and D = 0.3"
echo
build/penn infer soup examples/soup/trajectory.csv --truth lg_tau=0.5,D=0.3 --predictive 200 --report out/index.html
echo
echo "Open out/index.html in a browser: the posterior, its couplings, and the trajectory among those the posterior predicts."
