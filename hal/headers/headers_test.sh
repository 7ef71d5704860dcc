#!/bin/sh
# Compiles every public header by itself, then all of them together, with nothing but the one include
# path: headers_test.sh INCLUDE LANGUAGE STANDARD COMPILER
include=$1
language=$2
standard=$3
compiler=$4
cd "$include" || exit 1

# Parts of atomics.h, by compiler.
headers=$(find iree -name '*.h' ! -name 'atomics_clang.h' ! -name 'atomics_gcc.h' | sort)
if [ "$language" = c ]; then
  headers=$(echo "$headers" | grep -vE '^iree/testing/|^iree/base/status_cc.h$')
fi
[ "$(echo "$headers" | wc -l)" -ge 80 ] || {
  echo "there are too few headers under $include: $headers" >&2
  exit 1
}

compile() {
  "$compiler" -x "$language" -std="$standard" -fsyntax-only -Wall -Wextra -Wno-missing-field-initializers \
    -Wno-unused-parameter -Werror -I"$include" -
}
failures=0
all=
for header in $headers; do
  all="$all#include \"$header\"
"
  printf '#include "%s"\n#include "%s"\n' "$header" "$header" | compile || {
    echo "FAILED alone: $header" >&2
    failures=$((failures + 1))
  }
done
printf '%s' "$all" | compile || {
  echo "FAILED together" >&2
  failures=$((failures + 1))
}
[ $failures = 0 ]
