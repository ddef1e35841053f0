#!/bin/sh
# Training as a new user would run it, what it refuses, and inference with its result. Usage: train_test.sh PENN
# Prints what failed and exits with 1; silent parts passed.
set -u
penn=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
. "$here/checks.sh"

small="--batch 16 --length 40 --validation 100"
expect "unknown preset" 2 "not in {fast,paper}" "$penn" train soup -o m.safetensors --steps 5 --preset slow
expect "zero components" 2 "components must lie in 1 to 1000, got 0" "$penn" train soup -o m.safetensors --steps 5 --components 0
expect "an encoder there is not" 2 "statistics" "$penn" train soup -o m.safetensors --steps 5 --encoders statistics,transformer
expect "two budgets" 2 "one of --minutes, --steps and --epochs" "$penn" train soup -o m.safetensors --steps 5 --minutes 1
expect "epochs of fresh trajectories" 2 "fresh trajectories have no epochs" "$penn" train soup -o m.safetensors --epochs 5
expect "batch larger than the set" 2 "a batch of 200 is larger than the data set of 100" "$penn" train soup -o m.safetensors --steps 5 --dataset 100 --batch 200
expect "length is not a number" 2 "not a number or a range" "$penn" train soup -o m.safetensors --steps 5 --length long
expect "range with a fixed set" 2 "a fixed data set has one length" "$penn" train soup -o m.safetensors --steps 5 --dataset 100 --length 40:80
expect "no such system" 1 "nothing" "$penn" train nothing -o m.safetensors --steps 5
expect "an observation to choose" 1 "x1x2" "$penn" train cfhn -o m.safetensors --steps 5
expect "a place that cannot be written" 1 "nowhere" "$penn" train soup -o nowhere/m.safetensors --steps 3 $small --quiet
expect "a place that cannot be written, before the pilot run" 1 "nowhere" timeout 60 "$penn" train airfoil -o nowhere/m.safetensors --minutes 60
cp "$here/../../systems/soup.toml" own.toml
expect "the system file itself" 2 "would be replaced" "$penn" train own.toml -o own.toml --force --steps 3 $small --quiet
check "which is still there" cmp -s "$here/../../systems/soup.toml" own.toml
"$penn" simulate oup -n 60 -o oup-data >/dev/null 2>&1
expect "a data set of another system" 1 "error: " "$penn" train soup -o m.safetensors --steps 5 --dataset oup-data --batch 16
expect "nothing to resume" 1 "there is no unfinished training" "$penn" train soup -o m.safetensors --resume
check "nothing was written" sh -c '! ls m.safetensors* 2>/dev/null'

# ---- interrupted, resumed, refused, finished
"$penn" train soup -o m.safetensors --steps 1000000 $small --checkpoint-seconds 0.5 --quiet &
child=$!
until [ -f m.safetensors.checkpoint ] || ! kill -0 $child; do sleep 0.2; done  # a shell's background job ignores the signal until the program asks for it
kill -INT $child
wait $child; code=$?
check "interruption has exit code 130" test $code -eq 130
check "interruption leaves a checkpoint" test -f m.safetensors.checkpoint
expect "the checkpoint can be looked at" 0 "unfinished training: step" "$penn" info m.safetensors.checkpoint
cp m.safetensors.checkpoint before
expect "no silent restart" 1 "unfinished training" "$penn" train soup -o m.safetensors --steps 5 $small
expect "resume with another batch" 1 "other options: batch" "$penn" train soup -o m.safetensors --resume --batch 32
expect "resume with another seed" 1 "other options: seed" "$penn" train soup -o m.safetensors --resume --seed 9
expect "resume with another system" 1 "another system" "$penn" train oup -o m.safetensors --resume
expect "a checkpoint is not a model" 1 "unfinished training, not a model" "$penn" infer m.safetensors.checkpoint before
head -c 1000 before >m.safetensors.checkpoint
expect "a cut checkpoint" 1 "error: " "$penn" train soup -o m.safetensors --resume
mv before m.safetensors.checkpoint
check "refusals change nothing" test ! -e m.safetensors
rm m.safetensors.checkpoint

expect "coordinates of many parameters by a pilot run" 0 "the training begins, with --coordinates " "$penn" train airfoil -o air.safetensors --steps 40 --batch 16 --length 100 --validation 100
expect "training" 0 "validation NLL" "$penn" train soup -o model.safetensors --steps 500 --batch 64 --length 500:1500 --quiet
expect "an existing model stays" 1 "exists" "$penn" train soup -o model.safetensors --steps 5
expect "info of a model" 0 "Network, " "$penn" info model.safetensors
check "the loss curve" grep -q "^minutes,step,trajectories,train_nll,validation_nll,learning_rate" model.safetensors.csv
head -c 5000 model.safetensors >cut.safetensors
expect "a cut model" 1 "cut.safetensors" "$penn" info cut.safetensors
check "the file is what Python's safetensors reads" python3 -c "
import json, struct
raw = open('model.safetensors', 'rb').read()
size, = struct.unpack('<Q', raw[:8])
head = json.loads(raw[8:8 + size])
assert head.pop('__metadata__')['format'] == 'penn model 3'
spans = sorted(t['data_offsets'] for t in head.values())
assert spans[0][0] == 0 and spans[-1][1] == len(raw) - 8 - size and all(a[1] == b[0] for a, b in zip(spans, spans[1:]))
"
echo "$((checks - failures)) passed, $failures failed"
"$here/infer_test.sh" "$penn" model.safetensors || failures=1
[ $failures -eq 0 ]
