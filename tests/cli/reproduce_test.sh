#!/bin/sh
# penn reproduce as a new user would run it, with untrained models: nothing here needs good estimates. Usage: reproduce_test.sh PENN WRITE_MODELS
# Prints what failed and exits with 1; silent parts passed.
set -u
writer=$(realpath "$2")
. "$(dirname "$0")/checks.sh"
penn=$(cd "$OLDPWD" && realpath "$1")

expect "the list has the last figure" 0 "^fig19  *Figure 19" "$penn" reproduce --list
check "the list has 22 entries" test "$("$penn" reproduce --list | grep -c '^\(fig\|tab\)[0-9]')" -eq 22
expect "the list states the budget" 0 "8 trainings of 3 min" "$penn" reproduce --list --minutes 3
expect "an unknown name" 2 "the paper has no 'fig20'" "$penn" reproduce fig20 -o out
expect "nothing asked for" 2 "\-\-list" "$penn" reproduce -o out
expect "no folder" 2 "\-o DIR is missing" "$penn" reproduce fig2
mkdir none
expect "a missing model" 1 "penn train cfhn:x1x2 --minutes 60 -o none/cfhn-x1x2.safetensors" "$penn" reproduce fig12 -o out --models none

"$writer" models gallery || exit 1
expect "one page" 0 "Figure 2: gallery/fig2.html" "$penn" reproduce fig2 -o gallery --models models -n 200
expect "its command is in the page" 0 "penn reproduce fig2 -o gallery -n 200 --models models" cat gallery/fig2.html
expect "the index knows the others are not made" 0 "not made yet: penn reproduce tab3 -o gallery" cat gallery/index.html
expect "everything" 0 "gallery/index.html" "$penn" reproduce all -o gallery --models models -n 200
for page in fig1 fig2 fig3 fig4 fig5 fig6 fig7 fig8 fig9 fig10 fig11 fig12 fig13 fig14 fig15 fig16 fig17 fig18 fig19 tab1 tab2 tab3; do
  check "$page is there and in the index" sh -c "test -s gallery/$page.html && grep -q '\"link\":\"$page.html\"' gallery/index.html"
done
cp gallery/tab2.html before.html
expect "again" 0 "" "$penn" reproduce tab2 -o gallery --models models -n 200
check "the same page twice" cmp gallery/tab2.html before.html
rm models/airfoil.safetensors gallery/fig1[46].html
expect "all leaves out what is missing" 0 "Figure 15 left out: there is no model 'airfoil'" "$penn" reproduce all -o gallery --models models -n 200
check "and the index says so" grep -q '"problem":"there is no model .airfoil.*penn train airfoil --minutes 60' gallery/index.html
check "also of a page that was there before" grep -q '"problem":"an older page; not made again: there is no model .airfoil.*"link":"fig15.html"' gallery/index.html
expect "names with blanks" 0 "Figure 2" "$penn" reproduce fig2 -o "my gallery" --models models -n 200
check "are quoted in the command" grep -q "penn reproduce fig2 -o 'my gallery' -n 200" "my gallery/fig2.html"
expect "a page that cannot be made after one that can" 1 "there is no model 'airfoil'" "$penn" reproduce fig1 fig15 -o half --models models -n 200
check "leaves the index of the first" grep -q '"link":"fig1.html"' half/index.html

echo mine >gallery/fig3.html
expect "a foreign file is not replaced" 2 "'gallery/fig3.html' exists and is not a page" "$penn" reproduce fig2 fig3 -o gallery --models models -n 200
check "and is as it was" grep -qx mine gallery/fig3.html
mkdir -p site && echo mine >site/index.html
expect "nor a foreign index" 2 "'site/index.html' exists" "$penn" reproduce fig1 -o site --models models
cp models/soup.safetensors gallery/models/dvdp-full-10.safetensors
expect "a model that was trained otherwise" 1 "was trained on another system" "$penn" reproduce tab3 -o gallery --models models -n 200

echo "$((checks - failures)) passed, $failures failed"
[ $failures -eq 0 ]
