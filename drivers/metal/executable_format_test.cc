#include "drivers/metal/executable_format.h"

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "drivers/metal/executable_builder.h"
#include "iree/testing/gtest.h"
#include "iree/testing/status_matchers.h"

namespace bessemer::metal_driver {
namespace {

/// An executable with two functions in two libraries, as iree-compile lays it out.
std::vector<uint8_t> MakeExecutable(void (*change)(fb::ExecutableT&) = nullptr) {
  fb::ExecutableT executable;
  for (const char* name : {"first", "second"}) {
    auto library = std::make_unique<fb::LibraryT>();
    library->source = std::make_unique<fb::MslSourceT>();
    library->source->version = 0x30000;
    library->source->code = std::string("// ") + name;
    executable.libraries.push_back(std::move(library));
    auto pipeline = std::make_unique<fb::PipelineT>();
    pipeline->library_ordinal = static_cast<uint32_t>(executable.libraries.size() - 1);
    pipeline->entry_point = std::string("_") + name;
    pipeline->name = std::string(name) == "first" ? "first.name" : "";
    pipeline->threadgroup_size = std::make_unique<fb::ThreadgroupSize>(8, 4, 2);
    pipeline->constant_count = 3;
    pipeline->binding_flags = {1, 0};
    executable.pipelines.push_back(std::move(pipeline));
  }
  if (change)
    change(executable);
  return PackExecutable(std::move(executable));
}

iree_status_t Read(const std::vector<uint8_t>& bytes, ExecutableSource* out_source) {
  return ReadExecutable(iree_make_const_byte_span(bytes.data(), bytes.size()), out_source);
}

TEST(ExecutableFormatTest, ReadsFunctionsAndLibraries) {
  std::vector<uint8_t> bytes = MakeExecutable();
  ExecutableSource source;
  IREE_ASSERT_OK(Read(bytes, &source));
  ASSERT_EQ(source.functions.size(), 2u);
  EXPECT_EQ(source.functions[0].name, "first.name");
  EXPECT_EQ(source.functions[0].entry_point, "_first");
  EXPECT_EQ(source.functions[1].name, "_second");
  EXPECT_EQ(source.functions[1].library_ordinal, 1u);
  EXPECT_EQ(source.functions[1].threadgroup_size[1], 4u);
  EXPECT_EQ(source.functions[1].constant_count, 3u);
  EXPECT_EQ(source.functions[1].binding_count, 2u);
  EXPECT_EQ(source.libraries[1].contents, "// second");
  EXPECT_EQ(source.libraries[1].language_version, 0x30000u);
  iree_host_size_t size = 0;
  IREE_ASSERT_OK(InferExecutableSize(iree_make_const_byte_span(bytes.data(), 0), &size));
  EXPECT_EQ(size, bytes.size());
}

TEST(ExecutableFormatTest, RefusesWhatDoesNotFitTogether) {
  const struct {
    const char* what;
    void (*change)(fb::ExecutableT&);
  } kCases[] = {
      {"no entry point", [](fb::ExecutableT& e) { e.pipelines[1]->entry_point.clear(); }},
      {"library out of range", [](fb::ExecutableT& e) { e.pipelines[0]->library_ordinal = 2; }},
      {"no threadgroup size", [](fb::ExecutableT& e) { e.pipelines[0]->threadgroup_size.reset(); }},
      {"empty threadgroup",
       [](fb::ExecutableT& e) {
         e.pipelines[0]->threadgroup_size = std::make_unique<fb::ThreadgroupSize>(8, 0, 1);
       }},
      {"too many constants", [](fb::ExecutableT& e) { e.pipelines[0]->constant_count = 65; }},
      {"too many bindings", [](fb::ExecutableT& e) { e.pipelines[0]->binding_flags.resize(17); }},
      {"empty library", [](fb::ExecutableT& e) { e.libraries[1]->source->code.clear(); }},
      {"unknown language", [](fb::ExecutableT& e) { e.libraries[1]->source->version = ~0u; }},
  };
  for (const auto& c : kCases) {
    ExecutableSource source;
    EXPECT_THAT(iree::Status(Read(MakeExecutable(c.change), &source)),
                iree::testing::status::StatusIs(iree::StatusCode::kInvalidArgument))
        << c.what;
  }
}

TEST(ExecutableFormatTest, RefusesBadHeaders) {
  ExecutableSource source;
  std::vector<uint8_t> bytes = MakeExecutable();
  bytes[0] = 'X';
  IREE_EXPECT_STATUS_IS(IREE_STATUS_INVALID_ARGUMENT, Read(bytes, &source));
  bytes = MakeExecutable();
  bytes[4] = 1;
  IREE_EXPECT_STATUS_IS(IREE_STATUS_INCOMPATIBLE, Read(bytes, &source));
  bytes = MakeExecutable();
  bytes.pop_back();
  IREE_EXPECT_STATUS_IS(IREE_STATUS_OUT_OF_RANGE, Read(bytes, &source));
  bytes.resize(63);
  IREE_EXPECT_STATUS_IS(IREE_STATUS_INVALID_ARGUMENT, Read(bytes, &source));
}

TEST(ExecutableFormatTest, SurvivesDamageOfAnyByte) {
  const std::vector<uint8_t> whole = MakeExecutable();
  std::mt19937 random(7);
  size_t refused = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    std::vector<uint8_t> damaged = whole;
    damaged[i] ^= static_cast<uint8_t>(1 + random() % 255);
    ExecutableSource source;
    iree_status_t status = Read(damaged, &source);
    refused += !iree_status_is_ok(status);
    iree_status_free(status);
  }
  // Offsets and sizes are about half of such a small file.
  EXPECT_GT(refused, whole.size() / 4);
}

} // namespace
} // namespace bessemer::metal_driver
