// MTLArgumentEncoder: writes what an argument buffer holds. A buffer is its GPU address, 8 bytes,
// at the offset of its member in the kernel's struct; constants lie there themselves.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "metal/cpu/executor/compiler_service.h"
#include "metal/foundation/array.h"
#include "metal/runtime/buffer.h"
#include "metal/runtime/device_object.h"
#include "metal/runtime/reflection_type.h"

namespace mtl {

class ArgumentEncoder : public DeviceObject {
public:
  OBJC_CLASS(ArgumentEncoder, "BSMArgumentEncoder");

  enum class Kind { Buffer, Constant, Other };
  struct Slot {
    uint64_t offset;
    uint32_t size;
    Kind kind;
    const MemberTables* pointee = nullptr; // of a pointer to another argument buffer
  };

  /// For a struct of a kernel. `members` lies in `library`. A `size` of 0 is found from the
  /// members.
  static objc::Ref<ArgumentEncoder> create(Device* device,
                                           const bessemer::metal::cpu::LibraryTable& library,
                                           const MemberTables* members, UInteger size,
                                           UInteger alignment);
  /// For MTLArgumentDescriptors. Null, with a message, when two have one index.
  static objc::Ref<ArgumentEncoder> create(Device* device, ns::Array* descriptors);

  ArgumentEncoder(Device* device, std::map<UInteger, Slot> slots, UInteger size,
                  UInteger alignment);

  UInteger encoded_length() const { return size_; }
  UInteger alignment() const { return alignment_; }

  /// What later calls write into.
  void set_argument_buffer(Buffer* buffer, UInteger offset);
  void set_argument_buffer_element(Buffer* buffer, UInteger start, UInteger element);

  void set_buffer(Buffer* buffer, UInteger offset, UInteger index);
  void set_buffers(Buffer* const* buffers, const UInteger* offsets, Range range);
  /// Where the constant is written; null, with a message, when there is none.
  void* constant_data(UInteger index);
  /// For the argument buffer that the pointer at `index` points to. Null, with a message, when it
  /// points to none. The caller owns it.
  ArgumentEncoder* new_nested(UInteger index);

private:
  uint8_t* slot(const char* method, UInteger index, Kind kind);

  std::map<UInteger, Slot> slots_; // by [[id(n)]]
  UInteger size_;
  UInteger alignment_;
  std::optional<bessemer::metal::cpu::LibraryTable> library_; // keeps Slot::pointee
  objc::Ref<Buffer> buffer_;
  UInteger offset_ = 0;
};

} // namespace mtl
