#!/bin/sh
# Runs the program as a user would. Usage: cli_test.sh PENN
# Prints what failed and exits with 1; silent parts passed.
set -u
penn=$1
tiny=$(cd "$(dirname "$0")/../.." && pwd)/fuzz/corpus/model/tiny.safetensors
. "$(dirname "$0")/checks.sh"

expect "help" 0 "simulate" "$penn" --help
expect "version" 0 "^[0-9]*\.[0-9]*\.[0-9]*$" "$penn" --version
expect "unknown command" 2 "hint" "$penn" fly
expect "info" 0 "fractional(H)" "$penn" info oup
expect "info of several observations" 0 "cfhn:x1x2" "$penn" info cfhn
# A model is known by its content; of a system and a model of one name, the system is shown and the model mentioned.
mkdir -p share/models
cp "$tiny" share/models/oup.safetensors
cp "$tiny" share/models/only-model.safetensors
cp "$tiny" model.toml
head -c 300 "$tiny" >cut
expect "info of a model" 0 "^Model of s, trained by" "$penn" info "$tiny"
expect "info of a model under any name" 0 "^Model of s, trained by" "$penn" info model.toml
expect "info of a shipped model" 0 "^Model of s, trained by" env PENN_SHARE=share "$penn" info only-model
expect "info of a name of both" 0 "fractional(H)" env PENN_SHARE=share "$penn" info oup
expect "info of a name of both mentions the model" 0 'penn info share/models/oup.safetensors' env PENN_SHARE=share "$penn" info oup
expect "info of the model of that name" 0 "^Model of s, trained by" env PENN_SHARE=share "$penn" info share/models/oup.safetensors
expect "info of a damaged model" 1 "error: cut: " "$penn" info cut
expect "info of a missing model" 1 "there is no model file 'none.safetensors'" "$penn" info none.safetensors
expect "info of nothing" 1 "there is no system file 'nothing'" "$penn" info nothing
printf 'name = "x"' >text.safetensors
expect "info of a text named as a model" 1 "error: text.safetensors" "$penn" info text.safetensors

expect "simulate" 0 "100 trajectories of 50 samples" "$penn" simulate oup -n 100 --length 50 --seed 7 -o one --threads 1
expect "simulate with two threads" 0 "written" "$penn" simulate oup -n 100 --length 50 --seed 7 -o two --threads 2
check "same bits for any number of threads" cmp one/z.npy two/z.npy
check "same theta for any number of threads" cmp one/theta.npy two/theta.npy
expect "simulate more" 0 "written" "$penn" simulate oup -n 1000 --length 50 --seed 7 -o more
size=$(($(wc -c <one/z.npy) - 128))
check "the first 100 of 1000 equal 100" sh -c "tail -c +129 more/z.npy | head -c $size >more.raw; tail -c +129 one/z.npy | cmp - more.raw"
check "manifest has the fraction" grep -q discarded_fraction one/manifest.json
check "manifest has the text" grep -q "fractional(H)" one/manifest.json
check "size of z" test "$size" -eq $((100 * 50 * 4))

expect "directory not empty" 1 "not empty" "$penn" simulate soup -n 5 -o one
touch one/mine
expect "forced" 0 "written" "$penn" simulate soup -n 5 -o one --force
check "other files stay" test -f one/mine
check "z was replaced" test "$(wc -c <one/z.npy)" -eq $((128 + 5 * 1000 * 4))

expect "csv" 0 "trajectory_" "$penn" simulate cfhn:x1x2 -n 3 --length 20 --csv -o csv --set a1=0.5
check "csv has a header" grep -q "^t,x1,x2$" csv/trajectory_000.csv
check "csv tells the parameters" grep -q "^# a1 = 0.5$" csv/trajectory_000.csv
check "csv starts at time 0" grep -q "^0," csv/trajectory_002.csv
check "csv has its rows" test "$(grep -c '^[0-9]' csv/trajectory_002.csv)" -eq 20

expect "page" 0 "drawn" "$penn" simulate airfoil -n 2 --page page.html
check "page is complete" grep -q "</html>" page.html
check "page needs no network" sh -c "! grep -qiE '(src|href)=[^ >]{0,2}(https?:)?//|url\([^)]{0,2}(https?:)?//|@import' page.html"
check "page forbids the network" grep -q "Content-Security-Policy" page.html
cp "$(dirname "$tiny")/../../../systems/soup.toml" own.toml
expect "a page does not replace its system" 2 "'own.toml' would be replaced" "$penn" simulate own.toml -n 2 --page own.toml
check "which is still there" grep -q "lg_tau" own.toml
expect "a page among its data" 0 "drawn: own/page.html" "$penn" simulate own.toml -n 2 --length 20 -o own --page own/page.html
expect "a page does not replace its data" 2 "would be replaced" "$penn" simulate own.toml -n 2 --length 20 -o own --force --page own/manifest.json

expect "reference" 0 "reference interpreter" "$penn" simulate soup -n 4 --length 20 --kernel reference -o slow
expect "its older name" 0 "reference interpreter" "$penn" simulate soup -n 4 --length 20 --interpret -o slower
check "which is the same" cmp slow/z.npy slower/z.npy
expect "lanes" 0 "lane interpreter" "$penn" simulate soup -n 4 --length 20 --kernel lanes -o lanes
expect "no compiler" 0 "lane interpreter" env PENN_CXX=/nowhere/c++ "$penn" simulate soup -n 4 --length 20 -o uncompiled
check "no compiler is needed" cmp lanes/z.npy uncompiled/z.npy
expect "a compiler that is not there" 1 "no C++ compiler was found" env PENN_CXX=/nowhere/c++ "$penn" simulate soup -n 4 --length 20 --kernel compiled -o none
expect "unknown kernel" 2 "lanes" "$penn" simulate soup -n 4 --kernel fast -o none
expect "cache elsewhere" 0 "compiled by" env PENN_CACHE="$folder/cache" "$penn" simulate soup -n 4 --length 20 -o cached
check "the cache is used" sh -c "ls cache/*.so"
head -c 100 /dev/urandom >"$(ls cache/*.so)"
expect "a spoiled cache is made again" 0 "compiled by" env PENN_CACHE="$folder/cache" "$penn" simulate soup -n 4 --length 20 -o spoiled
check "and gives the same" cmp cached/z.npy spoiled/z.npy
printf '#!/bin/sh\necho no such thing >&2; exit 1\n' >broken-compiler; chmod +x broken-compiler
expect "a broken compiler" 0 "could not compile the system: no such thing" env PENN_CACHE="$folder/cache2" PENN_CXX="$folder/broken-compiler" "$penn" simulate soup -n 4 --length 20 -o other
check "its remains are removed" sh -c "! ls cache2 | grep ."
expect "no place at all" 0 "the lane interpreter is used" env PENN_CACHE=/proc/nowhere TMPDIR=/proc/nowhere "$penn" simulate soup -n 4 --length 20 -o nowhere
expect "no place for a cache" 0 "compiled by" env PENN_CACHE=/proc/nowhere "$penn" simulate soup -n 4 --length 20 -o uncached

expect "zero trajectories" 2 "at least 1" "$penn" simulate soup -n 0 -o zero
expect "negative count" 2 "at least 1" "$penn" simulate soup -n -3 -o zero
expect "no count" 2 "required" "$penn" simulate soup -o zero
expect "nothing to write" 2 "nothing to write" "$penn" simulate soup -n 3
expect "unknown system" 1 "there is no system file" "$penn" simulate sup -n 3 -o zero
expect "no observation" 1 "choose one of: cfhn:x1x2" "$penn" simulate cfhn -n 3 -o zero
expect "settings before the system" 0 "3 trajectories" "$penn" simulate --set alpha=1.5 --set H=0.5 oup -n 3 --length 20 -o before
expect "settings in one word" 0 "3 trajectories" "$penn" simulate oup -n 3 --length 20 -o word --set alpha=1.5,H=0.5
expect "a file where a directory is meant" 2 "one CSV file per trajectory" "$penn" simulate oup -n 3 -o zero.csv
expect "unknown parameter" 2 "did you mean 'alpha'" "$penn" simulate oup -n 3 -o zero --set alpa=1.5
expect "setting without value" 2 "not of the form" "$penn" simulate oup -n 3 -o zero --set alpha
expect "setting out of domain" 1 "must lie in (0, 2\]" "$penn" simulate oup -n 3 -o zero --set alpha=3
expect "setting twice" 2 "twice" "$penn" simulate oup -n 3 -o zero --set alpha=1.5 --set alpha=1.6
expect "setting beyond float32" 2 "float32" "$penn" simulate soup -n 3 -o zero --set D=1e300
expect "usage of the command is named" 2 "penn simulate --help" "$penn" simulate soup -n many -o zero
expect "standard output is full" 1 "standard output" sh -c "'$penn' info soup >/dev/full"
expect "fractional noise beyond memory" 2 "GB of memory" "$penn" simulate oup -n 1 --length 9000000 -o zero
expect "bad number" 2 "hint" "$penn" simulate soup -n many -o zero
expect "bad length" 2 "hint" "$penn" simulate soup -n 3 --length 1 -o zero
expect "a directory as system" 1 "is a directory" "$penn" simulate one -n 3 -o zero
printf 'x = [' >broken.toml
head -c 2000000 /dev/zero >large.toml
expect "not a system file" 1 "bytes" "$penn" info large.toml
expect "broken file" 1 "broken.toml:1" "$penn" info broken.toml
touch file
expect "output below a file" 1 "cannot make the directory" "$penn" simulate soup -n 3 -o file/below
expect "output is a file" 1 "not a directory" "$penn" simulate soup -n 3 -o file
expect "output in a missing directory" 1 "cannot make the directory" "$penn" simulate soup -n 3 -o missing/below
check "nothing is left of failed runs" sh -c "! ls -d zero .zero* .below* 2>/dev/null | grep ."

# A full disk, played by a limit on the size of files (1 MiB = 2048 blocks of 512 bytes).
expect "full disk" 1 "hint\|large\|space" sh -c "ulimit -f 1024; '$penn' simulate soup -n 2000 -o full"
check "nothing is left on a full disk" sh -c "! ls -d full .full* 2>/dev/null | grep ."

# Interrupted work leaves nothing behind.
"$penn" simulate airfoil -n 1000000 -o interrupted >/dev/null 2>&1 &
child=$!
sleep 2
kill -INT $child 2>/dev/null || kill -TERM $child
wait $child
code=$?
checks=$((checks + 1))
[ $code -ne 0 ] || { echo "FAILED: interrupted run reported success"; failures=$((failures + 1)); }
check "nothing is left of an interrupted run" sh -c "! ls -d interrupted .interrupted* 2>/dev/null | grep ."

expect "bench" 0 "signature" "$penn" bench simulate soup --seconds 0.02
expect "bench as json" 0 '"lanes_give_the_same_bits": true' "$penn" bench simulate soup --seconds 0.02 --json -

echo "$((checks - failures)) passed, $failures failed"
[ $failures -eq 0 ]
