// The hal module against the host device: signatures, memory, queues, recording, fences,
// assertions.
#include "modules/hal/hal_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "modules/testing/host_session.h"
#include "vm/buffer.h"
#include "vm/testing/harness.h"

namespace bessemer::modules {
namespace {

using namespace vm::testing;
using testing::contents;
using ::testing::HasSubstr;
using testing::HostDevice;
using testing::makeView;
using vm::Buffer;
using vm::Ref;
using vm::RefPtr;
using vm::Value;

// Names and calling conventions that compiled programs use, and the rest of version 7.
constexpr std::pair<std::string_view, std::string_view> kExports[] = {
    {"allocator.allocate", "0rIiiI_r"},
    {"allocator.import", "0riIiirII_r"},
    {"allocator.select", "0iiICrID_rI"},
    {"buffer.allocation.discard", "0r_i"},
    {"buffer.allocation.is_terminal", "0r_i"},
    {"buffer.allocation.preserve", "0r_v"},
    {"buffer.assert", "0rrrIii_v"},
    {"buffer.length", "0r_I"},
    {"buffer.load", "0rIi_i"},
    {"buffer.store", "0irIi_v"},
    {"buffer.subspan", "0rII_r"},
    {"buffer_view.assert", "0rriiCID_v"},
    {"buffer_view.buffer", "0r_r"},
    {"buffer_view.create", "0rIIiiCID_r"},
    {"buffer_view.dim", "0ri_I"},
    {"buffer_view.element_type", "0r_i"},
    {"buffer_view.encoding_type", "0r_i"},
    {"buffer_view.rank", "0r_i"},
    {"buffer_view.trace", "0rCrD_v"},
    {"channel.create", "0rIIrrii_r"},
    {"channel.rank_and_count", "0r_ii"},
    {"channel.split", "0riiI_r"},
    {"command_buffer.advise_buffer", "0rrIIIi_v"},
    {"command_buffer.begin_debug_group", "0rr_v"},
    {"command_buffer.collective", "0rriiiirrIIIII_v"},
    {"command_buffer.copy_buffer", "0riirIrIII_v"},
    {"command_buffer.create", "0riiIi_r"},
    {"command_buffer.dispatch", "0rrIiiiICiDCiirIID_v"},
    {"command_buffer.dispatch.indirect", "0rrIirIICiDCiirIID_v"},
    {"command_buffer.end_debug_group", "0r_v"},
    {"command_buffer.execution_barrier", "0riiI_v"},
    {"command_buffer.fill_buffer", "0rrIIiIiI_v"},
    {"command_buffer.finalize", "0r_v"},
    {"command_buffer.update_buffer", "0rrIrIIiI_v"},
    {"device.allocator", "0r_r"},
    {"device.query.i64", "0rrr_iI"},
    {"device.queue.alloca", "0rIrrIiiII_r"},
    {"device.queue.barrier", "0rIrrI_v"},
    {"device.queue.copy", "0rIrrrIrIII_v"},
    {"device.queue.dealloca", "0rIrrrI_v"},
    {"device.queue.execute", "0rIrrrI_v"},
    {"device.queue.execute.indirect", "0rIrrrICrIID_v"},
    {"device.queue.fill", "0rIrrrIIIiI_v"},
    {"device.queue.flush", "0rI_v"},
    {"device.queue.read", "0rIrrrIrIII_v"},
    {"device.queue.update", "0rIrrrIrIII_v"},
    {"device.queue.write", "0rIrrrIrIII_v"},
    {"devices.count", "0v_i"},
    {"devices.get", "0i_r"},
    {"ex.file.from_memory", "0rIirIIi_r"},
    {"executable.create", "0rIrrr_r"},
    {"executable.lookup.function", "0rr_I"},
    {"fence.await", "0iICrD_i"},
    {"fence.create", "0rI_r"},
    {"fence.fail", "0ri_v"},
    {"fence.join", "0ICrD_r"},
    {"fence.query", "0r_i"},
    {"fence.signal", "0r_v"},
};

TEST(HalModule, ExportsVersion7) {
  auto module = createHalModule({});
  ASSERT_TRUE(module);
  EXPECT_EQ((*module)->name(), "hal");
  EXPECT_EQ((*module)->version(), 7u);
  EXPECT_EQ((*module)->exports().size(), std::size(kExports));
  for (auto [name, signature] : kExports) {
    auto index = (*module)->findExport(name);
    ASSERT_TRUE(index) << name;
    EXPECT_EQ((*module)->exports()[*index].signature->text, signature) << name;
  }
}

// Calls hal functions one by one; those with spans go through a hand-made program.
class HalFunctions : public ::testing::Test {
protected:
  HalFunctions() : hal_(*createHalModule(std::array<iree_hal_device_t*, 1>{device_})) {
    std::shared_ptr<const vm::Module> modules[] = {hal_};
    context_ = *vm::Context::create(modules);
    group();
  }
  ~HalFunctions() override {
    context_.reset();
    hal_.reset();
  }

  // Devices must be in a group; a session does that.
  void group() {
    auto session = Session::create({.devices = {device_}});
    ASSERT_TRUE(session) << session.error().toString();
    session_ = *std::move(session);
  }

  vm::Result<std::vector<Value>> call(std::string name, std::vector<Value> arguments) {
    std::vector<Value> results;
    auto function = context_->lookup("hal." + name);
    if (!function)
      function = context_->lookup(name);
    BESSEMER_RETURN_IF_ERROR(function);
    BESSEMER_RETURN_IF_ERROR(vm::call(*function, arguments, results));
    return results;
  }
  Value one(std::string name, std::vector<Value> arguments) {
    auto results = call(name, std::move(arguments));
    EXPECT_TRUE(results) << name << ": " << results.error().toString();
    return results && !results->empty() ? (*results)[0] : Value();
  }
  Value device() { return RefPtr<iree_hal_device_t>::share(device_); }
  Value fence() { return one("fence.create", {device(), int64_t{0}}); }
  Value allocate(int64_t size) {
    Value allocator = one("device.allocator", {device()});
    return one("allocator.allocate", {allocator, int64_t{-1}, 48 | 2, 0x3000C03, size});
  }
  // A program with one function made by `body`, linked to the hal module.
  std::unique_ptr<vm::Context>
  program(const std::vector<std::pair<std::string, std::string>>& imports,
          const FunctionBuilder& function) {
    ModuleBuilder module("program");
    for (auto& [name, signature] : imports)
      module.import("hal." + name, signature);
    module.function("f", function);
    auto loaded = load(session_->instance(), module.finish());
    EXPECT_TRUE(loaded) << loaded.error().toString();
    std::shared_ptr<const vm::Module> modules[] = {hal_, *loaded};
    auto context = vm::Context::create(modules);
    EXPECT_TRUE(context) << context.error().toString();
    return *std::move(context);
  }
  static vm::Result<std::vector<Value>> run(vm::Context& context, std::vector<Value> arguments) {
    std::vector<Value> results;
    BESSEMER_ASSIGN_OR_RETURN(vm::Function function, context.lookup("f"));
    BESSEMER_RETURN_IF_ERROR(vm::call(function, arguments, results));
    return results;
  }

  HostDevice device_;
  std::unique_ptr<Session> session_;
  std::shared_ptr<const vm::NativeModule> hal_;
  std::unique_ptr<vm::Context> context_;
};

TEST_F(HalFunctions, ShowDevices) {
  EXPECT_EQ(one("devices.count", {}).i32(), 1);
  EXPECT_EQ(one("devices.get", {0}).as<iree_hal_device_t>(),
            static_cast<iree_hal_device_t*>(device_));
  EXPECT_FALSE(one("devices.get", {1}).rawRef().object);
  auto known = call("device.query.i64",
                    {device(), Buffer::fromText("hal.device.id"), Buffer::fromText("h*")});
  ASSERT_TRUE(known);
  EXPECT_EQ((*known)[0].i32(), 1);
  EXPECT_NE((*known)[1].i64(), 0);
  auto unknown =
      call("device.query.i64", {device(), Buffer::fromText("no.such"), Buffer::fromText("thing")});
  ASSERT_TRUE(unknown);
  EXPECT_EQ((*unknown)[0].i32(), 0);
}

TEST_F(HalFunctions, BuffersLoadAndStore) {
  Value buffer = allocate(64);
  EXPECT_EQ(one("buffer.length", {buffer}).i64(), 64);
  one("buffer.store", {int32_t{-2}, buffer, int64_t{4}, 4});
  one("buffer.store", {0x12345, buffer, int64_t{8}, 2});
  EXPECT_EQ(one("buffer.load", {buffer, int64_t{4}, 4}).i32(), -2);
  EXPECT_EQ(one("buffer.load", {buffer, int64_t{5}, 1}).i32(), 255);
  EXPECT_EQ(one("buffer.load", {buffer, int64_t{8}, 2}).i32(), 0x2345);
  EXPECT_FALSE(call("buffer.load", {buffer, int64_t{4}, 3}));
  EXPECT_FALSE(call("buffer.load", {buffer, int64_t{64}, 1}));
  EXPECT_FALSE(call("buffer.load", {buffer, int64_t{-1}, 1}));
  Value part = one("buffer.subspan", {buffer, int64_t{4}, int64_t{8}});
  EXPECT_EQ(one("buffer.load", {part, int64_t{0}, 4}).i32(), -2);
  EXPECT_EQ(one("buffer.allocation.is_terminal", {buffer}).i32(), 1);
  one("buffer.allocation.preserve", {buffer});
  EXPECT_EQ(one("buffer.allocation.is_terminal", {buffer}).i32(), 0);
  EXPECT_EQ(one("buffer.allocation.discard", {buffer}).i32(), 0);
  EXPECT_EQ(one("buffer.allocation.discard", {buffer}).i32(), 1);
}

TEST_F(HalFunctions, BufferAssertionsNameTheArgument) {
  Value buffer = allocate(64);
  Value allocator = one("device.allocator", {device()});
  Value name = Buffer::fromText("input0");
  EXPECT_TRUE(call("buffer.assert", {buffer, name, allocator, int64_t{64}, 16, 3075}));
  auto small = call("buffer.assert", {buffer, name, allocator, int64_t{65}, 16, 3075});
  ASSERT_FALSE(small);
  EXPECT_THAT(small.error().message(),
              HasSubstr("input0: the buffer has 64 bytes, the program needs 65"));
  auto usage = call("buffer.assert", {buffer, name, allocator, int64_t{1}, 16, 0x100});
  ASSERT_FALSE(usage);
  EXPECT_THAT(usage.error().message(), HasSubstr("input0: the buffer allows"));
}

TEST_F(HalFunctions, QueueOperationsFollowFences) {
  // alloca → fill → copy of a part → dealloca, each after the one before; nothing waits in between.
  Value f1 = fence(), f2 = fence(), f3 = fence(), f4 = fence();
  Value target = allocate(32);
  auto any = int64_t{-1};
  Value buffer = one("device.queue.alloca",
                     {device(), any, Ref(), f1, int64_t{0}, 48, 3075, int64_t{64}, int64_t{0}});
  ASSERT_TRUE(buffer.as<iree_hal_buffer_t>());
  one("device.queue.fill",
      {device(), any, f1, f2, buffer, int64_t{0}, int64_t{64}, int64_t{0xA1B2}, 2, int64_t{0}});
  one("device.queue.copy",
      {device(), any, f2, f3, buffer, int64_t{2}, target, int64_t{0}, int64_t{32}, int64_t{0}});
  one("device.queue.dealloca", {device(), any, f3, f4, buffer, int64_t{1}});
  one("device.queue.flush", {device(), any});
  FunctionBuilder function("0r_i", 8, 1);
  function.block();
  Label after = function.label();
  function.emit(Op::ConstI32, {imm(0xFFFFFFFF), i(0)});
  function.emit(Op::CallVariadicYieldable, {import(0), segments({0xFFFF, 0xFFFF, 1}),
                                            list({i(0), i(2), r(0)}), to(after), list({i(4)})});
  function.block(after);
  function.emit(Op::Return, {list({i(4)})});
  auto await = program({{"fence.await", "0iICrD_i"}}, function);
  auto waited = run(*await, {f4});
  ASSERT_TRUE(waited) << waited.error().toString();
  EXPECT_EQ((*waited)[0].i32(), 0);
  EXPECT_EQ(one("fence.query", {f4}).i32(), 0);
  EXPECT_EQ(contents<uint16_t>(target.as<iree_hal_buffer_t>()), std::vector<uint16_t>(16, 0xA1B2));
}

TEST_F(HalFunctions, FencesAwaitJoinFailAndTimeOut) {
  // f(timeout, a, b): await of join(a, null, b).
  FunctionBuilder function("0irr_i", 8, 4);
  function.block();
  Label after = function.label();
  function.emit(Op::CallVariadic,
                {import(1), segments({0xFFFF, 3}), list({i(2), r(0), r(3), r(1)}), list({r(2)})});
  function.emit(Op::CallVariadicYieldable, {import(0), segments({0xFFFF, 0xFFFF, 1}),
                                            list({i(0), i(2), moved(2)}), to(after), list({i(4)})});
  function.block(after);
  function.emit(Op::Return, {list({i(4)})});
  auto context = program({{"fence.await", "0iICrD_i"}, {"fence.join", "0ICrD_r"}}, function);
  EXPECT_EQ((*run(*context, {-1, Ref(), Ref()}))[0].i32(), 0);
  Value a = fence(), b = fence();
  EXPECT_EQ((*run(*context, {0, a, b}))[0].i32(), 4);
  EXPECT_EQ((*run(*context, {5, a, b}))[0].i32(), 4);
  one("fence.signal", {a});
  EXPECT_EQ((*run(*context, {0, a, b}))[0].i32(), 4);
  EXPECT_EQ((*run(*context, {0, a, Ref()}))[0].i32(), 0);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    one("fence.signal", {b});
  });
  EXPECT_EQ((*run(*context, {-1, a, b}))[0].i32(), 0);
  later.join();
  Value c = fence();
  one("fence.fail", {c, 13});
  auto failed = run(*context, {-1, a, c});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), vm::StatusCode::Internal);
  EXPECT_EQ(one("fence.query", {c}).i32(), 13);
}

TEST_F(HalFunctions, AwaitDefersInInvocations) {
  FunctionBuilder function("0ir_i", 8, 2);
  function.block();
  Label after = function.label();
  function.emit(Op::CallVariadicYieldable, {import(0), segments({0xFFFF, 0xFFFF, 1}),
                                            list({i(0), i(2), r(0)}), to(after), list({i(4)})});
  function.block(after);
  function.emit(Op::Return, {list({i(4)})});
  auto context = program({{"fence.await", "0iICrD_i"}}, function);
  auto entry = context->lookup("f");
  Value point = fence();
  std::vector<Value> arguments = {-1, point};
  auto invocation = vm::Invocation::begin(*entry, arguments);
  ASSERT_TRUE(invocation);
  for (int k = 0; k < 3; ++k) {
    auto progress = invocation->resume();
    ASSERT_TRUE(progress);
    ASSERT_EQ(*progress, vm::Invocation::Progress::Deferred);
    ASSERT_TRUE(invocation->waitSource());
    EXPECT_FALSE(invocation->waitSource()->wait(vm::WaitSource::Clock::now() +
                                                std::chrono::milliseconds(1)));
  }
  one("fence.signal", {point});
  EXPECT_TRUE(invocation->waitSource()->wait(vm::WaitSource::Clock::time_point::max()));
  auto progress = invocation->resume();
  ASSERT_TRUE(progress);
  EXPECT_EQ(*progress, vm::Invocation::Progress::Done);
  // A deadline of the program's own ends the wait, and counts from its beginning.
  arguments = {30, fence()};
  auto limited = vm::Invocation::begin(*entry, arguments);
  auto begin = vm::WaitSource::Clock::now();
  ASSERT_EQ(*limited->resume(), vm::Invocation::Progress::Deferred);
  EXPECT_TRUE(limited->waitSource()->wait(vm::WaitSource::Clock::time_point::max()));
  EXPECT_GE(vm::WaitSource::Clock::now() - begin, std::chrono::milliseconds(29));
  ASSERT_EQ(*limited->resume(), vm::Invocation::Progress::Done);
  std::vector<Value> results;
  ASSERT_TRUE(limited->takeResults(results));
  EXPECT_EQ(results[0].i32(), 4);
}

TEST_F(HalFunctions, CommandBuffersRunWithBindingTables) {
  // f(device, commands, signal, a, b): execute with slots 0 = a[4..], 1 = b.
  FunctionBuilder function("0rrrrr_v", 12, 6);
  function.block();
  function.emit(Op::ConstI64, {imm(UINT64_MAX), i(0)});
  function.emit(Op::ConstI64, {imm(4), i(2)});
  function.emit(Op::ConstI64, {imm(16), i(4)});
  function.emit(Op::CallVariadic,
                {import(0), segments({0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 2}),
                 list({r(0), i(0), r(5), r(2), r(1), i(6), r(3), i(2), i(4), r(4), i(6), i(4)}),
                 list({})});
  function.emit(Op::Return, {list({})});
  auto context = program({{"device.queue.execute.indirect", "0rIrrrICrIID_v"}}, function);
  // slot0[0..8) = 7, slot0[8..16) = update, then slot1 = slot0.
  Value commands = one("command_buffer.create", {device(), 0, 3, int64_t{-1}, 2});
  one("command_buffer.begin_debug_group", {commands, Buffer::fromText("label")});
  one("command_buffer.fill_buffer",
      {commands, Ref(), int64_t{0}, int64_t{8}, 0, int64_t{7}, 4, int64_t{0}});
  one("command_buffer.update_buffer", {commands, Buffer::fromText("__abcdefgh"), int64_t{2}, Ref(),
                                       int64_t{8}, int64_t{8}, 0, int64_t{0}});
  one("command_buffer.execution_barrier", {commands, 28, 13, int64_t{0}});
  one("command_buffer.copy_buffer",
      {commands, 0, 1, Ref(), int64_t{0}, Ref(), int64_t{0}, int64_t{16}, int64_t{0}});
  one("command_buffer.end_debug_group", {commands});
  one("command_buffer.finalize", {commands});
  for (int round = 0; round < 2; ++round) {
    Value a = allocate(32), b = allocate(16), done = fence();
    auto ran = run(*context, {device(), commands, done, a, b});
    ASSERT_TRUE(ran) << ran.error().toString();
    testing::require(iree_hal_fence_wait(done.as<iree_hal_fence_t>(), iree_infinite_timeout(), 0));
    auto bytes = contents<char>(b.as<iree_hal_buffer_t>());
    EXPECT_EQ(std::string(bytes.begin() + 8, bytes.end()), "abcdefgh");
    EXPECT_EQ(contents<int32_t>(b.as<iree_hal_buffer_t>())[1], 7);
    EXPECT_EQ(contents<int32_t>(a.as<iree_hal_buffer_t>())[1], 7); // its offset is 4
  }
  auto outside =
      call("command_buffer.update_buffer", {commands, Buffer::fromText("ab"), int64_t{1}, Ref(),
                                            int64_t{0}, int64_t{2}, 0, int64_t{0}});
  EXPECT_FALSE(outside);
}

TEST_F(HalFunctions, ProgramMemoryBecomesBuffersAndFiles) {
  auto counted = std::make_shared<int>(0);
  std::weak_ptr<int> owner = counted;
  alignas(64) static std::byte memory[64];
  for (size_t k = 0; k < 64; ++k)
    memory[k] = std::byte(k);
  Value source = Buffer::wrap(memory, Buffer::Access::ReadOnly, std::move(counted));
  Value allocator = one("device.allocator", {device()});
  auto imported = call("allocator.import",
                       {allocator, 1, int64_t{-1}, 48, 0x80C03, source, int64_t{16}, int64_t{-1}});
  ASSERT_TRUE(imported) << imported.error().toString();
  if (auto* buffer = (*imported)[0].as<iree_hal_buffer_t>()) {
    EXPECT_EQ(iree_hal_buffer_byte_length(buffer), 48u);
  }
  EXPECT_FALSE(call("allocator.import",
                    {allocator, 1, int64_t{-1}, 48, 0x80C03, source, int64_t{60}, int64_t{5}}));
  Value file =
      one("ex.file.from_memory", {device(), int64_t{-1}, 1, source, int64_t{32}, int64_t{32}, 0});
  Value target = allocate(16);
  Value done = fence();
  one("device.queue.read", {device(), int64_t{-1}, Ref(), done, file, int64_t{8}, target,
                            int64_t{0}, int64_t{16}, int64_t{0}});
  testing::require(iree_hal_fence_wait(done.as<iree_hal_fence_t>(), iree_infinite_timeout(), 0));
  EXPECT_EQ(contents<uint8_t>(target.as<iree_hal_buffer_t>())[0], 40);
  EXPECT_FALSE(
      call("ex.file.from_memory", {device(), int64_t{-1}, 3, source, int64_t{0}, int64_t{1}, 0}));
  source = Value();
  EXPECT_FALSE(owner.expired()); // the buffer and the file hold it
  imported->clear();
  file = Value();
  done = Value();
  for (int k = 0; k < 1000 && !owner.expired(); ++k) // the queue's own hold ends on its thread
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(owner.expired());
}

TEST_F(HalFunctions, ViewsCheckShapesAndTypes) {
  // f(buffer, offset, length, type, encoding, d0, d1) → view; g: assert.
  FunctionBuilder create("0rIIiiII_r", 14, 2);
  create.block();
  // i0:1 i2:3 i4 i5 i6:7 i8:9
  create.emit(Op::CallVariadic, {import(0), segments({0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 2}),
                                 list({r(0), i(0), i(2), i(4), i(5), i(6), i(8)}), list({r(1)})});
  create.emit(Op::Return, {list({moved(1)})});
  auto make = program({{"buffer_view.create", "0rIIiiCID_r"}}, create);
  FunctionBuilder check("0rriiII_v", 14, 2);
  check.block();
  check.emit(Op::CallVariadic, {import(0), segments({0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 2}),
                                list({r(0), r(1), i(0), i(1), i(2), i(4)}), list({})});
  check.emit(Op::Return, {list({})});
  auto verify = program({{"buffer_view.assert", "0rriiCID_v"}}, check);
  constexpr int kF32 = 0x21000020, kI8 = 0x10000008, kU8 = 0x12000008, kF16 = 0x21000010;
  Value buffer = allocate(64);
  auto made = run(*make, {buffer, int64_t{16}, int64_t{24}, kF32, 1, int64_t{2}, int64_t{3}});
  ASSERT_TRUE(made) << made.error().toString();
  Value view = (*made)[0];
  EXPECT_EQ(one("buffer_view.rank", {view}).i32(), 2);
  EXPECT_EQ(one("buffer_view.dim", {view, 1}).i64(), 3);
  EXPECT_EQ(one("buffer_view.dim", {view, 2}).i64(), 0);
  EXPECT_EQ(one("buffer_view.element_type", {view}).i32(), kF32);
  EXPECT_EQ(one("buffer_view.encoding_type", {view}).i32(), 1);
  EXPECT_EQ(one("buffer.length", {one("buffer_view.buffer", {view})}).i64(), 24);
  auto small = run(*make, {buffer, int64_t{16}, int64_t{20}, kF32, 1, int64_t{2}, int64_t{3}});
  ASSERT_FALSE(small);
  EXPECT_THAT(small.error().message(), HasSubstr("a view of 2x3xf32 has 24 bytes, its buffer 20"));
  EXPECT_FALSE(run(*make, {buffer, int64_t{60}, int64_t{24}, kF32, 1, int64_t{2}, int64_t{3}}));
  EXPECT_FALSE(run(*make, {buffer, int64_t{0}, int64_t{64}, kF32, 1, int64_t{-2}, int64_t{3}}));
  EXPECT_FALSE(run(*make, {buffer, int64_t{0}, int64_t{64}, kF32, 1, INT64_MAX, INT64_MAX}));
  Value name = Buffer::fromText("input1");
  EXPECT_TRUE(run(*verify, {view, name, kF32, 1, int64_t{2}, int64_t{3}}));
  auto shape = run(*verify, {view, name, kF32, 1, int64_t{2}, int64_t{4}});
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error().code(), vm::StatusCode::InvalidArgument);
  EXPECT_THAT(shape.error().message(), HasSubstr("input1: shape is 2x3, the program needs 2x4"));
  auto type = run(*verify, {view, name, kF16, 1, int64_t{2}, int64_t{3}});
  ASSERT_FALSE(type);
  EXPECT_THAT(type.error().message(),
              HasSubstr("input1: element type is f32, the program needs f16"));
  // Integers of a width are one type.
  auto bytes = run(*make, {buffer, int64_t{0}, int64_t{64}, kU8, 1, int64_t{8}, int64_t{8}});
  EXPECT_TRUE(run(*verify, {(*bytes)[0], name, kI8, 1, int64_t{8}, int64_t{8}}));
}

TEST_F(HalFunctions, TracesGoToTheEmbedder) {
  static std::string seen;
  HalModuleOptions options;
  options.trace = [](void*, std::string_view key, std::span<iree_hal_buffer_view_t* const> views) {
    seen = vm::concat(key, "/", views.size());
  };
  hal_ = *createHalModule(std::array<iree_hal_device_t*, 1>{device_}, options);
  FunctionBuilder function("0rrr_v", 2, 3);
  function.block();
  function.emit(Op::CallVariadic,
                {import(0), segments({0xFFFF, 2}), list({r(0), r(1), r(2)}), list({})});
  function.emit(Op::Return, {list({})});
  auto context = program({{"buffer_view.trace", "0rCrD_v"}}, function);
  float values[2] = {1, 2};
  Value view = makeView(device_, {2}, IREE_HAL_ELEMENT_TYPE_FLOAT_32, values, sizeof(values));
  auto traced = run(*context, {Buffer::fromText("dispatch"), view, view});
  ASSERT_TRUE(traced) << traced.error().toString();
  EXPECT_EQ(seen, "dispatch/2");
}

TEST_F(HalFunctions, SelectsADeviceThatCanAllocate) {
  FunctionBuilder function("0iir_rI", 10, 2);
  function.block();
  function.emit(Op::ConstI64, {imm(1), i(4)});
  function.emit(Op::CallVariadic, {import(0), segments({0xFFFF, 0xFFFF, 0xFFFF, 1}),
                                   list({i(0), i(1), i(2), r(0), i(4)}), list({r(1), i(6)})});
  function.emit(Op::Return, {list({moved(1), i(6)})});
  auto context = program({{"allocator.select", "0iiICrID_rI"}}, function);
  auto chosen = run(*context, {48, 3075, device()});
  ASSERT_TRUE(chosen) << chosen.error().toString();
  EXPECT_EQ((*chosen)[0].as<iree_hal_device_t>(), static_cast<iree_hal_device_t*>(device_));
  EXPECT_EQ((*chosen)[1].i64(), 1);
}

TEST(Status, GoesAcrossTheEdgeBothWays) {
  auto error = fromStatus(iree_make_status(IREE_STATUS_NOT_FOUND, "no buffer %d", 3));
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code(), vm::StatusCode::NotFound);
  EXPECT_EQ(error.error().message(), "no buffer 3");
  iree_status_t status = toStatus(error.error());
  EXPECT_EQ(iree_status_code(status), IREE_STATUS_NOT_FOUND);
  EXPECT_EQ(fromStatus(status).error().message(), "no buffer 3");
  EXPECT_EQ(fromStatus(iree_status_from_code(IREE_STATUS_ABORTED)).error().message(), "");
  EXPECT_TRUE(fromStatus(iree_ok_status()));
}

// Session: what is missing or wrong is said, and calls work without a device too.
TEST(Sessions, RunProgramsWithoutDevices) {
  FunctionBuilder function("0i_i", 2, 0);
  function.block();
  function.emit(Op::AddI32, {i(0), i(0), i(1)});
  function.emit(Op::Return, {list({i(1)})});
  ModuleBuilder module("program");
  module.function("twice", function);
  module.function("twice$async", function);
  module.function("__hidden", function);
  auto bytes = std::make_shared<std::vector<std::byte>>(module.finish());
  auto session = Session::create({});
  ASSERT_TRUE(session) << session.error().toString();
  EXPECT_FALSE((*session)->link());
  ASSERT_TRUE((*session)->load(*bytes, bytes, "program"));
  auto chosen = (*session)->function("");
  ASSERT_TRUE(chosen) << chosen.error().toString();
  EXPECT_EQ(chosen->name(), "twice");
  std::vector<Value> arguments = {21};
  auto results = (*session)->call(*chosen, arguments);
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].i32(), 42);
  auto missing = (*session)->function("thrice");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message(), "there is no function thrice; the program has: twice");
  EXPECT_EQ((*session)->functions()->size(), 3u);
  EXPECT_FALSE((*session)->load(*bytes, bytes, "late"));
  EXPECT_FALSE((*Session::create({}))->load("/nowhere.vmfb"));
}

// A function with fences: the call returns when its signal fence does.
TEST(Sessions, WaitForFencesOfAsynchronousFunctions) {
  // Fills the buffer behind the view, from the wait fence to the signal fence.
  FunctionBuilder async("0rrr_r", 12, 5);
  async.block();
  async.emit(Op::Call, {import(0), list({r(0)}), list({r(3)})});
  async.emit(Op::ConstI64, {imm(UINT64_MAX), i(0)});
  async.emit(Op::ConstI64, {imm(8), i(2)});
  async.emit(Op::ConstI64, {imm(0x40400000), i(4)});
  async.emit(Op::ConstI32, {imm(4), i(6)});
  async.emit(Op::Call, {import(2), list({i(7)}), list({r(4)})});
  async.emit(
      Op::Call,
      {import(1), list({r(4), i(0), r(1), r(2), r(3), i(8), i(2), i(4), i(6), i(8)}), list({})});
  async.emit(Op::Return, {list({r(0)})});
  ModuleBuilder module("program");
  module.import("hal.buffer_view.buffer", "0r_r");
  module.import("hal.device.queue.fill", "0rIrrrIIIiI_v");
  module.import("hal.devices.get", "0i_r");
  uint32_t ordinal = module.function("main", async);
  module.attribute(ordinal, "iree.abi.model", "coarse-fences");
  auto bytes = std::make_shared<std::vector<std::byte>>(module.finish());
  HostDevice device;
  auto session = Session::create({.devices = {device}});
  ASSERT_TRUE(session);
  ASSERT_TRUE((*session)->load(*bytes, bytes, "program"));
  auto main = (*session)->function("main");
  ASSERT_TRUE(main) << main.error().toString();
  EXPECT_TRUE(main->usesFences());
  float values[2] = {1, 2};
  std::vector<Value> arguments = {
      makeView(device, {2}, IREE_HAL_ELEMENT_TYPE_FLOAT_32, values, sizeof(values))};
  auto results = (*session)->call(*main, arguments);
  ASSERT_TRUE(results) << results.error().toString();
  auto* view = (*results)[0].as<iree_hal_buffer_view_t>();
  ASSERT_TRUE(view);
  EXPECT_EQ(contents<float>(iree_hal_buffer_view_buffer(view)), (std::vector<float>{3, 3}));
}

} // namespace
} // namespace bessemer::modules
