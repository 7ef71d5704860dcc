// For tests: runs a kernel of pointer arguments as one thread on this machine, without the back end
// of Bessemer. What it computes is then the front end's and LLVM's doing alone.
#pragma once

#include "metal/msl/compiler.h"

#include <initializer_list>
#include <memory>
#include <string>

namespace llvm::orc {
class LLJIT;
}

namespace bessemer::msl {

class ScalarRunner {
public:
  /// Compiles; `error` says why when there is nothing to run. Functions `air.*` that the kernel
  /// calls are the C library's; of others there are none.
  explicit ScalarRunner(const std::string& source, Options options = safe_options());
  ~ScalarRunner();

  const std::string& error() const { return error_; }

  /// Calls the kernel with up to six pointers.
  void run(const std::string& kernel, std::initializer_list<void*> arguments);

  /// Exact names of functions: `air.sin`, not `air.fast_sin`.
  static Options safe_options();

private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::string error_;
};

} // namespace bessemer::msl
