#!/bin/sh
# The installed tree, moved: the program answers without PATH, and a stranger's project builds against it, with CMake and with pkg-config.
#   install_test.sh BUILD_FOLDER SOURCE_FOLDER
set -eu
build=$1 source=$2
work=$build/install_test
rm -rf "$work"
cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
recording=$work/moved/share/penn/examples/soup/trajectory.csv
env -i "$work/moved/bin/penn" infer soup "$recording" | tee "$work/answer.txt"
grep -q lg_tau "$work/answer.txt"

cmake -S "$source/examples/infer_csv" -B "$work/project" -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$work/project"
env -i "$work/project/infer_csv" soup "$recording" | tee "$work/by_cmake.txt"
grep -q '^lg_tau = 0\.' "$work/by_cmake.txt"

if command -v pkg-config >/dev/null; then
  flags=$(PKG_CONFIG_PATH=$work/moved/lib/pkgconfig pkg-config --cflags --libs penn)
  ${CXX:-c++} "$source/examples/infer_csv/main.cc" $flags -o "$work/by_pkg_config"
  env -i "$work/by_pkg_config" soup "$recording" | cmp - "$work/by_cmake.txt"
else
  echo "pkg-config is not installed: that part is not tested"
fi
rm -rf "$work"
