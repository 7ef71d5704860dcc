// Files: containers, damaged bytes, versions, and the modules that the compiler makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "module_generated.h"
#include "vm/file_mapping.h"
#include "vm/signature.h"
#include "vm/testing/harness.h"

namespace bessemer::vm {
namespace {

using namespace testing;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

ModuleBuilder sample() {
  FunctionBuilder callee("0rII_rI", 12, 3);
  callee.block();
  callee.emit(Op::AddI64, {i(0), i(2), i(4)});
  callee.emit(Op::Return, {list({moved(0), i(4)})});
  FunctionBuilder function("0rI_rI", 12, 3);
  Label yes = function.label();
  Label no = function.label();
  function.block();
  function.emit(Op::ConstRefRodata, {imm(0), r(1)});
  function.emit(Op::CmpNzI64, {i(0), i(8)});
  function.emit(Op::CondBr, {i(8), to(yes, {i(0), i(2), i(1), i(3)}), to(no)});
  function.block(yes);
  function.emit(Op::CallVariadic,
                {import(0), segments({0xFFFF, 1}), list({i(8), r(0), i(2)}), list({})});
  function.emit(Op::Call, {imm(0), list({moved(0), i(0), i(2)}), list({r(2), i(4)})});
  function.emit(Op::Return, {list({moved(2), i(4)})});
  function.block(no);
  function.emit(Op::ConstF32, {real(1.5), i(5)});
  function.emit(Op::Fail, {i(8), text("why")});
  Label rest = function.label();
  function.block(rest);
  function.emit(Op::Return, {list({moved(1), i(0)})});
  ModuleBuilder module("sample");
  module.type("!vm.buffer");
  module.type("i64");
  module.import("other.take", "0iCrID_v", true);
  module.dependency("other", 3, true);
  module.rodata("some constant bytes");
  module.globals(16, 2);
  module.function("", callee);
  uint32_t ordinal = module.function("main", function);
  module.attribute(ordinal, "iree.abi.declaration", "sync func @main()");
  module.lines(ordinal, "main", {{0, 5}, {20, 6}});
  return module;
}

TEST(Containers, RawAndZipAreTheSameModule) {
  Instance instance;
  for (bool zip : {false, true}) {
    auto module = load(instance, sample().finish(zip));
    ASSERT_TRUE(module) << module.error().toString();
    EXPECT_EQ((*module)->name(), "sample");
    ASSERT_EQ((*module)->exports().size(), 1u);
    EXPECT_EQ((*module)->exports()[0].name, "main");
    EXPECT_EQ((*module)->exports()[0].signature->text, "0rI_rI");
    EXPECT_EQ(findAttribute((*module)->exports()[0].attributes, "iree.abi.declaration"),
              "sync func @main()");
    ASSERT_EQ((*module)->imports().size(), 1u);
    EXPECT_TRUE((*module)->imports()[0].optional);
    ASSERT_EQ((*module)->dependencies().size(), 1u);
    EXPECT_EQ((*module)->dependencies()[0].minimum_version, 3u);
  }
}

TEST(Containers, UnalignedBytesAreCopied) {
  std::vector<std::byte> bytes = sample().finish();
  Instance instance;
  for (size_t shift : {1, 4, 8}) {
    std::vector<std::byte> moved_bytes(shift);
    moved_bytes.insert(moved_bytes.end(), bytes.begin(), bytes.end());
    auto module = BytecodeModule::load(
        instance, std::span<const std::byte>(moved_bytes).subspan(shift), nullptr, {});
    EXPECT_TRUE(module);
  }
}

// An archive made by another tool: the table is anywhere.
TEST(Containers, TablesThatAreNotAlignedAreCopied) {
  Instance instance;
  std::vector<std::byte> bytes = sample().finish(true);
  for (uint16_t shift : {1, 2, 5, 8}) {
    std::vector<std::byte> shifted = bytes;
    shifted.insert(shifted.begin() + 40, shift, std::byte(0));
    uint16_t extra = 0;
    std::memcpy(&extra, shifted.data() + 28, 2);
    extra = static_cast<uint16_t>(extra + shift);
    std::memcpy(shifted.data() + 28, &extra, 2);
    auto module = load(instance, shifted);
    ASSERT_TRUE(module) << module.error().toString();
    ASSERT_EQ((*module)->rodataCount(), 1u);
    auto rodata = (*module)->rodata(0);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(rodata.data()), rodata.size()),
              "some constant bytes");
  }
}

// Whatever is cut off, the module does not load, and nothing reads past the end.
TEST(DamagedModules, EveryTruncationIsAnError) {
  Instance instance;
  for (bool zip : {false, true}) {
    std::vector<std::byte> bytes = sample().finish(zip);
    for (size_t size = 0; size < bytes.size(); ++size) {
      auto module = load(instance, std::span(bytes).first(size));
      ASSERT_FALSE(module) << size << " of " << bytes.size();
      ASSERT_FALSE(module.error().message().empty());
    }
  }
}

// A flipped bit may leave a good module; then everything that reads it must work.
TEST(DamagedModules, EveryBitFlipLoadsOrIsAnError) {
  Instance instance;
  std::vector<std::byte> bytes = sample().finish();
  size_t good = 0;
  size_t bad = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
    auto module = load(instance, bytes);
    (module ? good : bad)++;
    if (module) {
      for (size_t k = 0; k < (*module)->functionCount(); ++k) {
        EXPECT_TRUE((*module)->disassemble(k));
        (void)(*module)->sourceLocation(k, 10);
      }
      std::shared_ptr<const Module> modules[] = {*module};
      (void)Context::create(modules);
    }
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
  }
  EXPECT_GT(good, 0u);
  EXPECT_GT(bad, 0u);
}

TEST(Modules, OtherVersionsAndFeaturesAreRefused) {
  Instance instance;
  for (uint32_t version : {16u << 16, 18u << 16, 17u << 16 | 1, 0u}) {
    ModuleBuilder module("test");
    module.version(version);
    auto loaded = load(instance, module.finish());
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code(), StatusCode::Unimplemented);
    EXPECT_THAT(loaded.error().message(), HasSubstr("bytecode version"));
  }
  ModuleBuilder module("test");
  module.requirements(bytecode::kSupportedFeatures | 32);
  EXPECT_FALSE(load(instance, module.finish()));
}

// Sets a field of a function's descriptor, by its place in those 20 bytes.
template <class T>
void put(fb::BytecodeModuleDefT& module, size_t function, size_t at, T value) {
  std::memcpy(reinterpret_cast<std::byte*>(&module.function_descriptors[function]) + at, &value,
              sizeof(value));
}

// The tables' own rules: each broken alone, in a module that is good otherwise.
struct BrokenTable {
  const char* name;
  const char* message;
  void (*change)(fb::BytecodeModuleDefT&);
};
const BrokenTable kBrokenTables[] = {
    {"NoName", "the module has no name", [](auto& module) { module.name.clear(); }},
    {"SignaturesFewerThanFunctions", "1 signatures for 2 functions",
     [](auto& module) { module.function_signatures.pop_back(); }},
    {"SignaturesMoreThanFunctions", "2 signatures for 1 functions",
     [](auto& module) { module.function_descriptors.pop_back(); }},
    {"BytecodeOutside", "is not inside the module's",
     [](auto& module) { put<int32_t>(module, 1, 4, 1 << 20); }},
    {"BytecodeBefore", "is not inside the module's",
     [](auto& module) { put<int32_t>(module, 1, 0, -8); }},
    {"NoBytecode", "is not inside the module's",
     [](auto& module) { put<int32_t>(module, 0, 4, 0); }},
    {"NoBlock", "function 0 has no block", [](auto& module) { put<int16_t>(module, 0, 14, 0); }},
    {"MoreBlocksDeclared", "4 blocks where 5 are declared",
     [](auto& module) { put<int16_t>(module, 1, 14, 5); }},
    {"FewerBlocksDeclared", "4 blocks where 3 are declared",
     [](auto& module) { put<int16_t>(module, 1, 14, 3); }},
    {"TooManyReferences", "bad number of registers",
     [](auto& module) { put<int16_t>(module, 1, 18, 0x4000); }},
    {"FeaturesOfAFunction", "needs features 64",
     [](auto& module) { put<uint32_t>(module, 1, 8, 64); }},
    {"ExportOfNoFunction", "there is no function 2",
     [](auto& module) { module.exported_functions[0]->internal_ordinal = 2; }},
    {"ExportOfANegativeFunction", "there is no function -1",
     [](auto& module) { module.exported_functions[0]->internal_ordinal = -1; }},
    {"ExportWithoutAName", "has no name",
     [](auto& module) { module.exported_functions[0]->local_name.clear(); }},
    {"ImportOfNoModule", "names no module",
     [](auto& module) { module.imported_functions[0]->full_name = "take"; }},
    {"ImportWithoutASignature", "has no signature",
     [](auto& module) { module.imported_functions[0]->signature.reset(); }},
    {"ConstantOutside", "outside of the file",
     [](auto& module) {
       auto& segment = *module.rodata_segments[0];
       segment.embedded_data.clear();
       segment.external_data_offset = 1 << 30;
       segment.external_data_length = 16;
     }},
    {"ConstantThatWrapsAround", "outside of the file",
     [](auto& module) {
       auto& segment = *module.rodata_segments[0];
       segment.embedded_data.clear();
       segment.external_data_offset = ~uint64_t{0} - 8;
       segment.external_data_length = 16;
     }},
    {"NegativeGlobals", "bad size of globals",
     [](auto& module) { module.module_state->global_bytes_capacity = -1; }},
};

class BrokenTables : public ::testing::TestWithParam<size_t> {};

TEST_P(BrokenTables, AreRefusedWithTheReason) {
  const BrokenTable& broken = kBrokenTables[GetParam()];
  std::vector<std::byte> good = sample().finish();
  std::unique_ptr<fb::BytecodeModuleDefT> module(
      fb::GetSizePrefixedBytecodeModuleDef(good.data())->UnPack());
  broken.change(*module);
  flatbuffers::FlatBufferBuilder builder;
  fb::FinishSizePrefixedBytecodeModuleDefBuffer(builder,
                                                fb::BytecodeModuleDef::Pack(builder, module.get()));
  const auto span = std::as_bytes(std::span(builder.GetBufferPointer(), size_t{builder.GetSize()}));
  Instance instance;
  auto loaded = load(instance, {span.begin(), span.end()});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message(), HasSubstr(broken.message));
}

INSTANTIATE_TEST_SUITE_P(Rules, BrokenTables, ::testing::Range(size_t{0}, std::size(kBrokenTables)),
                         [](const auto& info) { return kBrokenTables[info.param].name; });

TEST(Modules, UnknownTypesAreErrors) {
  Instance instance;
  for (std::string name : {"!hal.device", "i7", "", "vm.buffer"}) {
    ModuleBuilder module("test");
    module.type(name);
    auto loaded = load(instance, module.finish());
    ASSERT_FALSE(loaded) << name;
    EXPECT_THAT(loaded.error().message(), HasSubstr("type 0: unknown type '" + name + "'"));
  }
  ModuleBuilder module("test");
  for (std::string name : {"i8", "i16", "i32", "i64", "f32", "f64", "!vm.opaque", "!vm.buffer",
                           "!vm.list<i8>", "!vm.list<!vm.ref<!hal.buffer>>"})
    module.type(name);
  EXPECT_TRUE(load(instance, module.finish()));
}

TEST(Files, ErrorsNameTheFile) {
  Instance instance;
  auto missing = BytecodeModule::loadFile(instance, "/nowhere/model.vmfb");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), StatusCode::NotFound);
  EXPECT_THAT(missing.error().message(), HasSubstr("/nowhere/model.vmfb: No such file"));
  fs::path path = fs::temp_directory_path() / ("bessemer_vm_test_" + std::to_string(getpid()));
  std::ofstream(path) << "this is no module, it is a text of some length";
  auto text = BytecodeModule::loadFile(instance, path);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message(), HasSubstr(path.string() + ": not a compiled module"));
  std::ofstream(path, std::ios::trunc).close();
  EXPECT_FALSE(BytecodeModule::loadFile(instance, path));
  EXPECT_FALSE(BytecodeModule::loadFile(instance, fs::temp_directory_path()));
  std::vector<std::byte> bytes = sample().finish(true);
  std::ofstream(path).write(reinterpret_cast<const char*>(bytes.data()),
                            static_cast<std::streamsize>(bytes.size()));
  auto good = BytecodeModule::loadFile(instance, path);
  EXPECT_TRUE(good) << good.error().toString();
  fs::remove(path);
}

TEST(Disassembly, ShowsOperandsByKind) {
  Instance instance;
  auto module = load(instance, sample().finish());
  ASSERT_TRUE(module);
  auto text = (*module)->disassemble(1);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("function 1 (main) 0rI_rI"));
  EXPECT_THAT(*text, HasSubstr("%r1 = const.ref.rodata rodata[0]"));
  EXPECT_THAT(*text, HasSubstr("call.variadic @other.take, segments(-, 1), %i8, %r0, %i2"));
  EXPECT_THAT(*text, HasSubstr("%r2, %i4 = call @function 0, %R0, %i0, %i2"));
  EXPECT_THAT(*text, HasSubstr("%i5 = const.f32 1.5"));
  EXPECT_THAT(*text, HasSubstr("fail %i8, \"why\""));
}

TEST(Signatures, AreParsedOrRefused) {
  auto signature = Signature::parse("0rICiirID_Iff");
  ASSERT_TRUE(signature);
  ASSERT_EQ(signature->arguments.size(), 3u);
  EXPECT_TRUE(signature->arguments[2].isSpan());
  EXPECT_EQ(signature->arguments[2].tuple.size(), 4u);
  EXPECT_EQ(signature->results.size(), 3u);
  for (std::string empty : {"0", "0v", "0v_v", "0_"}) {
    auto nothing = Signature::parse(empty);
    ASSERT_TRUE(nothing) << empty;
    EXPECT_TRUE(nothing->arguments.empty() && nothing->results.empty());
  }
  for (std::string bad : {"", "1i_i", "0Ci_v", "0D_v", "0CCiDD_v", "0CD_v", "0i_Ci", "0x", "0i_iv"})
    EXPECT_FALSE(Signature::parse(bad)) << bad;
}

// The modules of the model corpus.
TEST(CorpusModules, AllLoadAndVerify) {
  const fs::path corpus = VM_TEST_CORPUS;
  Instance instance;
  static const RefType types[] = {
      {"hal.allocator", nullptr, nullptr},   {"hal.buffer", nullptr, nullptr},
      {"hal.buffer_view", nullptr, nullptr}, {"hal.command_buffer", nullptr, nullptr},
      {"hal.device", nullptr, nullptr},      {"hal.executable", nullptr, nullptr},
      {"hal.fence", nullptr, nullptr},       {"hal.file", nullptr, nullptr}};
  for (const RefType& type : types)
    ASSERT_TRUE(instance.registerType(type));
  size_t count = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(corpus)) {
    if (entry.path().extension() != ".vmfb")
      continue;
    auto module = BytecodeModule::loadFile(instance, entry.path());
    ASSERT_TRUE(module) << module.error().toString();
    for (size_t k = 0; k < (*module)->functionCount(); ++k)
      EXPECT_TRUE((*module)->disassemble(k));
    ++count;
  }
  EXPECT_GT(count, 0u);
}

} // namespace
} // namespace bessemer::vm
