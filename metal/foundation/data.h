// NSData, and the bytes of any data object.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "metal/foundation/types.h"

namespace ns {

class Data : public objc::Object {
public:
  OBJC_CLASS(Data, "NSData");

  Data() = default;
  explicit Data(std::string bytes) : bytes_(std::move(bytes)) {}

  std::string& bytes() { return bytes_; }
  const std::string& bytes() const { return bytes_; }

private:
  std::string bytes_;
};

class MutableData : public Data {
public:
  OBJC_CLASS(MutableData, "NSMutableData");
  using Data::Data;
};

/// The bytes of an NSData or a dispatch_data_t, valid as long as the object; nothing for any other
/// object or null.
std::optional<std::span<const std::byte>> bytes_of(Object* data);

} // namespace ns
