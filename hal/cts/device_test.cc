#include "hal/cts/device_test.h"

#include <cstring>
#include <map>
#include <memory>

#include "iree/async/frontier_tracker.h"
#include "iree/async/util/proactor_pool.h"
#include "iree/base/threading/numa.h"

namespace bessemer::hal::cts {
namespace {

/// Makes the proactor pool that all devices share.
iree_status_t createProactorPool(iree_async_proactor_pool_t** out_pool) {
  return iree_async_proactor_pool_create(iree_numa_node_count(), nullptr,
                                         iree_async_proactor_pool_options_default(),
                                         iree_allocator_system(), out_pool);
}

/// A driver's device, made once and kept to the end of the process.
struct SharedDevice {
  Ref<iree_hal_driver_t> driver;
  Ref<iree_hal_device_t> device;
  iree_hal_device_group_t* group = nullptr;
  iree_async_frontier_tracker_t* tracker = nullptr;
  Status status;

  explicit SharedDevice(const Backend& backend) { status = create(backend); }
  ~SharedDevice() {
    device.reset();
    iree_hal_device_group_release(group);
    driver.reset();
    iree_async_frontier_tracker_release(tracker);
  }

  iree_status_t create(const Backend& backend) {
    iree_hal_device_create_params_t params = iree_hal_device_create_params_default();
    IREE_RETURN_IF_ERROR(createProactorPool(&params.proactor_pool));
    iree_status_t status = backend.create(&params, driver.out(), device.out());
    iree_async_proactor_pool_release(params.proactor_pool);
    IREE_RETURN_IF_ERROR(status);
    iree_async_frontier_tracker_options_t options = iree_async_frontier_tracker_options_default();
    IREE_RETURN_IF_ERROR(
        iree_async_frontier_tracker_create(options, iree_allocator_system(), &tracker));
    return iree_hal_device_group_create_from_device(device, tracker, iree_allocator_system(),
                                                    &group);
  }
};

/// Ends the shared devices before the process's own teardown.
class SharedDevices : public ::testing::Environment {
public:
  static SharedDevice& of(const Backend& backend) {
    auto& shared = all()[&backend];
    if (!shared)
      shared = std::make_unique<SharedDevice>(backend);
    return *shared;
  }
  void TearDown() override { all().clear(); }

private:
  static std::map<const Backend*, std::unique_ptr<SharedDevice>>& all() {
    static std::map<const Backend*, std::unique_ptr<SharedDevice>> devices;
    return devices;
  }
};

[[maybe_unused]] auto* const kEnvironment =
    ::testing::AddGlobalTestEnvironment(new SharedDevices());

} // namespace

std::vector<uint8_t> pattern(size_t size, uint32_t seed) {
  std::vector<uint8_t> bytes(size);
  uint32_t state = seed * 2654435761u + 1;
  for (uint8_t& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return bytes;
}

void DeviceTest::SetUp() {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  // "Suite.Test" without the instance's name.
  std::string suite = info->test_suite_name();
  if (const size_t slash = suite.rfind('/'); slash != suite.npos)
    suite = suite.substr(slash + 1);
  std::string test = info->name();
  test = suite + "." + test.substr(0, test.find('/'));
  for (const auto& exclusion : GetParam()->exclusions) {
    if (iree_string_view_match_pattern(iree_make_cstring_view(test.c_str()),
                                       iree_make_cstring_view(exclusion.pattern.c_str()))) {
      GTEST_SKIP() << exclusion.reason;
    }
  }
  SharedDevice& shared = SharedDevices::of(*GetParam());
  if (shared.status.code() == StatusCode::kUnavailable) {
    GTEST_SKIP() << "the driver has no device here: " << shared.status.ToString();
  }
  ASSERT_TRUE(shared.status.ok()) << shared.status.ToString();
  device_ = shared.device;
}

iree_status_t DeviceTest::createSeparateDevice(Ref<iree_hal_driver_t>* driver,
                                               Ref<iree_hal_device_t>* device) {
  iree_hal_device_create_params_t params = iree_hal_device_create_params_default();
  IREE_RETURN_IF_ERROR(createProactorPool(&params.proactor_pool));
  iree_status_t status = GetParam()->create(&params, driver->out(), device->out());
  iree_async_proactor_pool_release(params.proactor_pool);
  return status;
}

Semaphore DeviceTest::semaphore(uint64_t value) {
  Semaphore result;
  IREE_EXPECT_OK(iree_hal_semaphore_create(device_, IREE_HAL_QUEUE_AFFINITY_ANY, value,
                                           IREE_HAL_SEMAPHORE_FLAG_DEFAULT, result.out()));
  return result;
}

Buffer DeviceTest::buffer(size_t size, uint8_t fill) {
  return buffer(std::vector<uint8_t>(size, fill));
}

Buffer DeviceTest::buffer(std::span<const uint8_t> contents) {
  iree_hal_buffer_params_t params = {};
  params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE;
  params.usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING;
  Buffer result;
  IREE_EXPECT_OK(
      iree_hal_allocator_allocate_buffer(allocator(), params, contents.size(), result.out()));
  IREE_EXPECT_OK(iree_hal_buffer_map_write(result, 0, contents.data(), contents.size()));
  return result;
}

std::vector<uint8_t> DeviceTest::contents(iree_hal_buffer_t* buffer) {
  std::vector<uint8_t> bytes(iree_hal_buffer_byte_length(buffer));
  IREE_EXPECT_OK(iree_hal_device_transfer_d2h(device_, buffer, 0, bytes.data(), bytes.size(),
                                              IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT,
                                              iree_infinite_timeout()));
  return bytes;
}

CommandBuffer DeviceTest::commandBuffer(iree_hal_command_buffer_mode_t mode, size_t bindingCapacity,
                                        iree_hal_command_category_t categories) {
  CommandBuffer result;
  IREE_EXPECT_OK(iree_hal_command_buffer_create(
      device_, mode, categories, IREE_HAL_QUEUE_AFFINITY_ANY, bindingCapacity, result.out()));
  IREE_EXPECT_OK(iree_hal_command_buffer_begin(result));
  return result;
}

void DeviceTest::barrier(iree_hal_command_buffer_t* commands) {
  const iree_hal_memory_barrier_t memory = {IREE_HAL_ACCESS_SCOPE_MEMORY_WRITE,
                                            IREE_HAL_ACCESS_SCOPE_MEMORY_READ |
                                                IREE_HAL_ACCESS_SCOPE_MEMORY_WRITE};
  IREE_EXPECT_OK(iree_hal_command_buffer_execution_barrier(
      commands, IREE_HAL_EXECUTION_STAGE_TRANSFER | IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE,
      IREE_HAL_EXECUTION_STAGE_TRANSFER | IREE_HAL_EXECUTION_STAGE_COMMAND_ISSUE,
      IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 1, &memory, 0, nullptr));
}

iree_status_t DeviceTest::execute(iree_hal_command_buffer_t* commands, const Timepoints& waits,
                                  const Timepoints& signals,
                                  std::span<const iree_hal_buffer_binding_t> table,
                                  iree_hal_queue_affinity_t queues) {
  return iree_hal_device_queue_execute(device_, queues, waits, signals, commands,
                                       {table.size(), table.data()}, IREE_HAL_EXECUTE_FLAG_NONE);
}

iree_status_t DeviceTest::run(iree_hal_command_buffer_t* commands,
                              std::span<const iree_hal_buffer_binding_t> table) {
  Semaphore done = semaphore();
  IREE_RETURN_IF_ERROR(execute(commands, {}, {{done, 1}}, table));
  return wait(done, 1);
}

iree_status_t DeviceTest::wait(iree_hal_semaphore_t* semaphore, uint64_t value) {
  iree_status_t status =
      iree_hal_semaphore_wait(semaphore, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
  if (iree_status_is_ok(status))
    return status;
  uint64_t reached = 0;
  iree_status_t whole = iree_hal_semaphore_query(semaphore, &reached);
  if (iree_status_is_ok(whole))
    return status;
  iree_status_ignore(status);
  return whole;
}

iree_status_code_t DeviceTest::failure(iree_hal_semaphore_t* semaphore) {
  uint64_t reached = 0;
  iree_status_t status = iree_hal_semaphore_query(semaphore, &reached);
  const iree_status_code_t code = iree_status_code(status);
  iree_status_ignore(status);
  return code;
}

uint64_t DeviceTest::value(iree_hal_semaphore_t* semaphore) {
  uint64_t reached = 0;
  IREE_EXPECT_OK(iree_hal_semaphore_query(semaphore, &reached));
  return reached;
}

bool DeviceTest::hasQueue(int ordinal) {
  iree_hal_queue_pool_backend_t backend;
  iree_status_t status = iree_hal_device_query_queue_pool_backend(
      device_, iree_hal_queue_affinity_t{1} << ordinal, &backend);
  const bool exists = iree_status_is_ok(status);
  iree_status_ignore(status);
  return exists;
}

} // namespace bessemer::hal::cts
