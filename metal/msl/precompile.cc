// Run while Bessemer is built: writes the precompiled standard library that libMetalCompiler holds.
#include "metal/msl/compiler.h"

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s OUTPUT.pch\n", argv[0]);
    return 2;
  }
  std::string diagnostics;
  bool ok = bessemer::msl::precompile_stdlib(argv[1], diagnostics);
  std::fputs(diagnostics.c_str(), stderr);
  return ok ? 0 : 1;
}
