// Metal Shading Language to AIR, in process, with clang as a library.
#pragma once

#include "metal/air/stage_clock.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bessemer::msl {

enum class MathMode : uint8_t {
  Safe,    // IEEE arithmetic; contraction within an expression only
  Relaxed, // may reassociate and approximate, keeps NaN and infinity
  Fast,    // Metal's default: as Relaxed, with the fast versions of library functions
};

struct Macro {
  std::string name;
  std::string value;
};

struct Options {
  uint32_t language_version = 0; // MTLLanguageVersion, major << 16 | minor; 0: the newest
  MathMode math_mode = MathMode::Fast;
  std::vector<Macro> macros;
  // What diagnostics call the source.
  std::string file_name = "program_source";
  // DWARF line tables, in which the source has that name.
  bool line_tables = false;
  // Where `#include` looks besides Metal's own headers; empty for a client's source.
  std::vector<std::string> include_directories;
  // Where `#include "..."` looks first: the source's own folder. Empty: nowhere.
  std::string quote_directory;
  bool warnings = true;
  bool warnings_are_errors = false;
  // Only preprocess: the text is the result, and no module.
  bool preprocess = false;
  bool preprocess_comments = false; // which stay
  bool preprocess_lines = true;     // with the markers that tell where lines come from
  // Functions that other files may call stay, for a linker; else only kernels do.
  bool for_linking = false;
  // Simplify until the module looks as Apple's compiler leaves one. Off, for sources with so many
  // kernels that it pays to do it for the kernel that is asked for (see air::simplify).
  bool simplify = true;
};

// A file that the source includes, itself or by another; 1 is the source's own. Metal's headers are
// left out.
struct Include {
  std::string path;
  unsigned depth = 1;
};

struct Compilation {
  // Null when there was an error.
  std::unique_ptr<llvm::Module> module;
  // Errors and warnings in clang's form, `file:line:column: error: text`, at the source's own
  // lines.
  std::string diagnostics;
  std::vector<Include> includes; // in order; a file that is entered twice is there twice
  std::string preprocessed;      // where that was asked for and no error came
  std::vector<air::StageTime> stages;
};

/// The newest MTLLanguageVersion that is known here.
constexpr uint32_t kNewestLanguage = 3u << 16 | 2;

/// Compiles `source` to one AIR module with all its kernels. May run in several threads at once,
/// each with its own context.
Compilation compile(llvm::StringRef source, const Options& options, llvm::LLVMContext& context);

/// Writes the precompiled standard library, which `compile` then takes from the program's own
/// image. False, with text in `diagnostics`, when the headers do not compile.
bool precompile_stdlib(llvm::StringRef path, std::string& diagnostics);

} // namespace bessemer::msl
