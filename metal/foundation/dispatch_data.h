// dispatch_data_t: immutable bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "metal/foundation/types.h"
#include "metal/objc/block.h"

namespace ns {

class DispatchData : public objc::Object {
public:
  OBJC_CLASS(DispatchData, "OS_dispatch_data");

  /// Copies the bytes.
  explicit DispatchData(std::span<const std::byte> bytes);
  /// Keeps the client's bytes; `destructor` is called when the data dies.
  DispatchData(std::span<const std::byte> bytes, objc::BlockRef<void()> destructor);
  ~DispatchData();

  std::span<const std::byte> bytes() const { return bytes_; }

private:
  std::string copy_;
  std::span<const std::byte> bytes_;
  objc::BlockRef<void()> destructor_;
};

} // namespace ns
