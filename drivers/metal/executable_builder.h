// Executables for tests, laid out as iree-compile writes them.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "executable_def_generated.h"

namespace bessemer::metal_driver {

struct TestFunction {
  std::string name;
  std::string entry_point;
  uint32_t threads = 1; // of a threadgroup, in x
  uint32_t binding_count = 0;
  uint32_t constant_count = 0;
};

inline std::vector<uint8_t> PackExecutable(fb::ExecutableT executable) {
  flatbuffers::FlatBufferBuilder builder;
  fb::FinishExecutableBuffer(builder, fb::Executable::Pack(builder, &executable));
  std::vector<uint8_t> bytes(64 + builder.GetSize());
  std::memcpy(bytes.data(), "MTL1", 4);
  uint64_t size = builder.GetSize();
  std::memcpy(bytes.data() + 8, &size, sizeof(size));
  std::memcpy(bytes.data() + 64, builder.GetBufferPointer(), size);
  return bytes;
}

/// Functions of one MSL text.
inline std::vector<uint8_t> BuildExecutable(const std::string& msl,
                                            const std::vector<TestFunction>& functions) {
  fb::ExecutableT executable;
  auto library = std::make_unique<fb::LibraryT>();
  library->source = std::make_unique<fb::MslSourceT>();
  library->source->version = 0x30000;
  library->source->code = msl;
  executable.libraries.push_back(std::move(library));
  for (const TestFunction& function : functions) {
    auto pipeline = std::make_unique<fb::PipelineT>();
    pipeline->entry_point = function.entry_point;
    pipeline->name = function.name;
    pipeline->threadgroup_size = std::make_unique<fb::ThreadgroupSize>(function.threads, 1, 1);
    pipeline->constant_count = function.constant_count;
    pipeline->binding_flags.resize(function.binding_count);
    executable.pipelines.push_back(std::move(pipeline));
  }
  return PackExecutable(std::move(executable));
}

} // namespace bessemer::metal_driver
