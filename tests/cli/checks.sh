# For the shell tests: a folder of its own, removed at the end, and two ways to check. Sourced after `penn` is set.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
checks=0

# expect NAME EXIT_CODE PATTERN COMMAND...: the exit code, and a pattern in the output (both streams).
expect() {
  name=$1; code=$2; pattern=$3; shift 3
  output=$("$@" 2>&1); got=$?
  checks=$((checks + 1))
  if [ $got -ne "$code" ] || ! printf '%s' "$output" | grep -q -e "$pattern"; then
    echo "FAILED: $name: exit code $got (expected $code), expected '$pattern' in:"; printf '%s\n' "$output" | head -60
    failures=$((failures + 1))
  fi
}
# check NAME COMMAND...: the command succeeds.
check() {
  name=$1; shift
  checks=$((checks + 1))
  "$@" >/dev/null 2>&1 || { echo "FAILED: $name"; failures=$((failures + 1)); }
}
