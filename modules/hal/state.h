// The hal module's state in one context, and what its functions share.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "modules/hal/hal_module.h"
#include "modules/hal/status.h"
#include "modules/hal/types.h"
#include "vm/buffer.h"
#include "vm/native_function.h"

namespace bessemer::modules::hal {

struct State final : vm::NativeState {
  std::vector<vm::RefPtr<iree_hal_device_t>> devices;
  // By device, parallel to `devices`; made at first use.
  std::vector<vm::RefPtr<iree_hal_executable_cache_t>> caches;
  HalModuleOptions options;
};

// The functions by topic; names without the module's.
std::span<const vm::NativeFunction> allocatorFunctions();
std::span<const vm::NativeFunction> bufferFunctions();
std::span<const vm::NativeFunction> bufferViewFunctions();
std::span<const vm::NativeFunction> channelFunctions();
std::span<const vm::NativeFunction> commandBufferFunctions();
std::span<const vm::NativeFunction> deviceFunctions();
std::span<const vm::NativeFunction> executableFunctions();
std::span<const vm::NativeFunction> fenceFunctions();

// Return types and parameters of functions, spelled short.
using vm::RefPtr;
using vm::Required;
using vm::Result;
using vm::Span;
using vm::StatusCode;

inline iree_string_view_t textOf(const vm::Buffer* buffer) {
  return buffer ? iree_make_string_view(buffer->text().data(), buffer->text().size())
                : iree_string_view_empty();
}

inline iree_const_byte_span_t bytesOf(const vm::Buffer* buffer) {
  return buffer ? iree_make_const_byte_span(buffer->data(), buffer->length())
                : iree_const_byte_span_empty();
}

// What a fence stands for; null: nothing.
inline iree_hal_semaphore_list_t semaphoresOf(iree_hal_fence_t* fence) {
  return fence ? iree_hal_fence_semaphore_list(fence) : iree_hal_semaphore_list_empty();
}

// For functions that make an object: the reference, or the error.
template <class T>
Result<RefPtr<T>> made(iree_status_t status, RefPtr<T> object) {
  if (auto result = fromStatus(status); !result)
    return vm::propagate(std::move(result));
  return object;
}

} // namespace bessemer::modules::hal
