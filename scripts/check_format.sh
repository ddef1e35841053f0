#!/bin/sh
# Every C++ file is as clang-format 14 writes it (other versions differ), and no line is longer than 120 characters: texts that clang-format
# cannot break are broken by hand. `scripts/check_format.sh --fix` formats.
set -eu
cd "$(dirname "$0")/.."
limit=120
files() { git ls-files '*.cc' '*.h'; }
format=""
for name in clang-format-14 clang-format; do
  if command -v "$name" >/dev/null && "$name" --version | grep -q 'version 14\.'; then format=$name; break; fi
done
[ -n "$format" ] || { echo "check_format: no clang-format 14; run scripts/setup.sh test" >&2; exit 1; }
if [ "${1-}" = --fix ]; then files | xargs "$format" -i; else files | xargs "$format" --dry-run -Werror; fi
# Characters, not bytes: the pages' texts have Greek letters.
if files | LC_ALL=C.UTF-8 xargs grep -nE "^.{$((limit + 1))}" /dev/null; then
  echo "check_format: the lines above are longer than $limit characters" >&2
  exit 1
fi
