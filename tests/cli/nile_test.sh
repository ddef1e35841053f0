#!/bin/sh
# The walk-through of examples/nile, with a training of seconds: the posterior of H must hold the literature's 0.837 and leave out 1/2.
# Usage: nile_test.sh PENN SOURCE_DIRECTORY
set -u
penn=$(realpath "$1")
nile=$(realpath "$2")/examples/nile
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
fail() { echo "FAILED: $*"; exit 1; }

"$penn" info "$nile/nile.toml" >/dev/null || fail "info"
"$penn" simulate "$nile/nile.toml" -n 4 --page page.html -o sim >/dev/null || fail "simulate"
"$penn" train "$nile/nile.toml" --steps 400 --batch 128 -o nile.safetensors --quiet >/dev/null || fail "train"
"$penn" infer nile.safetensors "$nile/nile_minima.csv" --predictive 50 --report nile.html --json nile.json >/dev/null || fail "infer"
grep -q "nile_minima.csv" nile.html && [ "$(wc -c <nile.html)" -gt 100000 ] || fail "the page does not hold the answer"
python3 - <<'PYTHON' || fail "the posterior of H"
import json
answer = json.load(open("nile.json"))
k = answer["parameters"].index("H")
low, high = answer["quantiles"]["0.05"][k], answer["quantiles"]["0.95"][k]
print("H %.3f +- %.3f, 5 %% to 95 %%: %.3f to %.3f" % (answer["mean"][k], answer["sd"][k], low, high))
assert low < 0.837 < high and low > 0.6 and answer["n"] == 663
assert any("does not look like" in w for w in answer["warnings"])
PYTHON
echo "1 passed, 0 failed"
