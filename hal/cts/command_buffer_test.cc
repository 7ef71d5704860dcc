// Recording rules, what recording captures, binding tables, and lives of the objects involved.

#include "hal/cts/device_test.h"

namespace bessemer::hal::cts {
namespace {

class CommandBufferTest : public DeviceTest {
protected:
  iree_status_t fill(iree_hal_command_buffer_t* commands, iree_hal_buffer_ref_t target,
                     uint8_t byte) {
    return iree_hal_command_buffer_fill_buffer(commands, target, &byte, 1, IREE_HAL_FILL_FLAG_NONE);
  }
  iree_status_t fill(iree_hal_command_buffer_t* commands, iree_hal_buffer_t* target, uint8_t byte) {
    return fill(commands, iree_hal_make_buffer_ref(target, 0, IREE_HAL_WHOLE_BUFFER), byte);
  }
};

TEST_P(CommandBufferTest, IsRecordedOnce) {
  Buffer target = buffer(16);
  CommandBuffer commands;
  IREE_ASSERT_OK(iree_hal_command_buffer_create(device(), IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT,
                                                IREE_HAL_COMMAND_CATEGORY_TRANSFER,
                                                IREE_HAL_QUEUE_AFFINITY_ANY, 0, commands.out()));
  EXPECT_THAT(Status(fill(commands, target, 1)), StatusIs(StatusCode::kFailedPrecondition));
  EXPECT_THAT(Status(iree_hal_command_buffer_end(commands)),
              StatusIs(StatusCode::kFailedPrecondition));
  IREE_ASSERT_OK(iree_hal_command_buffer_begin(commands));
  EXPECT_THAT(Status(iree_hal_command_buffer_begin(commands)),
              StatusIs(StatusCode::kFailedPrecondition));
  IREE_ASSERT_OK(fill(commands, target, 1));
  EXPECT_THAT(Status(execute(commands, {}, {})), StatusIs(StatusCode::kFailedPrecondition));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
  EXPECT_THAT(Status(fill(commands, target, 1)), StatusIs(StatusCode::kFailedPrecondition));
  EXPECT_THAT(Status(iree_hal_command_buffer_begin(commands)),
              StatusIs(StatusCode::kFailedPrecondition));
  IREE_EXPECT_OK(run(commands));
}

TEST_P(CommandBufferTest, SaysWhatItWasMadeWith) {
  CommandBuffer a =
      commandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0, IREE_HAL_COMMAND_CATEGORY_TRANSFER);
  CommandBuffer b = commandBuffer();
  EXPECT_EQ(iree_hal_command_buffer_mode(a), IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT);
  EXPECT_EQ(iree_hal_command_buffer_allowed_categories(a), IREE_HAL_COMMAND_CATEGORY_TRANSFER);
  EXPECT_NE(iree_hal_command_buffer_profile_id(a), 0u);
  EXPECT_NE(iree_hal_command_buffer_profile_id(a), iree_hal_command_buffer_profile_id(b));
}

TEST_P(CommandBufferTest, RefusesModesThatContradict) {
  CommandBuffer commands;
  for (const auto& [mode, capacity] : {
           std::pair<iree_hal_command_buffer_mode_t, size_t>{
               IREE_HAL_COMMAND_BUFFER_MODE_ALLOW_INLINE_EXECUTION, 0},
           {IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT |
                IREE_HAL_COMMAND_BUFFER_MODE_ALLOW_INLINE_EXECUTION,
            1},
       }) {
    EXPECT_THAT(Status(iree_hal_command_buffer_create(
                    device(), mode, IREE_HAL_COMMAND_CATEGORY_TRANSFER, IREE_HAL_QUEUE_AFFINITY_ANY,
                    capacity, commands.out())),
                StatusIs(StatusCode::kInvalidArgument));
  }
}

TEST_P(CommandBufferTest, InlineExecutionDoesNotGoBehindWaits) {
  CommandBuffer commands = commandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT |
                                         IREE_HAL_COMMAND_BUFFER_MODE_ALLOW_INLINE_EXECUTION);
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
  EXPECT_THAT(Status(execute(commands, {{semaphore(), 1}}, {})),
              StatusIs(StatusCode::kInvalidArgument));
  IREE_EXPECT_OK(run(commands));
}

TEST_P(CommandBufferTest, NestsDebugGroupsAndWantsThemClosed) {
  for (auto mode : {IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT}) {
    Buffer target = buffer(16);
    CommandBuffer commands = commandBuffer(mode);
    const iree_hal_label_location_t location = {IREE_SV("file.mlir"), 12};
    IREE_ASSERT_OK(iree_hal_command_buffer_begin_debug_group(
        commands, IREE_SV("outer"), iree_hal_label_color_unspecified(), &location));
    IREE_ASSERT_OK(iree_hal_command_buffer_begin_debug_group(
        commands, IREE_SV(""), iree_hal_label_color_unspecified(), nullptr));
    IREE_ASSERT_OK(fill(commands, target, 7));
    IREE_ASSERT_OK(iree_hal_command_buffer_end_debug_group(commands));
    EXPECT_THAT(Status(iree_hal_command_buffer_end(commands)),
                StatusIs(StatusCode::kFailedPrecondition));
    IREE_ASSERT_OK(iree_hal_command_buffer_end_debug_group(commands));
    EXPECT_THAT(Status(iree_hal_command_buffer_end_debug_group(commands)),
                StatusIs(StatusCode::kFailedPrecondition));
    IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
    IREE_ASSERT_OK(run(commands));
    EXPECT_EQ(contents(target), std::vector<uint8_t>(16, 7));
  }
}

TEST_P(CommandBufferTest, ChecksCommandsAsTheyAreRecorded) {
  Buffer target = buffer(64), other = buffer(64);
  iree_hal_buffer_params_t params = {};
  params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
  params.usage = IREE_HAL_BUFFER_USAGE_TRANSFER_SOURCE;
  Buffer readOnly;
  IREE_ASSERT_OK(iree_hal_allocator_allocate_buffer(allocator(), params, 64, readOnly.out()));
  const uint32_t bytes = 0;
  auto whole = [](iree_hal_buffer_t* buffer) {
    return iree_hal_make_buffer_ref(buffer, 0, IREE_HAL_WHOLE_BUFFER);
  };
  auto fillWith = [&](iree_hal_command_buffer_t* c, iree_hal_buffer_ref_t ref, size_t size) {
    return Status(
        iree_hal_command_buffer_fill_buffer(c, ref, &bytes, size, IREE_HAL_FILL_FLAG_NONE));
  };
  auto copy = [&](iree_hal_command_buffer_t* c, iree_hal_buffer_ref_t from,
                  iree_hal_buffer_ref_t to) {
    return Status(iree_hal_command_buffer_copy_buffer(c, from, to, IREE_HAL_COPY_FLAG_NONE));
  };
  using iree_make =
      iree_hal_buffer_ref_t (*)(iree_hal_buffer_t*, iree_device_size_t, iree_device_size_t);
  const iree_make at = iree_hal_make_buffer_ref;

  CommandBuffer commands = commandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 2);
  EXPECT_THAT(fillWith(commands, whole(target), 3), StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(fillWith(commands, whole(target), 8), StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(fillWith(commands, at(target, 2, 8), 4), StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(fillWith(commands, at(target, 4, 6), 4), StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(fillWith(commands, at(target, 60, 8), 4), StatusIs(StatusCode::kOutOfRange));
  EXPECT_THAT(fillWith(commands, at(target, 68, 4), 4), StatusIs(StatusCode::kOutOfRange));
  EXPECT_THAT(fillWith(commands, whole(readOnly), 4), StatusIs(StatusCode::kPermissionDenied));
  EXPECT_THAT(fillWith(commands, iree_hal_make_indirect_buffer_ref(2, 0, 4), 4),
              StatusIs(StatusCode::kOutOfRange));
  EXPECT_THAT(copy(commands, at(target, 0, 8), at(other, 0, 12)),
              StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(copy(commands, at(target, 0, 8), at(target, 4, 8)),
              StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(copy(commands, at(target, 0, 8), at(target, 8, 8)), StatusIs(StatusCode::kOk));
  EXPECT_THAT(copy(commands, at(other, 0, 8), at(readOnly, 0, 8)),
              StatusIs(StatusCode::kPermissionDenied));

  // Nothing is looked at when there is nothing to move.
  EXPECT_THAT(fillWith(commands, at(nullptr, 3, 0), 3), StatusIs(StatusCode::kOk));
  EXPECT_THAT(copy(commands, at(nullptr, 0, 0), at(nullptr, 0, 0)), StatusIs(StatusCode::kOk));
  IREE_EXPECT_OK(iree_hal_command_buffer_update_buffer(commands, nullptr, 0, at(nullptr, 0, 0),
                                                       IREE_HAL_UPDATE_FLAG_NONE));

  CommandBuffer dispatches =
      commandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0, IREE_HAL_COMMAND_CATEGORY_DISPATCH);
  EXPECT_THAT(fillWith(dispatches, whole(target), 4), StatusIs(StatusCode::kFailedPrecondition));
}

TEST_P(CommandBufferTest, ChecksTheTableAtSubmission) {
  Buffer target = buffer(64);
  CommandBuffer commands = commandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 4);
  const uint32_t bytes = 0x01020304;
  IREE_ASSERT_OK(iree_hal_command_buffer_fill_buffer(
      commands, iree_hal_make_indirect_buffer_ref(1, 8, 16), &bytes, 4, IREE_HAL_FILL_FLAG_NONE));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
  using Table = std::vector<iree_hal_buffer_binding_t>;
  const iree_hal_buffer_binding_t unused = {nullptr, 0, 0};
  EXPECT_THAT(Status(execute(commands, {}, {})), StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(Status(execute(commands, {}, {}, Table{unused})), StatusIs(StatusCode::kOutOfRange));
  EXPECT_THAT(Status(execute(commands, {}, {}, Table{unused, unused})),
              StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(Status(execute(commands, {}, {}, Table{unused, {target, 0, 20}})),
              StatusIs(StatusCode::kOutOfRange));
  EXPECT_THAT(Status(execute(commands, {}, {}, Table{unused, {target, 48, IREE_HAL_WHOLE_BUFFER}})),
              StatusIs(StatusCode::kOutOfRange));
  EXPECT_THAT(Status(execute(commands, {}, {}, Table{unused, {target, 2, 32}})),
              StatusIs(StatusCode::kInvalidArgument));
  // A whole buffer from an offset on is what follows the offset; more slots than used are fine.
  IREE_EXPECT_OK(
      run(commands, Table{unused, {target, 40, IREE_HAL_WHOLE_BUFFER}, unused, unused, unused}));
}

TEST_P(CommandBufferTest, RunsAgainWithOtherTables) {
  Buffer buffers[] = {buffer(64), buffer(64), buffer(64)};
  CommandBuffer commands = commandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 2);
  IREE_ASSERT_OK(fill(commands, iree_hal_make_indirect_buffer_ref(0, 0, 64), 0x42));
  barrier(commands);
  IREE_ASSERT_OK(iree_hal_command_buffer_copy_buffer(
      commands, iree_hal_make_indirect_buffer_ref(0, 0, 32),
      iree_hal_make_indirect_buffer_ref(1, 16, 32), IREE_HAL_COPY_FLAG_NONE));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
  std::vector<uint8_t> copied(64, 0);
  std::fill_n(copied.begin() + 16, 32, 0x42);
  for (int i = 0; i < 3; ++i) {
    Buffer source = buffer(64), target = buffer(64);
    const iree_hal_buffer_binding_t table[] = {{source, 0, 64}, {target, 0, 64}};
    IREE_ASSERT_OK(run(commands, table));
    EXPECT_EQ(contents(source), std::vector<uint8_t>(64, 0x42));
    EXPECT_EQ(contents(target), copied);
  }
}

TEST_P(CommandBufferTest, IsInFlightSeveralTimesAtOnce) {
  constexpr int kTimes = 16;
  CommandBuffer commands = commandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 1);
  IREE_ASSERT_OK(fill(commands, iree_hal_make_indirect_buffer_ref(0, 0, 256), 0x99));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
  Semaphore go = semaphore();
  std::vector<Buffer> targets;
  std::vector<Semaphore> done;
  for (int i = 0; i < kTimes; ++i) {
    targets.push_back(buffer(256));
    done.push_back(semaphore());
    const iree_hal_buffer_binding_t table[] = {{targets.back(), 0, 256}};
    IREE_ASSERT_OK(execute(commands, {{go, 1}}, {{done.back(), 1}}, table));
  }
  IREE_ASSERT_OK(iree_hal_semaphore_signal(go, 1, nullptr));
  for (int i = 0; i < kTimes; ++i) {
    IREE_ASSERT_OK(wait(done[i], 1));
    EXPECT_EQ(contents(targets[i]), std::vector<uint8_t>(256, 0x99));
  }
}

TEST_P(CommandBufferTest, CapturesWhatItIsGiven) {
  Buffer target = buffer(64);
  CommandBuffer commands = commandBuffer();
  {
    std::vector<uint8_t> source = pattern(32, 1);
    IREE_ASSERT_OK(iree_hal_command_buffer_update_buffer(commands, source.data(), 0,
                                                         iree_hal_make_buffer_ref(target, 0, 32),
                                                         IREE_HAL_UPDATE_FLAG_NONE));
    std::ranges::fill(source, 0);
    uint32_t bytes = 0x0A0B0C0D;
    IREE_ASSERT_OK(iree_hal_command_buffer_fill_buffer(
        commands, iree_hal_make_buffer_ref(target, 32, 32), &bytes, 4, IREE_HAL_FILL_FLAG_NONE));
    bytes = 0;
  }
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
  IREE_ASSERT_OK(run(commands));
  std::vector<uint8_t> expected = pattern(32, 1);
  for (int i = 0; i < 8; ++i)
    expected.insert(expected.end(), {0x0D, 0x0C, 0x0B, 0x0A});
  EXPECT_EQ(contents(target), expected);
}

TEST_P(CommandBufferTest, KeepsWhatItUsesAlive) {
  Buffer target = buffer(64);
  Semaphore go = semaphore(), done = semaphore();
  {
    // Source, command buffer, table and lists are all gone before the work may start.
    Buffer source = buffer(std::vector<uint8_t>(64, 0x77));
    Buffer bound = target;
    CommandBuffer commands = commandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 1);
    IREE_ASSERT_OK(iree_hal_command_buffer_copy_buffer(
        commands, iree_hal_make_buffer_ref(source, 0, 64),
        iree_hal_make_indirect_buffer_ref(0, 0, 64), IREE_HAL_COPY_FLAG_NONE));
    source.reset();
    IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
    std::vector<iree_hal_buffer_binding_t> table = {{bound, 0, 64}};
    IREE_ASSERT_OK(execute(commands, {{go, 1}}, {{done, 1}}, table));
    table[0] = {nullptr, 0, 0};
  }
  IREE_ASSERT_OK(iree_hal_semaphore_signal(go, 1, nullptr));
  IREE_ASSERT_OK(wait(done, 1));
  EXPECT_EQ(contents(target), std::vector<uint8_t>(64, 0x77));
}

TEST_P(CommandBufferTest, MaySurviveItsSubmissionOnly) {
  // The last references to everything go while the work is held back, and nobody looks again.
  Semaphore go = semaphore();
  {
    Buffer target = buffer(64);
    CommandBuffer commands = commandBuffer();
    IREE_ASSERT_OK(fill(commands, target, 1));
    IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
    IREE_ASSERT_OK(execute(commands, {{go, 1}}, {{semaphore(), 1}}));
  }
  IREE_ASSERT_OK(iree_hal_semaphore_signal(go, 1, nullptr));
  CommandBuffer last = commandBuffer();
  IREE_ASSERT_OK(iree_hal_command_buffer_end(last));
  IREE_EXPECT_OK(run(last));
}

TEST_P(CommandBufferTest, EventsOrderCommands) {
  Ref<iree_hal_event_t> event;
  IREE_ASSERT_OK(iree_hal_event_create(device(), IREE_HAL_QUEUE_AFFINITY_ANY,
                                       IREE_HAL_EVENT_FLAG_NONE, event.out()));
  Buffer a = buffer(128), b = buffer(128);
  CommandBuffer commands = commandBuffer();
  IREE_ASSERT_OK(fill(commands, a, 0x21));
  IREE_ASSERT_OK(
      iree_hal_command_buffer_signal_event(commands, event, IREE_HAL_EXECUTION_STAGE_TRANSFER));
  const iree_hal_event_t* events[] = {event};
  const iree_hal_memory_barrier_t memory = {IREE_HAL_ACCESS_SCOPE_TRANSFER_WRITE,
                                            IREE_HAL_ACCESS_SCOPE_TRANSFER_READ};
  IREE_ASSERT_OK(iree_hal_command_buffer_wait_events(
      commands, 1, events, IREE_HAL_EXECUTION_STAGE_TRANSFER, IREE_HAL_EXECUTION_STAGE_TRANSFER, 1,
      &memory, 0, nullptr));
  IREE_ASSERT_OK(iree_hal_command_buffer_copy_buffer(commands, iree_hal_make_buffer_ref(a, 0, 128),
                                                     iree_hal_make_buffer_ref(b, 0, 128),
                                                     IREE_HAL_COPY_FLAG_NONE));
  IREE_ASSERT_OK(
      iree_hal_command_buffer_reset_event(commands, event, IREE_HAL_EXECUTION_STAGE_TRANSFER));
  event.reset();
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
  IREE_ASSERT_OK(run(commands));
  EXPECT_EQ(contents(b), std::vector<uint8_t>(128, 0x21));
}

TEST_P(CommandBufferTest, TakesEveryKindOfBarrier) {
  Buffer target = buffer(64);
  CommandBuffer commands = commandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 1);
  const iree_hal_memory_barrier_t memory = {IREE_HAL_ACCESS_SCOPE_TRANSFER_WRITE,
                                            IREE_HAL_ACCESS_SCOPE_HOST_READ};
  const iree_hal_buffer_barrier_t buffers[] = {
      {IREE_HAL_ACCESS_SCOPE_TRANSFER_WRITE, IREE_HAL_ACCESS_SCOPE_TRANSFER_WRITE,
       iree_hal_make_buffer_ref(target, 0, IREE_HAL_WHOLE_BUFFER)},
      {IREE_HAL_ACCESS_SCOPE_TRANSFER_WRITE, IREE_HAL_ACCESS_SCOPE_DISPATCH_READ,
       iree_hal_make_indirect_buffer_ref(0, 0, 32)},
  };
  struct {
    size_t memoryCount, bufferCount;
    iree_hal_execution_stage_t source, target;
  } const cases[] = {
      {0, 0, IREE_HAL_EXECUTION_STAGE_TRANSFER, IREE_HAL_EXECUTION_STAGE_TRANSFER},
      {1, 0, IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE, IREE_HAL_EXECUTION_STAGE_COMMAND_ISSUE},
      {0, 1, IREE_HAL_EXECUTION_STAGE_TRANSFER, IREE_HAL_EXECUTION_STAGE_TRANSFER},
      {1, 2, IREE_HAL_EXECUTION_STAGE_TRANSFER, IREE_HAL_EXECUTION_STAGE_HOST},
      {1, 0, IREE_HAL_EXECUTION_STAGE_HOST, IREE_HAL_EXECUTION_STAGE_TRANSFER},
  };
  uint8_t byte = 0;
  for (const auto& c : cases) {
    IREE_ASSERT_OK(fill(commands, iree_hal_make_indirect_buffer_ref(0, 0, 64), ++byte));
    IREE_ASSERT_OK(iree_hal_command_buffer_execution_barrier(
        commands, c.source, c.target, IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, c.memoryCount, &memory,
        c.bufferCount, buffers));
  }
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
  const iree_hal_buffer_binding_t table[] = {{target, 0, 64}};
  IREE_ASSERT_OK(run(commands, table));
  EXPECT_EQ(contents(target), std::vector<uint8_t>(64, byte));
}

TEST_P(CommandBufferTest, EmptyGridsDoNothing) {
  CommandBuffer commands = commandBuffer();
  IREE_EXPECT_OK(iree_hal_command_buffer_dispatch(
      commands, nullptr, iree_hal_executable_function_from_index(0),
      iree_hal_make_static_dispatch_config(0, 0, 0), iree_const_byte_span_empty(),
      iree_hal_buffer_ref_list_empty(), IREE_HAL_DISPATCH_FLAG_NONE));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
  IREE_EXPECT_OK(run(commands));
}

BESSEMER_HAL_CTS(CommandBufferTest);

} // namespace
} // namespace bessemer::hal::cts
