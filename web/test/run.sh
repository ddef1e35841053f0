#!/bin/sh
# Tests of the pages: run.sh MIXTURE_VALUES (the program of tests/web). Exit code 77: skipped, because node, npm's packages or chromium are missing.
set -eu
cd "$(dirname "$0")/.."
skip() { echo "web tests skipped: $1" >&2; exit 77; }
PENN_MIXTURE_VALUES=${1:-$(pwd)/../build/tests/web/mixture_values}
export PENN_MIXTURE_VALUES
[ -x "$PENN_MIXTURE_VALUES" ] || { echo "run.sh: no program $PENN_MIXTURE_VALUES; build the target mixture_values first" >&2; exit 1; }
command -v node >/dev/null || skip "no node; run scripts/setup.sh"
CHROMIUM=${CHROMIUM:-$(command -v chromium || true)}
[ -n "$CHROMIUM" ] || skip "no chromium; run scripts/setup.sh"
export CHROMIUM
if [ ! -d node_modules/playwright-core ]; then
  command -v npm >/dev/null || skip "no npm; run scripts/setup.sh"
  npm ci --no-audit --no-fund >/dev/null 2>&1 || skip "npm ci failed; is the registry reachable?"
fi
node build.mjs --check
node --test --test-concurrency=1 --test-reporter=spec test/
