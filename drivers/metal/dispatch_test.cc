// Dispatches of functions with gaps in their bindings, odd names and counts that lie in memory.
#include <string>

#include "drivers/metal/device_test.h"
#include "drivers/metal/dispatch_test.h"
#include "drivers/metal/profiler.h"

namespace bessemer::metal_driver {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST_F(DispatchTest, ExportsAreFoundByTheNamesThatProgramsGiveThem) {
  for (const TestFunction& expected : Functions()) {
    iree_hal_executable_function_t function;
    IREE_ASSERT_OK(iree_hal_executable_lookup_function_by_name(executable_.get(),
                                                               ToIree(expected.name), &function))
        << expected.name;
    iree_hal_executable_function_info_t info;
    IREE_ASSERT_OK(iree_hal_executable_function_info(executable_.get(), function, &info));
    EXPECT_EQ(ToStd(info.name), expected.name);
    EXPECT_EQ(info.binding_count, expected.binding_count);
    EXPECT_EQ(info.workgroup_size[0], expected.threads);
  }
  iree_hal_executable_function_t function;
  IREE_EXPECT_STATUS_IS(IREE_STATUS_NOT_FOUND,
                        iree_hal_executable_lookup_function_by_name(
                            executable_.get(), IREE_SV("no.such.name"), &function));
}

// Suballocation puts bindings wherever it likes: every multiple of the 4 bytes of a word.
TEST_F(DispatchTest, BindingsBeginAtAnyWord) {
  constexpr size_t kCount = 8;
  for (iree_device_size_t offset = 0; offset < 64; offset += 4) {
    auto input = NewBuffer(64 + kCount * 4), output = NewBuffer(64 + kCount * 4, 0xEE);
    std::vector<uint32_t> values(kCount);
    for (uint32_t i = 0; i < kCount; ++i)
      values[i] = i * i;
    IREE_ASSERT_OK(iree_hal_buffer_map_write(input.get(), offset, values.data(), kCount * 4));
    auto commands = NewCommandBuffer();
    const uint32_t constants[] = {3, 7};
    IREE_ASSERT_OK(Scale(commands, Ref(input, offset, kCount * 4), Ref(output, offset, kCount * 4),
                         constants, 1));
    IREE_ASSERT_OK(iree_hal_command_buffer_end(commands.get()));
    IREE_ASSERT_OK(ExecuteAndWait(commands));
    std::vector<uint8_t> expected(64 + kCount * 4, 0xEE);
    for (uint32_t i = 0; i < kCount; ++i)
      values[i] = i * i * 3 + 7;
    std::memcpy(expected.data() + offset, values.data(), kCount * 4);
    EXPECT_EQ(Read(output), expected) << "at " << offset;
  }
}

TEST_F(DispatchTest, ArgumentsOfManyDispatchesDoNotOverlap) {
  // Functions with one and with three bindings in turn, so that arguments begin at odd multiples.
  constexpr uint32_t kRounds = 50;
  auto input = NewBuffer(kRounds * 32), output = NewBuffer(kRounds * 32),
       counts = NewBuffer(kRounds * 4);
  std::vector<uint32_t> ones(kRounds * 8, 1);
  IREE_ASSERT_OK(iree_hal_buffer_map_write(input.get(), 0, ones.data(), ones.size() * 4));
  auto commands = NewCommandBuffer();
  for (uint32_t i = 0; i < kRounds; ++i) {
    const uint32_t constants[] = {i, 1};
    IREE_ASSERT_OK(Scale(commands, Ref(input, i * 32, 32), Ref(output, i * 32, 32), constants, 1));
    IREE_ASSERT_OK(Count(commands, Ref(counts, i * 4, 4), {i + 1, 1, 1}));
  }
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands.get()));
  IREE_ASSERT_OK(ExecuteAndWait(commands));
  auto scaled = Words(output), counted = Words(counts);
  for (uint32_t i = 0; i < kRounds; ++i) {
    EXPECT_EQ(counted[i], i + 1);
    for (uint32_t j = 0; j < 8; ++j)
      EXPECT_EQ(scaled[i * 8 + j], i + 1);
  }
}

TEST_F(DispatchTest, CountsLieInASubspanBehindTheBase) {
  auto arena = NewBuffer(256), counted = NewBuffer(4);
  const uint32_t decoys[64] = {9, 9, 9};
  IREE_ASSERT_OK(iree_hal_buffer_map_write(arena.get(), 0, decoys, sizeof(decoys)));
  const uint32_t counts[] = {3, 2, 1};
  IREE_ASSERT_OK(iree_hal_buffer_map_write(arena.get(), 100, counts, sizeof(counts)));
  iree_hal_buffer_t* raw = nullptr;
  IREE_ASSERT_OK(iree_hal_buffer_subspan(arena.get(), 64, 128, iree_allocator_system(), &raw));
  auto subspan = HalPtr<iree_hal_buffer_t>::Take(raw);
  for (bool is_dynamic : {false, true}) {
    IREE_ASSERT_OK(iree_hal_buffer_map_zero(counted.get(), 0, 4));
    auto commands = NewCommandBuffer();
    iree_hal_dispatch_config_t config = {};
    config.workgroup_count_ref = iree_hal_make_buffer_ref(subspan.get(), 36, 12);
    IREE_ASSERT_OK(Dispatch(commands, "count.threadgroups", config, {}, {Ref(counted, 0, 4)},
                            is_dynamic ? IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_PARAMETERS
                                       : IREE_HAL_DISPATCH_FLAG_STATIC_INDIRECT_PARAMETERS));
    IREE_ASSERT_OK(iree_hal_command_buffer_end(commands.get()));
    IREE_ASSERT_OK(ExecuteAndWait(commands));
    EXPECT_THAT(Words(counted), ElementsAre(6));
  }
}

TEST_F(DispatchTest, NothingOfADispatchNeedsToOutliveItsSubmission) {
  auto counted = NewBuffer(4);
  Fence start(device_), done(device_);
  {
    auto counts = NewBuffer(12);
    const uint32_t words[] = {5, 1, 1};
    IREE_ASSERT_OK(iree_hal_buffer_map_write(counts.get(), 0, words, sizeof(words)));
    auto commands = NewCommandBuffer();
    iree_hal_dispatch_config_t config = {};
    config.workgroup_count_ref = Ref(counts, 0, 12);
    IREE_ASSERT_OK(Dispatch(commands, "count.threadgroups", config, {}, {Ref(counted, 0, 4)},
                            IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_PARAMETERS));
    IREE_ASSERT_OK(iree_hal_command_buffer_end(commands.get()));
    IREE_ASSERT_OK(Execute(commands, start, done));
    // Command buffer, counts and executable go here, before anything ran.
    executable_ = {};
  }
  IREE_ASSERT_OK(start.Signal());
  IREE_ASSERT_OK(done.Wait());
  EXPECT_THAT(Words(counted), ElementsAre(5));
}

TEST_F(DispatchTest, AFaultFailsWhatWaitsOnTheDeviceToo) {
  auto faulty = NewCommandBuffer(), counts = NewCommandBuffer();
  auto counted = NewBuffer(4);
  IREE_ASSERT_OK(
      Dispatch(faulty, "touch nothing", iree_hal_make_static_dispatch_config(1, 1, 1), {}, {}));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(faulty.get()));
  IREE_ASSERT_OK(Count(counts, Ref(counted, 0, 4), {1, 1, 1}));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(counts.get()));
  Fence start(device_), first(device_), second(device_), third(device_);
  IREE_ASSERT_OK(Execute(faulty, start, first));
  IREE_ASSERT_OK(Execute(counts, first, second));
  IREE_ASSERT_OK(Execute(counts, second, third));
  IREE_ASSERT_OK(start.Signal());
  for (const Fence* fence : {&first, &second, &third})
    IREE_EXPECT_STATUS_IS(IREE_STATUS_INTERNAL, fence->Wait());
  // The device goes on with what does not depend on it.
  IREE_EXPECT_OK(ExecuteAndWait(counts));
}

TEST_F(DispatchTest, RunsOnADeviceThatIsInNoGroup) {
  iree_hal_device_t* lone = nullptr;
  IREE_ASSERT_OK(CreateLoneDevice(&lone));
  HalPtr<iree_hal_device_t> device = HalPtr<iree_hal_device_t>::Take(lone);
  std::swap(device_, lone);
  {
    LoadExecutable();
    auto counted = NewBuffer(4);
    Fence start(device_), done(device_);
    iree_hal_executable_function_t function = Find("count.threadgroups");
    iree_hal_buffer_ref_t binding = Ref(counted, 0, 4);
    IREE_ASSERT_OK(iree_hal_device_queue_dispatch(
        device_, kAny, start, done, executable_.get(), function,
        iree_hal_make_static_dispatch_config(4, 3, 2), iree_const_byte_span_empty(), {1, &binding},
        IREE_HAL_DISPATCH_FLAG_NONE));
    IREE_ASSERT_OK(start.Signal());
    IREE_ASSERT_OK(done.Wait());
    EXPECT_THAT(Words(counted), ElementsAre(24));
    executable_ = {};
  }
  std::swap(device_, lone);
}

} // namespace
} // namespace bessemer::metal_driver
