// MTLDevice: the processor this process runs on, as a GPU of a chosen family.
#pragma once

#include <atomic>
#include <memory>

#include "metal/cpu/executor/executor.h"
#include "metal/foundation/string.h"
#include "metal/objc/class.h"
#include "metal/runtime/encoding.h"
#include "metal/runtime/gpu_family.h"

namespace mtl {

/// One for each process, made at the first use and never destroyed.
class Device : public objc::Object {
public:
  OBJC_CLASS(Device, "BSMDevice");

  static Device* shared();
  Device();

  bessemer::metal::cpu::Executor& executor() const { return executor_; }
  const GpuFamilyProfile& family() const { return family_; }

  /// "Bessemer CPU (model)", or what BESSEMER_DEVICE_NAME says.
  ns::String* name() const { return name_.get(); }
  UInteger max_buffer_length() const { return max_buffer_length_; }
  uint64_t recommended_max_working_set_size() const { return working_set_size_; }

  /// Bytes of all buffers and heaps; those of no-copy buffers count too, as on a Mac.
  UInteger current_allocated_size() const { return allocated_.load(std::memory_order_relaxed); }
  void add_allocated(UInteger bytes) { allocated_.fetch_add(bytes, std::memory_order_relaxed); }
  void remove_allocated(UInteger bytes) { allocated_.fetch_sub(bytes, std::memory_order_relaxed); }

private:
  bessemer::metal::cpu::Executor& executor_;
  GpuFamilyProfile family_;
  objc::Ref<ns::String> name_;
  UInteger max_buffer_length_;
  uint64_t working_set_size_;
  std::atomic<UInteger> allocated_{0};
};

} // namespace mtl
