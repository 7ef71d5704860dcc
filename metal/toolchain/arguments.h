// What a command line of `metal` asks for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/Support/Error.h"

#include "metal/msl/compiler.h"

namespace bessemer::toolchain {

struct SourceArguments {
  enum class Action : uint8_t {
    Link,       // to a .metallib
    Compile,    // -c: to .air
    Assemble,   // -S: to AIR as text
    Preprocess, // -E
    Nothing,    // -fsyntax-only, or only dependencies (-M)
    Help,
    Version,
  };
  Action action = Action::Link;
  std::vector<std::string> inputs;
  std::string output; // empty: a name made of the input's
  msl::Options options;
  // Text before the source, line by line: -U and -include.
  std::string prefix;

  struct Dependencies {
    bool wanted = false;
    bool to_output = false;           // -M, -MM: they are the result
    bool phony = false;               // -MP: a rule for each header
    std::string file;                 // -MF; empty: a name made of the output's
    std::vector<std::string> targets; // -MT, -MQ; empty: the output
  } dependencies;
  bool list_includes = false; // -H
};

/// Flags that only tell where Apple's compiler keeps things, or how a GPU's code is to be
/// optimised, are taken and say nothing. An unknown flag is an error.
llvm::Expected<SourceArguments> parse_arguments(const std::vector<std::string>& arguments);

/// MTLLanguageVersion of `metal3.1`, `macos-metal2.4` and the like.
llvm::Expected<uint32_t> parse_standard(llvm::StringRef text);

} // namespace bessemer::toolchain
