// A device with an executable, for tests of dispatches.
#pragma once

#include <span>
#include <string_view>

#include "drivers/metal/device_test.h"
#include "drivers/metal/executable_builder.h"

namespace bessemer::metal_driver {

class DispatchTest : public DeviceTest {
protected:
  static const std::vector<TestFunction>& Functions() {
    static const auto* functions = new std::vector<TestFunction>{
        // As the compiler names what a model calls: dots, and underscores in pairs.
        {"count.threadgroups", "count_threadgroups", 1, 1, 0},
        {"module__scale$async.f32", "scale__words", 8, 3, 2},
        {"_abs", "_abs", 1, 0, 0},
        {"touch nothing", "touch_nothing", 1, 0, 0},
    };
    return *functions;
  }

  void SetUp() override {
    DeviceTest::SetUp();
    LoadExecutable();
  }
  void TearDown() override {
    executable_ = {};
    DeviceTest::TearDown();
  }

  void LoadExecutable() {
    std::vector<uint8_t> bytes = BuildExecutable(R"msl(
#include <metal_stdlib>
using namespace metal;
struct Counted { device atomic_uint* count [[id(0)]]; };
kernel void count_threadgroups(constant Counted& arguments [[buffer(0)]]) {
  atomic_fetch_add_explicit(arguments.count, 1u, memory_order_relaxed);
}
// Binding 1 is not used, so that the compiler leaves it out.
struct Scaled { device uint* source [[id(0)]]; device uint* target [[id(2)]]; };
kernel void scale__words(constant Scaled& arguments [[buffer(0)]],
                         constant uint2& constants [[buffer(3)]],
                         uint i [[thread_position_in_grid]]) {
  arguments.target[i] = arguments.source[i] * constants.x + constants.y;
}
kernel void _abs() {}
kernel void touch_nothing() { *reinterpret_cast<device volatile uint*>(8ul) = 1; }
)msl",
                                                 Functions());
    iree_hal_executable_cache_t* cache = nullptr;
    IREE_CHECK_OK(iree_hal_executable_cache_create(device_, IREE_SV("tests"), &cache));
    iree_hal_executable_params_t params;
    iree_hal_executable_params_initialize(&params);
    params.executable_format = IREE_SV("metal-msl-fb");
    params.executable_data = iree_make_const_byte_span(bytes.data(), bytes.size());
    iree_hal_executable_t* executable = nullptr;
    IREE_CHECK_OK(iree_hal_executable_cache_prepare_executable(cache, &params, &executable));
    iree_hal_executable_cache_release(cache);
    executable_ = HalPtr<iree_hal_executable_t>::Take(executable);
  }

  iree_hal_executable_function_t Find(std::string_view name) {
    iree_hal_executable_function_t function;
    IREE_CHECK_OK(
        iree_hal_executable_lookup_function_by_name(executable_.get(), ToIree(name), &function));
    return function;
  }

  static iree_hal_buffer_ref_t Ref(const HalPtr<iree_hal_buffer_t>& buffer,
                                   iree_device_size_t offset, iree_device_size_t length) {
    return iree_hal_make_buffer_ref(buffer.get(), offset, length);
  }

  iree_status_t Dispatch(const HalPtr<iree_hal_command_buffer_t>& commands, std::string_view name,
                         const iree_hal_dispatch_config_t& config,
                         std::span<const uint32_t> constants,
                         const std::vector<iree_hal_buffer_ref_t>& bindings,
                         iree_hal_dispatch_flags_t flags = IREE_HAL_DISPATCH_FLAG_NONE) {
    return iree_hal_command_buffer_dispatch(
        commands.get(), executable_.get(), Find(name), config,
        iree_make_const_byte_span(constants.data(), constants.size_bytes()),
        {bindings.size(), bindings.data()}, flags);
  }

  /// target = source * constants[0] + constants[1], 8 words in each threadgroup.
  iree_status_t Scale(const HalPtr<iree_hal_command_buffer_t>& commands,
                      iree_hal_buffer_ref_t source, iree_hal_buffer_ref_t target,
                      std::span<const uint32_t, 2> constants, uint32_t threadgroups) {
    return Dispatch(commands, "module__scale$async.f32",
                    iree_hal_make_static_dispatch_config(threadgroups, 1, 1), constants,
                    {source, source, target});
  }

  /// Adds the number of threadgroups to a word.
  iree_status_t Count(const HalPtr<iree_hal_command_buffer_t>& commands, iree_hal_buffer_ref_t word,
                      std::array<uint32_t, 3> threadgroups) {
    return Dispatch(
        commands, "count.threadgroups",
        iree_hal_make_static_dispatch_config(threadgroups[0], threadgroups[1], threadgroups[2]), {},
        {word});
  }

  static std::vector<uint32_t> Words(const HalPtr<iree_hal_buffer_t>& buffer) {
    std::vector<uint8_t> bytes = Read(buffer);
    std::vector<uint32_t> words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), words.size() * 4);
    return words;
  }

  HalPtr<iree_hal_executable_t> executable_;
};

} // namespace bessemer::metal_driver
