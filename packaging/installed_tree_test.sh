#!/usr/bin/env bash
# installed_tree_test.sh SOURCE BUILD LIBDIR: installs BUILD, moves the tree, and builds and runs
# samples/embed against it, once by CMake's package and once by pkg-config, with the system's
# compiler.
set -euo pipefail
source=$1 build=$2 libdir=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
prefix=$work/moved
want="10 20 30 40 "
check() {
  got=$(env -u LD_LIBRARY_PATH "$@")
  [ "$got" = "$want" ] || { echo "$1 printed '$got', expected '$want'" >&2; exit 1; }
}

cp -r "$source/samples/embed" "$work/sample"
cmake -S "$work/sample" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/build" >/dev/null
check "$work/build/embed-c" "$work/sample/multiply.vmfb"
check "$work/build/embed-cc" "$work/sample/multiply.vmfb"

export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
flags=$(pkg-config --cflags --libs bessemer)
cc -std=c11 "$work/sample/embed.c" -o "$work/c" $flags -Wl,-rpath,"$prefix/$libdir"
c++ -std=c++20 "$work/sample/embed.cc" -o "$work/cc" $flags -Wl,-rpath,"$prefix/$libdir"
check "$work/c" "$work/sample/multiply.vmfb"
check "$work/cc" "$work/sample/multiply.vmfb"
pkg-config --exists bessemer-metal

# The command, too, finds its libraries where it was moved to.
env -u LD_LIBRARY_PATH "$prefix/bin/bessemer" run --module="$work/sample/multiply.vmfb" \
  --input=4xf32=1,2,3,4 --input=4xf32=10 --expected_output=4xf32=10,20,30,40 >/dev/null
# So do the toolchain's programs.
if [ -x "$prefix/libexec/bessemer/metal" ]; then
  printf 'kernel void nothing(device int* a [[buffer(0)]]) { a[0] = 1; }\n' > "$work/x.metal"
  (cd "$work" && PATH=$prefix/libexec/bessemer:$PATH && unset LD_LIBRARY_PATH &&
   xcrun -sdk macosx metal -c x.metal -o x.air && xcrun metallib x.air -o x.metallib)
  "$prefix/bin/bessemer" inspect "$work/x.metallib" | grep -q nothing ||
    { echo "the toolchain's library has no function" >&2; exit 1; }
fi
[ -s "$prefix/share/man/man1/bessemer-run.1" ] || { echo "no manual page" >&2; exit 1; }
echo "installed tree: CMake, pkg-config and the command work"
