// Files of named parameters: IREE archives (.irpa), .safetensors and .gguf.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "vm/file_mapping.h"
#include "vm/status.h"

namespace bessemer::modules {

// Bytes of a file, or one pattern repeated.
struct Parameter {
  enum class Kind : uint8_t { Data, Splat };
  Kind kind = Kind::Data;
  uint64_t offset = 0; // of data, in its file
  uint64_t length = 0; // bytes
  std::array<std::byte, 16> pattern = {};
  uint8_t pattern_length = 0;                  // of a splat; divides its length
  std::shared_ptr<const vm::FileMapping> file; // of data
};

struct Archive {
  std::string path;
  std::map<std::string, Parameter, std::less<>> parameters;
};

// Maps the file; the extension of its name says what it is. With `writable`, changes to the mapped
// data go to the file. Errors name file and place.
vm::Result<Archive> openArchive(const std::string& path, bool writable = false);

// The readers behind it, for a file in memory. External parameters of an .irpa are looked for
// beside `path`.
vm::Result<Archive> readIrpa(std::shared_ptr<const vm::FileMapping> file, const std::string& path,
                             bool writable = false);
vm::Result<Archive> readSafetensors(std::shared_ptr<const vm::FileMapping> file,
                                    const std::string& path);
vm::Result<Archive> readGguf(std::shared_ptr<const vm::FileMapping> file, const std::string& path);

} // namespace bessemer::modules
