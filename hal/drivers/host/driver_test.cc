// What the host driver has beyond the HAL's own rules: parameters and the search for hazards. The
// rules are in the conformance suite.

#include <functional>
#include <string>

#include "iree/async/util/proactor_pool.h"
#include "iree/hal/drivers/host/registration/driver_module.h"
#include "iree/testing/gtest.h"
#include "iree/testing/status_matchers.h"

namespace {

using ::iree::Status;
using ::iree::StatusCode;
using ::iree::testing::status::StatusIs;

class HostDriverTest : public ::testing::Test {
protected:
  void SetUp() override {
    IREE_ASSERT_OK(iree_hal_driver_registry_allocate(iree_allocator_system(), &registry_));
    IREE_ASSERT_OK(iree_hal_host_driver_module_register(registry_));
    IREE_ASSERT_OK(iree_async_proactor_pool_create(1, nullptr,
                                                   iree_async_proactor_pool_options_default(),
                                                   iree_allocator_system(), &proactors_));
  }
  void TearDown() override {
    iree_hal_device_release(device_);
    iree_async_proactor_pool_release(proactors_);
    iree_hal_driver_registry_free(registry_);
  }

  iree_status_t create(const char* uri) {
    iree_hal_device_create_params_t params = iree_hal_device_create_params_default();
    params.proactor_pool = proactors_;
    return iree_hal_create_device(registry_, iree_make_cstring_view(uri), &params,
                                  iree_allocator_system(), &device_);
  }

  iree_hal_buffer_t* buffer() {
    iree_hal_buffer_t* buffer = nullptr;
    IREE_EXPECT_OK(
        iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(device_), {}, 256, &buffer));
    return buffer;
  }

  /// Records with `record` and runs.
  iree_status_t run(const std::function<void(iree_hal_command_buffer_t*)>& record) {
    iree_hal_command_buffer_t* commands = nullptr;
    IREE_EXPECT_OK(iree_hal_command_buffer_create(device_, IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT,
                                                  IREE_HAL_COMMAND_CATEGORY_TRANSFER,
                                                  IREE_HAL_QUEUE_AFFINITY_ANY, 0, &commands));
    IREE_EXPECT_OK(iree_hal_command_buffer_begin(commands));
    record(commands);
    IREE_EXPECT_OK(iree_hal_command_buffer_end(commands));
    iree_hal_semaphore_t* done = nullptr;
    IREE_EXPECT_OK(iree_hal_semaphore_create(device_, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                             IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &done));
    uint64_t value = 1;
    IREE_EXPECT_OK(iree_hal_device_queue_execute(
        device_, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(), {1, &done, &value},
        commands, iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE));
    iree_hal_command_buffer_release(commands);
    iree_status_t status =
        iree_hal_semaphore_wait(done, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
    iree_hal_semaphore_release(done);
    return status;
  }

  static void fill(iree_hal_command_buffer_t* commands, iree_hal_buffer_t* target, size_t offset,
                   size_t length) {
    const uint8_t byte = 1;
    IREE_EXPECT_OK(iree_hal_command_buffer_fill_buffer(
        commands, iree_hal_make_buffer_ref(target, offset, length), &byte, 1,
        IREE_HAL_FILL_FLAG_NONE));
  }
  static void copy(iree_hal_command_buffer_t* commands, iree_hal_buffer_t* source, size_t from,
                   iree_hal_buffer_t* target, size_t to, size_t length) {
    IREE_EXPECT_OK(iree_hal_command_buffer_copy_buffer(
        commands, iree_hal_make_buffer_ref(source, from, length),
        iree_hal_make_buffer_ref(target, to, length), IREE_HAL_COPY_FLAG_NONE));
  }
  static void barrier(iree_hal_command_buffer_t* commands, iree_hal_buffer_t* range = nullptr,
                      size_t offset = 0, size_t length = 0) {
    const iree_hal_buffer_barrier_t barrier = {IREE_HAL_ACCESS_SCOPE_TRANSFER_WRITE,
                                               IREE_HAL_ACCESS_SCOPE_TRANSFER_READ,
                                               iree_hal_make_buffer_ref(range, offset, length)};
    IREE_EXPECT_OK(iree_hal_command_buffer_execution_barrier(
        commands, IREE_HAL_EXECUTION_STAGE_TRANSFER, IREE_HAL_EXECUTION_STAGE_TRANSFER,
        IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 0, nullptr, range ? 1 : 0, &barrier));
  }

  iree_hal_driver_registry_t* registry_ = nullptr;
  iree_async_proactor_pool_t* proactors_ = nullptr;
  iree_hal_device_t* device_ = nullptr;
};

TEST_F(HostDriverTest, TakesParametersAndRefusesOthers) {
  IREE_ASSERT_OK(create("host://0?queues=3"));
  int64_t queues = 0;
  IREE_EXPECT_OK(
      iree_hal_device_query_i64(device_, IREE_SV("hal.device"), IREE_SV("concurrency"), &queues));
  EXPECT_EQ(queues, 3);
  iree_hal_device_release(device_);
  device_ = nullptr;
  for (const char* uri : {"host://?queues=0", "host://?queues=9", "host://?queues=x",
                          "host://?speed=1", "host://?hazards=ignore"}) {
    EXPECT_THAT(Status(create(uri)), StatusIs(StatusCode::kInvalidArgument)) << uri;
  }
  EXPECT_THAT(Status(create("host://7")), StatusIs(StatusCode::kNotFound));
  EXPECT_THAT(Status(create("guest://")), StatusIs(StatusCode::kNotFound));
}

TEST_F(HostDriverTest, FindsMissingBarriersAndTakesExactOnes) {
  IREE_ASSERT_OK(create("host://?hazards=find"));
  iree_hal_buffer_t* a = buffer();
  iree_hal_buffer_t* b = buffer();
  using Commands = iree_hal_command_buffer_t*;
  struct {
    const char* name;
    std::function<void(Commands)> record;
    bool isSafe;
  } const cases[] = {
      {"read after write", [&](Commands c) { fill(c, a, 0, 64), copy(c, a, 32, b, 0, 64); }, false},
      {"write after read", [&](Commands c) { copy(c, a, 0, b, 0, 64), fill(c, a, 63, 1); }, false},
      {"write after write", [&](Commands c) { fill(c, a, 0, 64), fill(c, a, 60, 8); }, false},
      {"reads of the same", [&](Commands c) { copy(c, a, 0, b, 0, 64), copy(c, a, 0, b, 64, 64); },
       true},
      {"neighbours", [&](Commands c) { fill(c, a, 0, 64), fill(c, a, 64, 64); }, true},
      {"a barrier for all",
       [&](Commands c) { fill(c, a, 0, 64), barrier(c), copy(c, a, 0, b, 0, 64); }, true},
      {"a barrier for the range",
       [&](Commands c) { fill(c, a, 0, 64), barrier(c, a, 0, 64), copy(c, a, 0, b, 0, 64); }, true},
      {"a barrier for another range",
       [&](Commands c) { fill(c, a, 0, 64), barrier(c, b, 0, 64), copy(c, a, 0, b, 0, 64); },
       false},
      {"a barrier for a part",
       [&](Commands c) { fill(c, a, 0, 64), barrier(c, a, 0, 32), copy(c, a, 40, b, 0, 8); },
       false},
      {"a barrier too early",
       [&](Commands c) { barrier(c), fill(c, a, 0, 64), copy(c, a, 0, b, 0, 64); }, false},
  };
  for (const auto& test : cases) {
    EXPECT_THAT(Status(run(test.record)),
                StatusIs(test.isSafe ? StatusCode::kOk : StatusCode::kFailedPrecondition))
        << test.name;
  }
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
}

} // namespace
