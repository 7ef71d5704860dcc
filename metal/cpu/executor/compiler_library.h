// libMetalCompiler.so: found, identified without being opened, opened when it is needed.
#pragma once

#include <mutex>
#include <string>

#include "metal/compiler/compiler.h"
#include "metal/cpu/executor/error.h"

namespace bessemer::metal::cpu {

// Thread safe.
class CompilerLibrary {
public:
  // `path` empty: BESSEMER_COMPILER, else libMetalCompiler.so beside the library that holds this
  // code. `stamp_directory`: where what is known about the file is kept between processes; empty:
  // nowhere.
  CompilerLibrary(std::string path, std::string stamp_directory);
  // Of a compiler that is in the process already.
  explicit CompilerLibrary(bessemer_compiler_get_fn get);

  // Opens it at the first call (some 100 ms: LLVM).
  Expected<const bessemer_compiler_t*> open();
  // The compiler's build id. Known from the stamp when neither the file nor the libraries that it
  // uses have changed since a process last opened it; opens it otherwise.
  Expected<std::string> build_id();

private:
  std::string read_stamp() const;
  void write_stamp(const std::string& build_id) const;
  std::string stamp_path() const;

  std::mutex mutex_;
  std::string path_;
  std::string stamp_directory_;
  bessemer_compiler_get_fn get_ = nullptr;
  const bessemer_compiler_t* compiler_ = nullptr;
  std::string build_id_;
  std::string open_error_; // it is not tried again
};

} // namespace bessemer::metal::cpu
