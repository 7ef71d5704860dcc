#pragma once

// The fixture of the conformance suite: a device in a group of its own, and short ways to say what
// the tests say often.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "hal/cts/backend.h"
#include "iree/testing/gtest.h"
#include "iree/testing/status_matchers.h"

namespace bessemer::hal::cts {

using ::iree::Status;
using ::iree::StatusCode;
using ::iree::testing::status::StatusIs;

/// A counted reference to a HAL object.
template <typename T>
class Ref {
public:
  Ref() = default;
  Ref(const Ref& other) : object_(other.object_) { iree_hal_resource_retain(object_); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { reset(); }

  void reset() { iree_hal_resource_release(std::exchange(object_, nullptr)); }
  T* get() const { return object_; }
  operator T*() const { return object_; }
  /// Where a function puts a new reference.
  T** out() {
    reset();
    return &object_;
  }

private:
  T* object_ = nullptr;
};

using Buffer = Ref<iree_hal_buffer_t>;
using CommandBuffer = Ref<iree_hal_command_buffer_t>;
using Semaphore = Ref<iree_hal_semaphore_t>;

/// A list of timepoints that owns its arrays and semaphores.
class Timepoints {
public:
  Timepoints() = default;
  Timepoints(std::initializer_list<std::pair<Semaphore, uint64_t>> points) {
    for (const auto& [semaphore, value] : points)
      add(semaphore, value);
  }
  void add(Semaphore semaphore, uint64_t value) {
    semaphores_.push_back(std::move(semaphore));
    values_.push_back(value);
    pointers_.clear();
    for (const auto& held : semaphores_)
      pointers_.push_back(held.get());
  }
  operator iree_hal_semaphore_list_t() const {
    return {pointers_.size(), const_cast<iree_hal_semaphore_t**>(pointers_.data()),
            const_cast<uint64_t*>(values_.data())};
  }

private:
  std::vector<Semaphore> semaphores_;
  std::vector<iree_hal_semaphore_t*> pointers_;
  std::vector<uint64_t> values_;
};

/// Bytes that differ from place to place and from `seed` to `seed`.
std::vector<uint8_t> pattern(size_t size, uint32_t seed);

class DeviceTest : public ::testing::TestWithParam<const Backend*> {
protected:
  void SetUp() override;

  /// Makes another device of the backend, in no group.
  iree_status_t createSeparateDevice(Ref<iree_hal_driver_t>* driver,
                                     Ref<iree_hal_device_t>* device);

  iree_hal_device_t* device() const { return device_; }
  iree_hal_allocator_t* allocator() const { return iree_hal_device_allocator(device_); }

  Semaphore semaphore(uint64_t value = 0);
  /// A buffer for transfers that the host can map.
  Buffer buffer(size_t size, uint8_t fill = 0);
  Buffer buffer(std::span<const uint8_t> contents);
  /// The bytes of `buffer` now.
  std::vector<uint8_t> contents(iree_hal_buffer_t* buffer);
  CommandBuffer
  commandBuffer(iree_hal_command_buffer_mode_t mode = IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT,
                size_t bindingCapacity = 0,
                iree_hal_command_category_t categories = IREE_HAL_COMMAND_CATEGORY_ANY);
  /// Orders everything before it against everything after it.
  void barrier(iree_hal_command_buffer_t* commands);

  iree_status_t execute(iree_hal_command_buffer_t* commands, const Timepoints& waits,
                        const Timepoints& signals,
                        std::span<const iree_hal_buffer_binding_t> table = {},
                        iree_hal_queue_affinity_t queues = IREE_HAL_QUEUE_AFFINITY_ANY);
  /// Executes and waits.
  iree_status_t run(iree_hal_command_buffer_t* commands,
                    std::span<const iree_hal_buffer_binding_t> table = {});
  /// Waits without end; the whole failure when there is one.
  iree_status_t wait(iree_hal_semaphore_t* semaphore, uint64_t value);
  /// The code that a semaphore has failed with, OK when it has not.
  iree_status_code_t failure(iree_hal_semaphore_t* semaphore);
  uint64_t value(iree_hal_semaphore_t* semaphore);
  bool hasQueue(int ordinal);

private:
  iree_hal_device_t* device_ = nullptr;
};

} // namespace bessemer::hal::cts

/// Runs a suite for every registered driver.
#define BESSEMER_HAL_CTS(suite)                                                                    \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite);                                            \
  INSTANTIATE_TEST_SUITE_P(, suite, ::testing::ValuesIn([] {                                       \
                             std::vector<const ::bessemer::hal::cts::Backend*> all;                \
                             for (const auto& backend : ::bessemer::hal::cts::backends())          \
                               all.push_back(&backend);                                            \
                             return all;                                                           \
                           }()),                                                                   \
                           [](const auto& info) { return info.param->name; })
