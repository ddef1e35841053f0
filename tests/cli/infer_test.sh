#!/bin/sh
# Inference and evaluation as a new user would run them. Usage: infer_test.sh PENN MODEL, MODEL a model of soup trained on 1000 samples (or a
# range that holds 1000), however briefly: nothing here needs good estimates.
# Prints what failed and exits with 1; silent parts passed.
set -u
penn=$1
model=$(realpath "$2")
. "$(dirname "$0")/checks.sh"

"$penn" simulate soup -n 3 --seed 11 --set lg_tau=0 --set D=0.5 --csv -o csv >/dev/null || exit 1
"$penn" simulate soup -n 20 --seed 12 -o npy >/dev/null || exit 1
one=csv/trajectory_000.csv
two=csv/trajectory_001.csv
awk -F, '/^[0-9-]/ { print $2 }' $one >values.txt
head -n 1000 values.txt >bare.csv

# ---- the answer
expect "table" 0 "^lg_tau  *[-0-9]" "$penn" infer "$model" $one
expect "contraction is shown" 0 "contraction" "$penn" infer "$model" $one
echo "[parameters]" >mine.toml
expect "a system where a model is meant" 1 "train one: penn train mine.toml -o mine.safetensors" "$penn" infer mine.toml $one
expect "a decimal comma in an option" 2 "the decimal mark is a point" "$penn" infer "$model" $one --sampling 0,1
expect "a verdict in words" 0 "explanation" "$penn" infer "$model" $one
expect "several files" 0 "trajectory_001.csv: 1000 samples" "$penn" infer "$model" $one $two
expect "json" 0 '"typicality"' "$penn" infer "$model" $one --json -
"$penn" infer "$model" $one --json one.json >/dev/null
for key in parameters weights means covariances mean median sd correlation quantiles modes contraction outside_mass typicality warnings verdict source n sampling model version; do
  check "json has $key" grep -q "^  \"$key\":" one.json
done
check "json of the whole array" test "$("$penn" infer "$model" npy/z.npy --json - | grep -c '"typicality"')" -eq 20
check "json tells the file" grep -q '^  "source": "csv/trajectory_000.csv"' one.json
"$penn" infer "$model" npy/z.npy $one --json many.json >/dev/null
check "json tells the trajectory of an array" grep -q '^    "source": "npy/z.npy\[19\]"' many.json
check "json tells every source" test "$(grep -c '^    "source"' many.json)" -eq 21
cp $one "$(printf 'odd\377name.csv')"
expect "a name that is not UTF-8" 0 '"source": "odd.*name.csv"' "$penn" infer "$model" odd*name.csv --json -
expect "a page of it" 0 "" "$penn" infer "$model" odd*name.csv --report odd.html
check "own trajectories look typical" test "$("$penn" infer "$model" npy/z.npy | grep -c 'does not look like the training data')" -le 3
check "the same answer twice" sh -c "'$penn' infer '$model' $one --json two.json >/dev/null && cmp one.json two.json"
check "the same answer with one thread" sh -c "'$penn' infer '$model' $one --threads 1 --json two.json >/dev/null && cmp one.json two.json"

# ---- forms of the same data give the same numbers
"$penn" infer "$model" $one >table.txt
same() { "$penn" infer "$model" "$@" 2>/dev/null | grep '^lg_tau\|^D ' >same.txt && grep '^lg_tau\|^D ' table.txt | cmp -s - same.txt; }
check "one bare column" same bare.csv
tr '\n' '#' <values.txt | sed 's/#/\r\n/g; s/^/\xef\xbb\xbfx\r\n/' >dos.csv
check "byte-order mark and CRLF" same dos.csv
printf '%s' "$(cat values.txt)" >unfinished.csv
check "no newline at the end" same unfinished.csv
sed 's/,/;/g' $one >semicolons.csv
check "semicolons" same semicolons.csv
sed 's/,/\t/g' $one >tabs.csv
check "tabs" same tabs.csv
awk -F, '/^t,/ { print "junk,x,t"; next } /^#/ { print; next } { print "word," $2 "," $1 }' $one >mixed.csv
check "columns by name" same mixed.csv --columns t,x
check "columns by number" same mixed.csv --columns 3,2
check "column without time" same mixed.csv --columns x
check "data from a pipe" sh -c "'$penn' infer '$model' /dev/stdin <bare.csv | grep -q '^lg_tau'"

# ---- draws, combination, predictive check
expect "draws" 0 "" "$penn" infer "$model" $one --samples 250 --draws draws.csv
check "draws have a head" grep -q "^# num_samples = 250$" draws.csv
check "draws have names" grep -q "^lp__,lg_tau,D$" draws.csv
check "draws are all there" test "$(grep -c '^[-0-9]' draws.csv)" -eq 250
if command -v python3 >/dev/null; then  # an independent reader, comments skipped
  check "draws as another program reads them" python3 -c '
import csv
rows = list(csv.DictReader(line for line in open("draws.csv", newline="") if not line.startswith("#")))
assert len(rows) == 250 and all(list(row) == ["lp__", "lg_tau", "D"] for row in rows)
assert all(-0.5 <= float(row["lg_tau"]) <= 1.5 and 0.01 <= float(row["D"]) <= 1 for row in rows)
assert len({row["lp__"] for row in rows}) == 250 and all(abs(float(row["lp__"])) < 100 for row in rows)'
fi
expect "draws of several" 2 "\-\-combine" "$penn" infer "$model" $one $two --draws draws.csv
expect "samples without a file" 2 "\-\-draws" "$penn" infer "$model" $one --samples 10
expect "combined" 0 "3 trajectories: 3000 samples" "$penn" infer "$model" csv/*.csv --combine
expect "combined json" 0 '"combined": 3' "$penn" infer "$model" csv/*.csv --combine --json -
expect "combined json tells the sources" 0 '"csv/trajectory_002.csv"' "$penn" infer "$model" csv/*.csv --combine --json -
cp $one copy.csv
expect "one trajectory twice" 0 "warning: copy.csv is the same trajectory as .*trajectory_000.csv" "$penn" infer "$model" $one $two copy.csv --combine
check "different trajectories are not called the same" sh -c "! '$penn' infer '$model' csv/*.csv --combine | grep -q 'same trajectory'"
expect "predictive" 0 "increment tails of x" "$penn" infer "$model" $one --predictive 50
expect "predictive json" 0 '"percentile"' "$penn" infer "$model" $one --predictive 50 --json -

# ---- reasons to doubt
awk 'BEGIN { for (i = 0; i < 1000; ++i) print 0.25 }' >constant.csv
expect "a constant line" 0 "warning: x is constant" "$penn" infer "$model" constant.csv
awk '{ print 1000 * $1 }' values.txt >scaled.csv
expect "other units" 0 "warning: .*outside the range of the training data" "$penn" infer "$model" scaled.csv
expect "other units look atypical" 0 "does not look like the training data" "$penn" infer "$model" scaled.csv
awk -F, '/^t,/ { print; next } /^[0-9]/ { print 3 * $1 "," $2 }' $one >slow.csv
expect "another sampling interval" 0 "warning: sampled every 0.3; the model was trained for 0.1" "$penn" infer "$model" slow.csv
head -n 5 values.txt >short.csv
expect "five samples" 1 "5 samples; a trajectory needs at least 8" "$penn" infer "$model" short.csv
head -n 20 values.txt >shortish.csv
expect "twenty samples" 0 "warning: 20 samples; the model was trained on" "$penn" infer "$model" shortish.csv
"$penn" simulate oup -n 1 --seed 4 --set alpha=1.4 --set D_levy=1 --set D_fgn=0.5 --set lg_tau=-0.5 --set H=0.05 --csv -o other >/dev/null
expect "another system" 0 "warning: this does not look like the training data (typicality" "$penn" infer "$model" other/trajectory_000.csv

# ---- bad data: a message that names the place, never a crash
: >empty.csv
expect "empty file" 1 "empty.csv: the file is empty" "$penn" infer "$model" empty.csv
sed '40s/.*/abc/' values.txt >text.csv
expect "text among numbers" 1 "text.csv:40:1: 'abc' is not a number" "$penn" infer "$model" text.csv
sed '500s/.*/nan/' values.txt >nan.csv
expect "nan in the middle" 1 "nan.csv:500:1: 'nan' is not a finite number" "$penn" infer "$model" nan.csv
sed '500s/.*/-Inf/' values.txt >inf.csv
expect "inf in the middle" 1 "inf.csv:500" "$penn" infer "$model" inf.csv
head -n 1 values.txt >point.csv
expect "one point" 1 "needs at least 8" "$penn" infer "$model" point.csv
awk '{ print $1 "," $1 "," $1 }' values.txt >wide.csv
expect "too many columns" 1 "wide.csv: 3 columns, but the model observes 1 (x)" "$penn" infer "$model" wide.csv
awk -F, '/^t,/ { print; next } /^[0-9]/ { print $1 + (NR > 300) * 0.5 "," $2 }' $one >gap.csv
expect "a gap in time" 1 "gap.csv:.*the times are not uniform" "$penn" infer "$model" gap.csv
expect "a directory" 1 "directory" "$penn" infer "$model" csv
expect "a binary file" 1 "error: " "$penn" infer "$model" "$penn"
expect "a missing file" 1 "none.csv" "$penn" infer "$model" none.csv
expect "no such column" 1 "no column 'y'" "$penn" infer "$model" $one --columns y
head -c 200 npy/z.npy >cut.npy
expect "a cut array" 1 "cut.npy" "$penn" infer "$model" cut.npy
expect "a text file" 1 "manifest.json" "$penn" infer "$model" npy/manifest.json
expect "no model" 1 "there is no model file" "$penn" infer nothing $one
expect "data as a model" 1 "error: " "$penn" infer $one $one
expect "no data" 2 "DATA" "$penn" infer "$model"
awk -F, '/^t,/ { print "x,x,t"; next } /^#/ { print; next } { print $2 "," 2 * $2 "," $1 }' $one >twice.csv
expect "a name twice" 1 "twice.csv: columns 1 and 2 are both named 'x'" "$penn" infer "$model" twice.csv
check "a name twice, chosen by number" same twice.csv --columns 1
expect "a missing directory of the result" 1 "nowhere/a.json" "$penn" infer "$model" missing.csv --json nowhere/a.json
expect "two results of one name" 2 "two results" "$penn" infer "$model" $one --json a.txt --report ./a.txt
check "nothing is left of them" sh -c "! ls -a | grep -q 'a\.txt\|\.tmp-'"
cp bare.csv precious.csv
expect "data are not replaced" 2 "would be replaced" "$penn" infer "$model" precious.csv --draws precious.csv
expect "nor is the model" 2 "would be replaced" "$penn" infer "$model" bare.csv --json "$model"
check "data are still there" cmp bare.csv precious.csv
sed 's/^t,x/time_s,x/' slow.csv >named.csv
expect "a time column of another name" 0 "warning: sampled every 0.3" "$penn" infer "$model" named.csv
awk -F, '/^t,/ { print "when,x"; next } { print }' slow.csv >unnamed.csv
expect "a time column nobody would recognise" 0 "warning: sampled every 0.3" "$penn" infer "$model" unnamed.csv
awk '{ printf "%.1f\n", $1 }' values.txt >digits.csv
expect "rounded data are reported" 0 "warning: x is rounded to steps of 0.1" "$penn" infer "$model" digits.csv
awk '{ printf "%.0f\n", $1 }' values.txt >coarse.csv
expect "rounding as coarse as the data" 0 "warning: x is rounded to steps of 1, and typically changes by 1 .* biased" "$penn" infer "$model" coarse.csv

# ---- evaluation: the exit code is the verdict
"$penn" evaluate "$model" -n 300 --json evaluation.json >evaluation.txt 2>&1
code=$?
check "exit code 0 or 3" test $code -eq 0 -o $code -eq 3
verdict=$([ $code -eq 3 ] && echo true || echo false)
check "exit code is the verdict" grep -q "^  \"failed\": $verdict" evaluation.json
check "evaluation table" grep -q "^lg_tau " evaluation.txt
check "evaluation in words" grep -q "^Calibration" evaluation.txt
for key in nll parameters joint correlations outside_mass typicality discarded_fraction verdict length seed; do
  check "evaluation has $key" grep -q "^  \"$key\":" evaluation.json
done
"$penn" evaluate "$model" --data npy --json given.json >/dev/null 2>&1
check "given trajectories are all used" grep -q '^  "count": 20,' given.json
# A result that cannot be written is noticed before the work: a billion trajectories would take days.
for option in --json --report; do
  expect "evaluation: missing directory of $option" 1 "nowhere/e" timeout 60 "$penn" evaluate "$model" -n 1000000000 $option nowhere/e
  expect "evaluation: a directory as $option" 1 "directory" timeout 60 "$penn" evaluate "$model" -n 1000000000 $option csv
done
expect "evaluation does not replace the model" 2 "would be replaced" timeout 60 "$penn" evaluate "$model" -n 1000000000 --json "$model"
expect "no such data" 1 "there is no directory" "$penn" evaluate "$model" --data nowhere
expect "no trajectories" 2 "" "$penn" evaluate "$model" -n 0
"$penn" evaluate "$model" -n 200 --seed 5 --threads 1 --json a.json >/dev/null 2>&1
"$penn" evaluate "$model" -n 200 --seed 5 --threads 2 --json b.json >/dev/null 2>&1
check "the same numbers on any number of threads" sh -c "grep -v seconds a.json >a.txt; grep -v seconds b.json | cmp - a.txt"

# ---- the scales of a model, recalibrated
expect "recalibrate" 0 "scales of the posteriors times" "$penn" recalibrate "$model" -o recalibrated.safetensors -n 1000 --length 100
expect "info shows the scale factors" 0 "measured on 1000 fresh trajectories of each length" "$penn" info recalibrated.safetensors
expect "the model is used with them" 0 "" "$penn" infer recalibrated.safetensors slow.csv
expect "recalibrate keeps what exists" 1 "choose another name" "$penn" recalibrate "$model" -o recalibrated.safetensors -n 1000
expect "recalibrate does not replace its model" 2 "would be replaced" "$penn" recalibrate "$model" -o "$model" --force
expect "the old name of the command works, with a note" 1 "is now called .penn recalibrate." "$penn" calibrate "$model" -o recalibrated.safetensors -n 1000
expect "recalibrate: too few" 2 "" "$penn" recalibrate "$model" -o other.safetensors -n 10

echo "$((checks - failures)) passed, $failures failed"
[ $failures -eq 0 ]
