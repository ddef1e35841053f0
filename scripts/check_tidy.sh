#!/bin/sh
# clang-tidy (.clang-tidy) on C++ files of penn/ and paper/.
#   scripts/check_tidy.sh BUILD         those changed since the previous landing (PENN_TIDY_BASE, default: the commit before this one)
#   scripts/check_tidy.sh BUILD --all   every one; takes long
# BUILD: a configured build folder, for its compile_commands.json; best one of clang (preset "assert").
set -eu
cd "$(dirname "$0")/.."
build=$1
tidy=""
for name in clang-tidy-14 clang-tidy; do
  if command -v "$name" >/dev/null; then tidy=$name; break; fi
done
[ -n "$tidy" ] || { echo "check_tidy: skipped, no clang-tidy; run scripts/setup.sh test" >&2; exit 0; }
if [ "${2-}" = --all ]; then
  files=$(git ls-files 'penn/*.cc' 'paper/*.cc')
else
  base=${PENN_TIDY_BASE:-HEAD~1}
  base=$(git merge-base "$base" HEAD 2>/dev/null) || { echo "check_tidy: skipped, the history is too short to know what changed" >&2; exit 0; }
  files=$(git diff --name-only --diff-filter=d "$base" -- 'penn/*.cc' 'paper/*.cc')
fi
[ -n "$files" ] || { echo "check_tidy: no C++ file changed"; exit 0; }
# Files are compiled together (PENN_UNITY), so the build's database does not have them one by one: flags are said here. PENN_VERSION and PENN_SHARE_DIR
# stand for those of CMakeLists.txt.
folder() { sed -n "s/^$1:PATH=//p" "$build/CMakeCache.txt"; }
eigen=$(folder EIGEN_INCLUDE_DIR) fftw=$(folder FFTW_INCLUDE_DIR)
printf '%s\n' $files | xargs -P2 -I{} "$tidy" --quiet {} -- \
  -std=gnu++20 -march=native -I. -isystem "$eigen" -idirafter "$fftw" '-DPENN_VERSION="0"' '-DPENN_SHARE_DIR="."'
