#!/bin/sh
# Runs every fuzz target for MINUTES minutes: scripts/fuzz.sh MINUTES [TARGET...]
# New inputs go to build-fuzz/corpus, so the seeds in fuzz/corpus stay as they are.
set -eu
cd "$(dirname "$0")/.."
minutes=$1
shift
for target in "${@:-$(cd fuzz && ls fuzz_*.cc | sed 's/\.cc$//')}"; do
  for one in $target; do
    name=${one#fuzz_}
    mkdir -p "build-fuzz/corpus/$name"
    "build-fuzz/fuzz/$one" -max_total_time=$((60 * minutes)) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="build-fuzz/" "build-fuzz/corpus/$name" "fuzz/corpus/$name"
  done
done
