// A file's bytes, mapped.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "vm/status.h"

namespace bessemer::vm {

class FileMapping {
public:
  // ReadWrite: what is written to the memory goes to the file.
  enum class Mode : uint8_t { Read, ReadWrite };

  // Maps the whole file; "-" reads standard input into memory.
  static Result<std::shared_ptr<const FileMapping>> open(const std::string& path,
                                                         Mode mode = Mode::Read);
  // A copy of `bytes` in place of a file.
  static std::shared_ptr<const FileMapping> fromMemory(std::span<const std::byte> bytes);
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;
  ~FileMapping();

  // Reads all of it now, instead of page by page where it is first touched.
  void preload() const;

  std::span<const std::byte> bytes() const { return bytes_; }
  bool writable() const { return mode_ == Mode::ReadWrite; }

private:
  FileMapping() = default;
  std::span<const std::byte> bytes_;
  Mode mode_ = Mode::Read;
  std::unique_ptr<std::byte[]> memory_; // when the bytes are not a mapping
};

} // namespace bessemer::vm
