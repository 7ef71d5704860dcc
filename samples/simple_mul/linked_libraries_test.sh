#!/bin/sh
# Fails when a program needs a shared library beside Metal's and those of C and C++.
program=$1
libraries=$(ldd "$program") || exit 1
others=$(echo "$libraries" | grep -vE '^\s*(linux-vdso|libMetal|libc|libm|libdl|libpthread|libstdc\+\+|libgcc_s)\.so|ld-linux')
if [ -n "$others" ] || ! echo "$libraries" | grep -q 'libMetal\.so => /'; then
  echo "$program needs, beside libMetal, libc and libstdc++:" "$others" >&2
  exit 1
fi
