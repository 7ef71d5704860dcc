// The way to the compiler: libMetalCompiler.so, opened when something must be compiled and not
// before, with the disk cache in front. What the cache holds needs no LLVM at all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_generated.h"
#include "library_generated.h"
#include "metal/compiler/compiler.h"
#include "metal/cpu/executor/error.h"
#include "metal/cpu/executor/grid.h"
#include "metal/cpu/executor/verified.h"

namespace bessemer::metal::cpu {

using LibraryTable = Verified<metal::Library>;
using KernelTable = Verified<metal::Kernel>;

struct SourceOptions {
  uint32_t language_version = 0; // MTLLanguageVersion; 0: newest
  bessemer_math_mode_t math_mode = BESSEMER_MATH_FAST;
  bool preserve_invariance = false;
  std::vector<std::pair<std::string, std::string>> macros; // name, value
};

struct ConstantValue {
  uint32_t index = 0;
  uint32_t type = 0;          // MTLDataType
  std::vector<uint8_t> value; // as many bytes as the type has
};

struct KernelRequest {
  std::span<const uint8_t> bitcode; // a Module of library.fbs
  std::string_view function;
  std::span<const ConstantValue> constants;
  Size3 threads;                 // all 0: a variant for any size
  bool distinct_buffers = false; // no range that is written overlaps another bound range
};

// Thread safe. Errors are one message, for sources clang's text with the user's own line numbers.
class CompilerService {
public:
  struct Options {
    // Path of libMetalCompiler.so. Empty: BESSEMER_COMPILER, else the file beside the library that
    // this code is linked into.
    std::string compiler_path;
    // Used instead of opening a library: tests, and programs that link the compiler.
    bessemer_compiler_get_fn compiler = nullptr;
    // Empty: $XDG_CACHE_HOME/bessemer, else ~/.cache/bessemer. BESSEMER_CACHE=0 turns the cache
    // off.
    std::string cache_directory;
    bool use_cache = true;
    uint64_t cache_limit_bytes = 0; // 0: BESSEMER_CACHE_MIB, else 1 GiB
    unsigned threads = 0;           // that compile; 0: by the number of processors
  };

  // The one of this process; lives until the process ends.
  static CompilerService& shared();

  explicit CompilerService(Options options);
  ~CompilerService();
  CompilerService(const CompilerService&) = delete;
  CompilerService& operator=(const CompilerService&) = delete;

  // MSL text. Warnings are in Library.warnings.
  Expected<LibraryTable> compile_source(std::string_view source, const SourceOptions& options);
  // The bytes of a .metallib file.
  Expected<LibraryTable> load_metallib(std::span<const uint8_t> bytes);
  // A library as the bytes of a .metallib file.
  Expected<std::vector<uint8_t>> write_metallib(const LibraryTable& library);

  // Machine code for this processor. Blocks; pipelines call it from compile threads.
  Expected<KernelTable> compile_kernel(const KernelRequest& request);
  // The same without an object, in a fraction of the time: fails where compiling the kernel would,
  // and tells what a pipeline says of itself.
  Expected<KernelTable> summarise_kernel(const KernelRequest& request);
  // The text of a stage (not a kernel or its summary), for inspection; never cached.
  Expected<std::string> kernel_text(const KernelRequest& request, bessemer_output_t output);

  // Runs `work` on a compile thread, first come, first served.
  void run_on_compile_thread(std::function<void()> work);
  // Waits for compiles that have begun, forgets those that have not and all later ones.
  void stop_compiling();

private:
  class Implementation;
  Expected<KernelTable> kernel(const KernelRequest& request, bessemer_output_t output);
  std::unique_ptr<Implementation> implementation_;
};

} // namespace bessemer::metal::cpu
