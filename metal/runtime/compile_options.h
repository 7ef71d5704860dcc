// MTLCompileOptions.
#pragma once

#include <expected>
#include <string>

#include "metal/cpu/executor/compiler_service.h"
#include "metal/foundation/dictionary.h"
#include "metal/foundation/string.h"
#include "metal/objc/class.h"
#include "metal/runtime/types.h"

namespace mtl {

struct CompileOptionsValues {
  objc::Ref<ns::Dictionary> preprocessor_macros; // NSString to NSString or NSNumber
  Integer math_mode = 2;                         // MTLMathMode: safe, relaxed, fast
  Integer math_functions = 0;                    // MTLMathFloatingPointFunctions: fast, precise
  UInteger language_version = 0;                 // 0: the newest
  Integer library_type = 0;                      // MTLLibraryType: executable, dynamic
  objc::Ref<ns::String> install_name;
  objc::Ref<ns::Array> libraries;
  bool preserve_invariance = false;
  Integer optimization_level = 0;
  Integer symbol_visibility = 0;
  bool allow_undefined_symbols = false;
  UInteger max_total_threads_per_threadgroup = 0;
  bool enable_logging = false;
};

class CompileOptions : public objc::Object, public CompileOptionsValues {
public:
  OBJC_CLASS(CompileOptions, "MTLCompileOptions");

  static constexpr UInteger kNewestLanguage = 4 << 16 | 1;

  bool fast_math_enabled() const { return math_mode != 0; }
  void set_fast_math_enabled(bool enabled);
  UInteger language() const { return language_version ? language_version : kNewestLanguage; }

  /// For the compiler; one line that says which option is wrong when it cannot be done.
  static std::expected<bessemer::metal::cpu::SourceOptions, std::string>
  for_compiler(CompileOptions* options);
};

} // namespace mtl
