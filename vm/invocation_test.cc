// Modules linked together, native functions, deferred calls, contexts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "vm/buffer.h"
#include "vm/native_function.h"
#include "vm/testing/harness.h"

namespace bessemer::vm {
namespace {

using namespace testing;
using ::testing::HasSubstr;

// A native module with every kind of argument, and calls that wait.
struct HostState : NativeState {
  int calls = 0;
  int gate = 0; // resumptions that `wait` needs
  RefPtr<Buffer> last;
};

Result<int64_t> sum(HostState& state, int32_t a, int64_t b, Span<uint32_t, Buffer*, uint64_t> more,
                    Span<int32_t> rest) {
  ++state.calls;
  int64_t total = a + b;
  for (size_t k = 0; k < more.size(); ++k) {
    auto [x, buffer, y] = more[k];
    total += x + static_cast<int64_t>(y) + (buffer ? static_cast<int64_t>(buffer->length()) : 0);
  }
  for (size_t k = 0; k < rest.size(); ++k)
    total += rest[k];
  return total;
}

Result<std::tuple<float, double, RefPtr<Buffer>>> echo(HostState& state, float a, double b,
                                                       Required<Buffer> c) {
  state.last = RefPtr<Buffer>::share(c);
  return std::tuple(a, b, RefPtr<Buffer>::share(c));
}

Result<void> refuse(HostState&, int32_t code) {
  return fail(static_cast<StatusCode>(code), "refused");
}

class Ready final : public WaitSource {
public:
  explicit Ready(int& waits) : waits_(waits) {}
  bool wait(Clock::time_point) override {
    ++waits_;
    return true;
  }

private:
  int& waits_;
};

int waits = 0;

Result<Yielding<int32_t>> wait(HostState& state, NativeCall& call, int32_t times,
                               Buffer* kept_alive) {
  if (!call.resumed)
    call.scratch = static_cast<uint64_t>(times);
  ++state.calls;
  if (call.scratch == 0)
    return Yielding<int32_t>(times + (kept_alive ? static_cast<int32_t>(kept_alive->length()) : 0));
  --call.scratch;
  call.wait_source = std::make_unique<Ready>(waits);
  return Yielding<int32_t>(Outcome::Deferred);
}

Result<int32_t> calls(HostState& state) { return state.calls; }

class HostModule final : public NativeModule {
public:
  explicit HostModule(uint32_t version = 2) : NativeModule("host", version, functions()) {}
  Result<std::unique_ptr<NativeState>> createState() const override {
    return std::make_unique<HostState>();
  }
  static std::span<const NativeFunction> functions() {
    static constexpr NativeFunction all[] = {bind<sum>("sum"), bind<echo>("echo"),
                                             bind<wait>("wait"), bind<refuse>("refuse"),
                                             bind<calls>("calls")};
    return all;
  }
};

std::shared_ptr<const Module> host(uint32_t version = 2) {
  return std::make_shared<HostModule>(version);
}

TEST(NativeFunctions, HaveTheSignaturesOfTheirCppTypes) {
  EXPECT_EQ(HostModule::functions()[0].signature, "0iICirIDCiD_I");
  EXPECT_EQ(HostModule::functions()[1].signature, "0fFr_fFr");
  EXPECT_EQ(HostModule::functions()[2].signature, "0ir_i");
  EXPECT_EQ(HostModule::functions()[3].signature, "0i_v");
  EXPECT_EQ(HostModule::functions()[4].signature, "0v_i");
}

TEST(NativeFunctions, ReceiveSpansOfTuples) {
  FunctionBuilder function("0iIr_I", 12, 1);
  function.block();
  function.emit(Op::CallVariadic,
                {import(0), segments({0xFFFF, 0xFFFF, 2, 3}),
                 list({i(0), i(2), i(0), r(0), i(2), i(0), r(0), i(2), i(0), i(0), i(0)}),
                 list({i(4)})});
  function.emit(Op::Return, {list({i(4)})});
  FunctionBuilder empty("0iI_I", 12, 0);
  empty.block();
  empty.emit(Op::CallVariadic,
             {import(0), segments({0xFFFF, 0xFFFF, 0, 0}), list({i(0), i(2)}), list({i(4)})});
  empty.emit(Op::Return, {list({i(4)})});
  ModuleBuilder module("test");
  module.import("host.sum", "0iICirIDCiD_I");
  module.function("f", function);
  module.function("empty", empty);
  Program program(module, {host()});
  auto results = program.call("f", {3, int64_t{100}, Buffer::fromText("12345")});
  ASSERT_TRUE(results) << results.error().toString();
  EXPECT_EQ((*results)[0].i64(), 3 + 100 + 2 * (3 + 5 + 100) + 3 * 3);
  auto nothing = program.call("empty", {3, int64_t{100}});
  ASSERT_TRUE(nothing);
  EXPECT_EQ((*nothing)[0].i64(), 103);
}

TEST(NativeFunctions, ReturnSeveralValuesAndTakeMovedReferences) {
  FunctionBuilder function("0fFr_rFfi", 12, 2);
  function.block();
  // Result over the operand that moved: both at once.
  function.emit(Op::Call, {import(0), list({i(0), i(2), moved(0)}), list({i(4), i(6), r(0)})});
  function.emit(Op::CmpNzRef, {r(0), i(8)});
  function.emit(Op::Return, {list({moved(0), i(6), i(4), i(8)})});
  ModuleBuilder module("test");
  module.import("host.echo", "0fFr_fFr");
  module.function("f", function);
  Program program(module, {host()});
  RefPtr<Buffer> buffer = Buffer::fromText("kept");
  auto results = program.call("f", {1.5f, 2.5, buffer});
  ASSERT_TRUE(results) << results.error().toString();
  EXPECT_EQ((*results)[0].as<Buffer>(), buffer.get());
  EXPECT_EQ((*results)[1].f64(), 2.5);
  EXPECT_EQ((*results)[2].f32(), 1.5f);
  EXPECT_EQ((*results)[3].i32(), 1);
}

TEST(NativeFunctions, WrongReferencesAndFailuresNameTheImport) {
  FunctionBuilder function("0r_v", 12, 2);
  function.block();
  function.emit(Op::Call, {import(0), list({i(0), i(2), r(0)}), list({i(4), i(6), r(1)})});
  function.emit(Op::Return, {list({})});
  FunctionBuilder failing("0i_v", 2, 0);
  failing.block();
  failing.emit(Op::Call, {import(1), list({i(0)}), list({})});
  failing.emit(Op::Return, {list({})});
  ModuleBuilder module("test");
  module.import("host.echo", "0fFr_fFr");
  module.import("host.refuse", "0i_v");
  module.function("f", function);
  module.function("failing", failing);
  Program program(module, {host()});
  auto null = program.call("f", {Ref()});
  ASSERT_FALSE(null);
  EXPECT_EQ(null.error().message(), "host.echo: argument 2: expected a vm.buffer, got null");
  auto refused = program.call("failing", {14});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().toString(), "UNAVAILABLE; host.refuse: refused\n  [ 0] test.failing+1");
}

ModuleBuilder waiting() {
  FunctionBuilder inner("0ir_i", 4, 2);
  inner.block();
  Label after = inner.label();
  // i0 is both argument and result: a repeated call must not see the result.
  inner.emit(Op::CallYieldable, {import(0), list({i(0), moved(0)}), to(after), list({i(0)})});
  inner.block(after);
  inner.emit(Op::Return, {list({i(0)})});
  FunctionBuilder outer("0ir_i", 4, 2);
  outer.block();
  Label next = outer.label();
  outer.emit(Op::CallYieldable, {imm(0), list({i(0), r(0)}), to(next), list({i(1)})});
  outer.block(next);
  outer.emit(Op::Return, {list({i(1)})});
  ModuleBuilder module("test");
  module.import("host.wait", "0ir_i");
  module.function("", inner);
  module.function("f", outer);
  return module;
}

TEST(DeferredCalls, ResumeTheCalleeUntilItIsDone) {
  Program program(waiting(), {host()});
  auto function = program.context().lookup("f");
  ASSERT_TRUE(function);
  waits = 0;
  std::vector<Value> arguments = {3, Buffer::fromText("12345")};
  auto invocation = Invocation::begin(*function, arguments);
  ASSERT_TRUE(invocation);
  for (int k = 0; k < 3; ++k) {
    auto progress = invocation->resume();
    ASSERT_TRUE(progress) << progress.error().toString();
    ASSERT_EQ(*progress, Invocation::Progress::Deferred);
    ASSERT_TRUE(invocation->waitSource());
    EXPECT_TRUE(invocation->waitSource()->wait(WaitSource::Clock::time_point::max()));
  }
  auto progress = invocation->resume();
  ASSERT_TRUE(progress);
  ASSERT_EQ(*progress, Invocation::Progress::Done);
  std::vector<Value> results;
  ASSERT_TRUE(invocation->takeResults(results));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].i32(), 8);
  EXPECT_FALSE(invocation->takeResults(results));
  EXPECT_EQ((*program.call("host.calls"))[0].i32(), 4);
}

TEST(DeferredCalls, BlockingCallsWaitInBetween) {
  Program program(waiting(), {host()});
  waits = 0;
  auto results = program.call("f", {5, Ref()});
  ASSERT_TRUE(results) << results.error().toString();
  EXPECT_EQ((*results)[0].i32(), 5);
  EXPECT_EQ(waits, 5);
  // A native function called from outside defers too.
  auto direct = program.call("host.wait", {2, Ref()});
  ASSERT_TRUE(direct) << direct.error().toString();
  EXPECT_EQ((*direct)[0].i32(), 2);
  EXPECT_EQ(waits, 7);
}

TEST(DeferredCalls, DroppedOnesReleaseWhatTheyHold) {
  Program program(waiting(), {host()});
  auto function = program.context().lookup("f");
  RefPtr<Buffer> buffer = Buffer::fromText("x");
  std::weak_ptr<int> owner;
  {
    auto counted = std::make_shared<int>(0);
    owner = counted;
    std::byte memory[1] = {};
    std::vector<Value> arguments = {
        1, Buffer::wrap(memory, Buffer::Access::ReadOnly, std::move(counted))};
    auto invocation = Invocation::begin(*function, arguments);
    arguments.clear();
    ASSERT_TRUE(invocation->resume());
    EXPECT_FALSE(owner.expired());
  }
  EXPECT_TRUE(owner.expired());
  EXPECT_TRUE(program.call("f", {0, Ref()}));
}

TEST(DeferredCalls, SeveralRunInterleaved) {
  Program program(waiting(), {host()});
  auto function = program.context().lookup("f");
  std::vector<Invocation> invocations;
  for (int k = 0; k < 4; ++k) {
    std::vector<Value> arguments = {k, Ref()};
    invocations.push_back(std::move(*Invocation::begin(*function, arguments)));
  }
  std::vector<int> resumptions(4);
  for (int round = 0; round < 5; ++round)
    for (int k = 0; k < 4; ++k)
      if (auto progress = invocations[static_cast<size_t>(k)].resume())
        resumptions[static_cast<size_t>(k)]++;
  EXPECT_EQ(resumptions, (std::vector<int>{1, 2, 3, 4}));
  for (int k = 0; k < 4; ++k) {
    std::vector<Value> results;
    ASSERT_TRUE(invocations[static_cast<size_t>(k)].takeResults(results));
    EXPECT_EQ(results[0].i32(), k);
  }
}

TEST(Linking, BytecodeModulesCallEachOther) {
  FunctionBuilder add("0iIr_rI", 8, 1);
  add.block();
  add.emit(Op::ExtI32I64S, {i(0), i(4)});
  add.emit(Op::AddI64, {i(2), i(4), i(4)});
  add.emit(Op::GlobalStoreI64, {imm(0), i(4)});
  add.emit(Op::Return, {list({moved(0), i(4)})});
  ModuleBuilder library("library");
  library.globals(8, 0);
  library.function("add", add);
  FunctionBuilder use("0iIr_Ir", 12, 2);
  use.block();
  use.emit(Op::Call, {import(0), list({i(0), i(2), moved(0)}), list({r(1), i(6)})});
  use.emit(Op::GlobalLoadI64, {imm(8), i(8)}); // this module's own globals
  use.emit(Op::AddI64, {i(6), i(8), i(6)});
  use.emit(Op::Return, {list({i(6), moved(1)})});
  ModuleBuilder user("user");
  user.globals(16, 0);
  user.import("library.add", "0iIr_rI");
  user.function("use", use);
  Instance instance;
  auto first = load(instance, library.finish());
  auto second = load(instance, user.finish());
  ASSERT_TRUE(first && second);
  std::shared_ptr<const Module> modules[] = {*first, *second};
  auto context = Context::create(modules);
  ASSERT_TRUE(context) << context.error().toString();
  auto function = (*context)->lookup("use");
  ASSERT_TRUE(function);
  RefPtr<Buffer> buffer = Buffer::fromText("b");
  std::vector<Value> arguments = {7, int64_t{1} << 35, buffer};
  std::vector<Value> results;
  auto called = call(*function, arguments, results);
  ASSERT_TRUE(called) << called.error().toString();
  EXPECT_EQ(results[0].i64(), (int64_t{1} << 35) + 7);
  EXPECT_EQ(results[1].as<Buffer>(), buffer.get());
  EXPECT_TRUE((*context)->lookup("library.add"));
  EXPECT_FALSE((*context)->lookup("library.nothing"));
  // The wrong way round, the import is not there yet.
  std::swap(modules[0], modules[1]);
  auto wrong = Context::create(modules);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message(), HasSubstr("module user: needs the function library.add"));
}

TEST(Linking, ChecksModulesVersionsAndSignatures) {
  Instance instance;
  auto create = [&](const ModuleBuilder& builder, uint32_t version) {
    auto module = load(instance, builder.finish());
    EXPECT_TRUE(module);
    std::shared_ptr<const Module> modules[] = {host(version), *module};
    return Context::create(modules);
  };
  ModuleBuilder needs("test");
  needs.dependency("host", 3);
  EXPECT_THAT(create(needs, 2).error().message(),
              HasSubstr("needs module host of version 3 or later; the one here has version 2"));
  EXPECT_TRUE(create(needs, 3));
  EXPECT_TRUE(create(needs, 4));
  ModuleBuilder absent("test");
  absent.dependency("other", 0);
  EXPECT_EQ(create(absent, 2).error().code(), StatusCode::NotFound);
  ModuleBuilder optional("test");
  optional.dependency("other", 0, true);
  EXPECT_TRUE(create(optional, 2));
  ModuleBuilder missing("test");
  missing.import("host.nothing", "0v_v");
  EXPECT_EQ(create(missing, 2).error().code(), StatusCode::NotFound);
  ModuleBuilder different("test");
  different.import("host.calls", "0v_I");
  EXPECT_THAT(create(different, 2).error().message(),
              HasSubstr("calls host.calls as 0v_I, but it is 0v_i"));
}

TEST(Linking, OptionalImportsMayBeAbsent) {
  FunctionBuilder function("0v_ii", 2, 0);
  function.block();
  function.emit(Op::ImportResolved, {import(0), i(0)});
  function.emit(Op::ImportResolved, {import(1), i(1)});
  function.emit(Op::Return, {list({i(0), i(1)})});
  FunctionBuilder use("0v_v", 2, 0);
  use.block();
  use.emit(Op::Call, {import(1), list({}), list({})});
  use.emit(Op::Return, {list({})});
  ModuleBuilder module("test");
  module.import("host.calls", "0v_i", true);
  module.import("nobody.home", "0v_v", true);
  module.function("f", function);
  module.function("use", use);
  Program program(module, {host()});
  auto results = program.call("f");
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].i32(), 1);
  EXPECT_EQ((*results)[1].i32(), 0);
  auto used = program.call("use");
  ASSERT_FALSE(used);
  EXPECT_EQ(used.error().code(), StatusCode::NotFound);
  EXPECT_THAT(used.error().message(), HasSubstr("nobody.home"));
}

TEST(Contexts, RunInitAndDeinit) {
  // __init waits, then stores 5; __deinit calls the host.
  FunctionBuilder init("0v_v", 4, 1);
  init.block();
  Label after = init.label();
  init.emit(Op::ConstI32, {imm(5), i(0)});
  init.emit(Op::CallYieldable, {import(0), list({i(0), r(0)}), to(after), list({i(1)})});
  init.block(after);
  init.emit(Op::GlobalStoreI32, {imm(0), i(1)});
  init.emit(Op::Return, {list({})});
  FunctionBuilder get("0v_i", 2, 0);
  get.block();
  get.emit(Op::GlobalLoadI32, {imm(0), i(0)});
  get.emit(Op::Return, {list({i(0)})});
  FunctionBuilder deinit("0v_v", 4, 1);
  deinit.block();
  deinit.emit(Op::Call, {import(0), list({i(0), r(0)}), list({i(1)})});
  deinit.emit(Op::Return, {list({})});
  ModuleBuilder module("test");
  module.import("host.wait", "0ir_i");
  module.globals(4, 0);
  module.function("__init", init);
  module.function("get", get);
  module.function("__deinit", deinit);
  Program program(module, {host()});
  EXPECT_EQ((*program.call("get"))[0].i32(), 5);
  FunctionBuilder broken("0v_v", 2, 0);
  broken.block();
  broken.emit(Op::ConstI32, {imm(18), i(0)});
  broken.emit(Op::Fail, {i(0), text("no suitable device")});
  ModuleBuilder failing("bad");
  failing.function("__init", broken);
  Instance instance;
  std::shared_ptr<const Module> modules[] = {*load(instance, failing.finish())};
  auto context = Context::create(modules);
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().code(), StatusCode::Incompatible);
  EXPECT_EQ(context.error().message(), "module bad: __init: no suitable device");
}

TEST(Contexts, CheckArgumentsOfCalls) {
  FunctionBuilder function("0iFr_v", 4, 1);
  function.block();
  function.emit(Op::Return, {list({})});
  ModuleBuilder module("test");
  module.function("f", function);
  Program program(module);
  EXPECT_TRUE(program.call("f", {1, 2.0, Ref()}));
  EXPECT_EQ(program.call("f", {1, 2.0}).error().message(), "f takes 3 arguments, not 2");
  EXPECT_EQ(program.call("f", {1, 2.0f, Ref()}).error().message(),
            "argument 1 of f must be f64, not f32");
  EXPECT_EQ(program.call("f", {1, 2.0, 3}).error().message(),
            "argument 2 of f must be ref, not i32");
}

TEST(Contexts, AreCalledFromSeveralThreads) {
  FunctionBuilder function("0I_I", 12, 0);
  Label head = function.label();
  Label body = function.label();
  Label end = function.label();
  function.block();
  function.emit(Op::ConstI64, {imm(1), i(6)});
  function.emit(Op::Br, {to(head)});
  function.block(head);
  function.emit(Op::CmpLtI64S, {i(2), i(0), i(4)});
  function.emit(Op::CondBr, {i(4), to(body), to(end)});
  function.block(body);
  function.emit(Op::AddI64, {i(2), i(6), i(2)});
  function.emit(Op::Br, {to(head)});
  function.block(end);
  function.emit(Op::Return, {list({i(2)})});
  ModuleBuilder module("test");
  module.function("f", function);
  Program program(module);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int64_t k = 0; k < 500; ++k) {
        auto results = program.call("f", {Value(k * t)});
        if (!results || (*results)[0].i64() != k * t)
          ++wrong;
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace bessemer::vm
