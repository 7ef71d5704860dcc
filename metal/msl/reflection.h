// What the syntax tree says of kernels and function constants, in AIR's terms.
#pragma once

#include "metal/air/signature.h"

#include <string>
#include <vector>

namespace clang {
class Sema;
}

namespace bessemer::msl {

struct ReflectedFunction {
  std::string symbol;       // mangled, as in the module that clang makes
  std::string name;         // what the host asks for
  air::Signature signature; // `function` is not set yet
};

struct ReflectedConstant {
  std::string symbol;
  std::string name;
  std::string type_name;
  uint32_t index = 0;
};

struct Reflection {
  std::vector<ReflectedFunction> functions;
  std::vector<ReflectedConstant> constants;
};

/// Looks through the whole translation unit, instances of templates included. Gives errors through
/// clang's diagnostics: parameters that a kernel cannot have, two constants with one index.
Reflection reflect(clang::Sema& sema);

} // namespace bessemer::msl
