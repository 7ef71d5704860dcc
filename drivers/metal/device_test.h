// A Metal device in a group, and short ways to use it, for the driver's tests.
#pragma once

#include <cstdint>
#include <vector>

#include "drivers/metal/objects.h"
#include "drivers/metal/registration/driver_module.h"
#include "iree/async/frontier_tracker.h"
#include "iree/async/util/proactor_pool.h"
#include "iree/testing/gtest.h"
#include "iree/testing/status_matchers.h"

namespace bessemer::metal_driver {

/// Semaphores with values, retained while this lives.
class Fence {
public:
  Fence() = default;
  Fence(iree_hal_device_t* device, uint64_t value = 1) { Add(device, value); }
  Fence(const Fence&) = delete;
  ~Fence() {
    for (iree_hal_semaphore_t* semaphore : semaphores_)
      iree_hal_semaphore_release(semaphore);
  }

  void Add(iree_hal_device_t* device, uint64_t value) {
    iree_hal_semaphore_t* semaphore = nullptr;
    IREE_CHECK_OK(iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                            IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
    semaphores_.push_back(semaphore);
    values_.push_back(value);
  }
  void Add(const Fence& other) {
    for (size_t i = 0; i < other.semaphores_.size(); ++i) {
      iree_hal_semaphore_retain(other.semaphores_[i]);
      semaphores_.push_back(other.semaphores_[i]);
      values_.push_back(other.values_[i]);
    }
  }

  operator iree_hal_semaphore_list_t() const {
    return {semaphores_.size(), const_cast<iree_hal_semaphore_t**>(semaphores_.data()),
            const_cast<uint64_t*>(values_.data())};
  }
  iree_hal_semaphore_t* semaphore() const { return semaphores_[0]; }
  iree_status_t Wait(iree_timeout_t timeout = iree_infinite_timeout()) const {
    return iree_hal_semaphore_list_wait(*this, timeout, IREE_ASYNC_WAIT_FLAG_NONE);
  }
  iree_status_t Signal() const { return iree_hal_semaphore_list_signal(*this, nullptr); }
  bool Poll() const { return iree_hal_semaphore_list_poll(*this); }

private:
  std::vector<iree_hal_semaphore_t*> semaphores_;
  std::vector<uint64_t> values_;
};

class DeviceTest : public ::testing::Test {
protected:
  static constexpr iree_hal_queue_affinity_t kAny = IREE_HAL_QUEUE_AFFINITY_ANY;

  /// A device in no group.
  static iree_status_t CreateLoneDevice(iree_hal_device_t** out_device) {
    iree_allocator_t host = iree_allocator_system();
    iree_status_t status =
        iree_hal_metal_driver_module_register(iree_hal_driver_registry_default());
    if (!iree_status_is_already_exists(status))
      IREE_RETURN_IF_ERROR(status);
    iree_status_free(status);
    iree_hal_driver_t* driver = nullptr;
    IREE_RETURN_IF_ERROR(iree_hal_driver_registry_try_create(iree_hal_driver_registry_default(),
                                                             IREE_SV("metal"), host, &driver));
    iree_async_proactor_pool_t* proactors = nullptr;
    IREE_RETURN_IF_ERROR(iree_async_proactor_pool_create(
        1, nullptr, iree_async_proactor_pool_options_default(), host, &proactors));
    iree_hal_device_create_params_t params = iree_hal_device_create_params_default();
    params.proactor_pool = proactors;
    status = iree_hal_driver_create_default_device(driver, &params, host, out_device);
    iree_async_proactor_pool_release(proactors);
    iree_hal_driver_release(driver);
    return status;
  }

  void SetUp() override {
    iree_allocator_t host = iree_allocator_system();
    IREE_ASSERT_OK(CreateLoneDevice(&device_));
    IREE_ASSERT_OK(iree_async_frontier_tracker_create(iree_async_frontier_tracker_options_default(),
                                                      host, &tracker_));
    IREE_ASSERT_OK(iree_hal_device_group_create_from_device(device_, tracker_, host, &group_));
  }

  void TearDown() override {
    iree_hal_device_release(device_);
    iree_hal_device_group_release(group_);
    iree_async_frontier_tracker_release(tracker_);
  }

  HalPtr<iree_hal_buffer_t> NewBuffer(iree_device_size_t size, uint8_t contents = 0) {
    iree_hal_buffer_params_t params = {};
    params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE;
    params.usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING |
                   IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS;
    iree_hal_buffer_t* buffer = nullptr;
    IREE_CHECK_OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(device_), params,
                                                     size, &buffer));
    IREE_CHECK_OK(
        iree_hal_buffer_map_fill(buffer, 0, IREE_HAL_WHOLE_BUFFER, &contents, sizeof(contents)));
    return HalPtr<iree_hal_buffer_t>::Take(buffer);
  }

  static std::vector<uint8_t> Read(const HalPtr<iree_hal_buffer_t>& buffer) {
    std::vector<uint8_t> bytes(iree_hal_buffer_byte_length(buffer.get()));
    IREE_CHECK_OK(iree_hal_buffer_map_read(buffer.get(), 0, bytes.data(), bytes.size()));
    return bytes;
  }

  HalPtr<iree_hal_command_buffer_t>
  NewCommandBuffer(iree_hal_command_buffer_mode_t mode = IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT,
                   iree_host_size_t binding_capacity = 0) {
    iree_hal_command_buffer_t* command_buffer = nullptr;
    IREE_CHECK_OK(iree_hal_command_buffer_create(device_, mode, IREE_HAL_COMMAND_CATEGORY_ANY, kAny,
                                                 binding_capacity, &command_buffer));
    IREE_CHECK_OK(iree_hal_command_buffer_begin(command_buffer));
    return HalPtr<iree_hal_command_buffer_t>::Take(command_buffer);
  }

  iree_status_t Execute(const HalPtr<iree_hal_command_buffer_t>& command_buffer, const Fence& waits,
                        const Fence& signals, iree_hal_buffer_binding_table_t table = {}) {
    return iree_hal_device_queue_execute(device_, kAny, waits, signals, command_buffer.get(), table,
                                         IREE_HAL_EXECUTE_FLAG_NONE);
  }

  iree_status_t ExecuteAndWait(const HalPtr<iree_hal_command_buffer_t>& command_buffer,
                               iree_hal_buffer_binding_table_t table = {}) {
    Fence done(device_);
    IREE_RETURN_IF_ERROR(Execute(command_buffer, Fence(), done, table));
    return done.Wait();
  }

  iree_hal_device_t* device_ = nullptr;
  iree_async_frontier_tracker_t* tracker_ = nullptr;
  iree_hal_device_group_t* group_ = nullptr;
};

} // namespace bessemer::metal_driver
