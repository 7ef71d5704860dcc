// A file's bytes, mapped read-only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "vm/status.h"

namespace bessemer::vm {

class FileMapping {
public:
  // Maps the whole file; "-" reads standard input into memory.
  static Result<std::shared_ptr<const FileMapping>> open(const std::string& path);
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;
  ~FileMapping();

  std::span<const std::byte> bytes() const { return bytes_; }

private:
  FileMapping() = default;
  std::span<const std::byte> bytes_;
  std::unique_ptr<std::byte[]> memory_; // when the bytes are not a mapping
};

} // namespace bessemer::vm
