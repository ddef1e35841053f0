#!/bin/sh
# Kills a training with SIGKILL at 20 moments: whatever is left must load, and progress must never fall behind the last checkpoint.
# Usage: kill_test.sh PENN
set -u
penn=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
train="$penn train soup -o model.safetensors --steps 10000000 --batch 16 --length 40 --validation 100 --checkpoint-seconds 0.05 --threads 1 --quiet"
last=0
kills=0
start=0
while [ $kills -lt 20 ]; do
  resume=""
  [ -f model.safetensors.checkpoint ] && resume="--resume"
  $train $resume 2>err &
  child=$!
  # As long as the first checkpoint takes on this machine as it is now, and up to 0.8 s more, in steps that never fall on the same phase of the checkpoints.
  while [ $kills -eq 0 ] && [ ! -f model.safetensors.checkpoint ] && kill -0 $child 2>/dev/null; do
    sleep 0.1
    start=$(awk "BEGIN { print $start + 0.1 }")
  done
  [ $kills -gt 0 ] || start=$(awk "BEGIN { print ($start > 0.9 ? $start : 0.9) }")
  sleep "$(awk "BEGIN { print ($kills > 0) * $start + ($kills * 0.137) % 0.8 }")"
  kill -KILL $child 2>/dev/null || { fail "training ended by itself: $(cat err)"; break; }
  wait $child 2>/dev/null
  kills=$((kills + 1))
  [ -f model.safetensors.checkpoint ] || continue
  step=$("$penn" info model.safetensors.checkpoint 2>&1 | sed -n 's/.*step \([0-9]*\),.*/\1/p')
  [ -n "$step" ] || { fail "kill $kills: the checkpoint does not load: $("$penn" info model.safetensors.checkpoint 2>&1)"; break; }
  [ "$step" -ge "$last" ] || fail "kill $kills: step $step after step $last"
  last=$step
done
[ "$last" -gt 0 ] || fail "no checkpoint was ever written"
left=$(ls -A | grep -vx -e model.safetensors.checkpoint -e err | head -3)
[ -z "$left" ] || fail "files left behind: $left"
echo "$kills kills, step $last"
[ $failures -eq 0 ] && echo "1 passed, 0 failed"
[ $failures -eq 0 ]
