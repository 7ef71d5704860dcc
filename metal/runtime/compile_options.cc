#include "metal/runtime/compile_options.h"

#include "metal/foundation/number.h"
#include "metal/runtime/encoding.h"
#include "metal/runtime/property.h"

namespace mtl {

void CompileOptions::set_fast_math_enabled(bool enabled) {
  math_mode = enabled ? 2 : 0;
  math_functions = enabled ? 0 : 1;
}

std::expected<bessemer::metal::cpu::SourceOptions, std::string>
CompileOptions::for_compiler(CompileOptions* options) {
  bessemer::metal::cpu::SourceOptions result;
  if (!options)
    return result;
  // Whatever lies between the first and the newest version is a version that Metal has had.
  UInteger version = options->language_version, major = version >> 16, minor = version & 0xffff;
  if (version && (major < 1 || version > kNewestLanguage || minor > 4))
    return std::unexpected("MTLCompileOptions.languageVersion: " + std::to_string(major) + "." +
                           std::to_string(minor) + " is not a version of the Metal language");
  if (options->library_type != 0)
    return std::unexpected(
        "MTLCompileOptions.libraryType: dynamic libraries are not supported by this device");
  if (options->libraries && options->libraries->count())
    return std::unexpected(
        "MTLCompileOptions.libraries: dynamic libraries are not supported by this device");
  result.language_version = static_cast<uint32_t>(options->language_version);
  switch (options->math_mode) {
  case 0:
    result.math_mode = BESSEMER_MATH_SAFE;
    break;
  case 1:
    result.math_mode = BESSEMER_MATH_RELAXED;
    break;
  case 2:
    result.math_mode = BESSEMER_MATH_FAST;
    break;
  default:
    return std::unexpected("MTLCompileOptions.mathMode: " + std::to_string(options->math_mode) +
                           " is not a math mode");
  }
  result.preserve_invariance = options->preserve_invariance;
  if (options->preprocessor_macros)
    for (const auto& [key, value] : options->preprocessor_macros->entries()) {
      auto* name = objc::cast<ns::String>(key.get());
      if (!name)
        return std::unexpected("MTLCompileOptions.preprocessorMacros: a key is not a string");
      std::string text;
      if (auto* string = objc::cast<ns::String>(value.get()))
        text = ns::utf8(string);
      else if (objc::cast<ns::Number>(value.get()))
        text = ns::utf8(ns::description_of(value.get()));
      else
        return std::unexpected("MTLCompileOptions.preprocessorMacros: the value of " +
                               ns::utf8(name) + " is neither a string nor a number");
      result.macros.emplace_back(ns::utf8(name), std::move(text));
    }
  // The order of a dictionary is not, but the compiler's cache key must be, the same each time.
  std::ranges::sort(result.macros);
  return result;
}

using P = Properties<CompileOptions, CompileOptionsValues>;
using C = CompileOptions;

OBJC_DEFINE_CLASS(
    CompileOptions, "MTLCompileOptions", objc::Object,
    .methods =
        {
            objc::method<&P::get<&C::preprocessor_macros>>("preprocessorMacros"),
            objc::method<&P::set<&C::preprocessor_macros>>("setPreprocessorMacros:"),
            objc::method<&C::fast_math_enabled>("fastMathEnabled"),
            objc::method<&C::set_fast_math_enabled>("setFastMathEnabled:"),
            objc::method<&P::get<&C::math_mode>>("mathMode"),
            objc::method<&P::set<&C::math_mode>>("setMathMode:"),
            objc::method<&P::get<&C::math_functions>>("mathFloatingPointFunctions"),
            objc::method<&P::set<&C::math_functions>>("setMathFloatingPointFunctions:"),
            objc::method<&C::language>("languageVersion"),
            objc::method<&P::set<&C::language_version>>("setLanguageVersion:"),
            objc::method<&P::get<&C::library_type>>("libraryType"),
            objc::method<&P::set<&C::library_type>>("setLibraryType:"),
            objc::method<&P::get<&C::install_name>>("installName"),
            objc::method<&P::set<&C::install_name>>("setInstallName:"),
            objc::method<&P::get<&C::libraries>>("libraries"),
            objc::method<&P::set<&C::libraries>>("setLibraries:"),
            objc::method<&P::get<&C::preserve_invariance>>("preserveInvariance"),
            objc::method<&P::set<&C::preserve_invariance>>("setPreserveInvariance:"),
            objc::method<&P::get<&C::optimization_level>>("optimizationLevel"),
            objc::method<&P::set<&C::optimization_level>>("setOptimizationLevel:"),
            objc::method<&P::get<&C::symbol_visibility>>("compileSymbolVisibility"),
            objc::method<&P::set<&C::symbol_visibility>>("setCompileSymbolVisibility:"),
            objc::method<&P::get<&C::allow_undefined_symbols>>("allowReferencingUndefinedSymbols"),
            objc::method<&P::set<&C::allow_undefined_symbols>>(
                "setAllowReferencingUndefinedSymbols:"),
            objc::method<&P::get<&C::max_total_threads_per_threadgroup>>(
                "maxTotalThreadsPerThreadgroup"),
            objc::method<&P::set<&C::max_total_threads_per_threadgroup>>(
                "setMaxTotalThreadsPerThreadgroup:"),
            objc::method<&P::get<&C::enable_logging>>("enableLogging"),
            objc::method<&P::set<&C::enable_logging>>("setEnableLogging:"),
            objc::method<&P::copy>("copyWithZone:"),
        },
    .protocols = {"NSCopying"});

} // namespace mtl
