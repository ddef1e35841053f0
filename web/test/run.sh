#!/bin/sh
# Tests of the pages: run.sh FOLDER (of the programs of tests/web) PENN (for `penn serve`). Exit code 77: skipped, because node, npm's packages or chromium are missing.
set -eu
cd "$(dirname "$0")/.."
skip() { echo "web tests skipped: $1" >&2; [ -z "${PENN_SKIP_NOTHING:-}" ] || exit 1; exit 77; }
PENN_TEST_PROGRAMS=${1:-$(pwd)/../build/tests/web}
PENN_PROGRAM=${2:-$(pwd)/../build/penn}
PENN_TEST_MODEL=$(pwd)/../fuzz/corpus/model/tiny.safetensors
export PENN_TEST_PROGRAMS PENN_PROGRAM PENN_TEST_MODEL
for program in mixture_values write_page write_models; do
  [ -x "$PENN_TEST_PROGRAMS/$program" ] || { echo "run.sh: no program $PENN_TEST_PROGRAMS/$program; build the target $program first" >&2; exit 1; }
done
[ -x "$PENN_PROGRAM" ] || { echo "run.sh: no program $PENN_PROGRAM; build the target penn_program first" >&2; exit 1; }
command -v node >/dev/null || skip "no node; run scripts/setup.sh test"
CHROMIUM=${CHROMIUM:-$(command -v chromium || true)}
[ -n "$CHROMIUM" ] || skip "no chromium; run scripts/setup.sh test"
export CHROMIUM
if [ ! -d node_modules/playwright-core ]; then
  command -v npm >/dev/null || skip "no npm; run scripts/setup.sh test"
  npm ci --no-audit --no-fund >/dev/null 2>&1 || skip "npm ci failed; is the registry reachable?"
fi
node build.mjs --check
node --test --test-concurrency=1 --test-reporter=spec test/*_test.mjs
