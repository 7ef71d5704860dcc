#include "metal/cpu/executor/testing/fake_compiler.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>

namespace bessemer::metal::cpu::testing {

std::atomic<uint32_t> kernels_compiled{0};
std::atomic<uint32_t> kernels_summarised{0};
std::atomic<uint32_t> sources_compiled{0};

namespace {

struct KernelDescription {
  const char* name;
  std::vector<metal::Access> buffers; // element n: [[buffer(n)]]
  uint32_t threadgroup_bytes = 0;
  uint64_t frame_bytes = 0;
  bool flush_denormals = false;
  bool needs_distinct_buffers = false;
};

constexpr auto R = metal::Access::Read;
constexpr auto W = metal::Access::Write;
constexpr auto RW = metal::Access::ReadWrite;

const std::vector<KernelDescription>& descriptions() {
  static const auto* list = new std::vector<KernelDescription>{
      {"empty", {}},
      {"count_visits", {RW}},
      {"saxpy", {R, RW, R}, 0, 0, false, true},
      {"mix", {RW, R}},
      {"group_sum", {R, W}, 64, 4096},
      {"subnormal_kept", {W, R}},
      {"subnormal_flushed", {W, R}, 0, 0, true},
      {"spin_on_memory", {R}},
      {"endless", {}},
      {"wild_store", {R}},
      {"divide_by_zero", {}},
      {"illegal_instruction", {}},
      {"stack_overflow", {W}},
      {"slow", {RW}},
      {"uses_constants", {W, R}},
      {"calls_foreign", {}},
      {"uncompilable", {}},
  };
  return *list;
}

const KernelDescription* find(std::string_view name) {
  for (const KernelDescription& description : descriptions())
    if (name == description.name)
      return &description;
  return nullptr;
}

std::mutex gate_mutex;
std::condition_variable gate_opened;
bool gate_is_closed = false;

void give(bessemer_bytes_t* out, const void* data, size_t size) {
  auto* copy = static_cast<uint8_t*>(std::malloc(size));
  std::memcpy(copy, data, size);
  *out = {copy, size, copy};
}

void give_text(bessemer_bytes_t* out, const std::string& text) {
  give(out, text.data(), text.size());
}

int compile_source(const char* source, size_t size, const bessemer_source_options_t*,
                   bessemer_bytes_t* out, bessemer_bytes_t* diagnostics) {
  ++sources_compiled;
  metal::LibraryT library;
  std::istringstream words(std::string(source, size));
  for (std::string name; words >> name;) {
    const KernelDescription* description = find(name);
    if (!description) {
      give_text(diagnostics, "program_source:1:1: error: no kernel '" + name + "'");
      return 1;
    }
    auto function = std::make_unique<metal::FunctionT>();
    function->name = name;
    for (size_t i = 0; i < description->buffers.size(); ++i) {
      auto argument = std::make_unique<metal::ArgumentT>();
      argument->kind = metal::ArgumentKind::Buffer;
      argument->index = static_cast<uint32_t>(i);
      argument->access = description->buffers[i];
      function->arguments.push_back(std::move(argument));
    }
    library.functions.push_back(std::move(function));
  }
  library.modules.push_back(std::make_unique<metal::ModuleT>());
  library.modules[0]->bitcode = {'B', 'C', 1, 2};
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(metal::Library::Pack(builder, &library), metal::LibraryIdentifier());
  give(out, builder.GetBufferPointer(), builder.GetSize());
  return 0;
}

int compile_kernel(const bessemer_kernel_request_t* request, bessemer_bytes_t* out,
                   bessemer_bytes_t* diagnostics) {
  const KernelDescription* description = find(request->function);
  if (!description) {
    give_text(diagnostics, "no function " + std::string(request->function));
    return 1;
  }
  if (request->threads[0] != 0) {
    std::unique_lock lock(gate_mutex);
    gate_opened.wait(lock, [] { return !gate_is_closed; });
    if (std::string_view(request->function) == "uncompilable") {
      give_text(diagnostics, "not for this size");
      return 1;
    }
  }
  const bool foreign = std::string_view(request->function) == "calls_foreign";
  metal::KernelT kernel;
  if (request->output == BESSEMER_OUTPUT_SUMMARY)
    ++kernels_summarised;
  else
    ++kernels_compiled;
  const std::span<const uint8_t> object = kernel_object(foreign);
  if (request->output == BESSEMER_OUTPUT_KERNEL)
    kernel.object.assign(object.begin(), object.end());
  kernel.entry =
      std::string_view(request->function) == "uncompilable" ? "empty" : description->name;
  kernel.threads_x = request->threads[0];
  kernel.threads_y = request->threads[1];
  kernel.threads_z = request->threads[2];
  kernel.threadgroup_bytes = description->threadgroup_bytes;
  kernel.frame_bytes = description->frame_bytes;
  kernel.used_buffers = (uint32_t{1} << description->buffers.size()) - 1;
  kernel.flush_denormals = description->flush_denormals;
  kernel.needs_distinct_buffers = description->needs_distinct_buffers && request->distinct_buffers;
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(metal::Kernel::Pack(builder, &kernel), metal::KernelIdentifier());
  give(out, builder.GetBufferPointer(), builder.GetSize());
  return 0;
}

int load_metallib(const uint8_t* bytes, size_t size, bessemer_bytes_t* out,
                  bessemer_bytes_t* diagnostics) {
  return compile_source(reinterpret_cast<const char*>(bytes), size, nullptr, out, diagnostics);
}

int write_metallib(const uint8_t* library, size_t size, bessemer_bytes_t* out, bessemer_bytes_t*) {
  give(out, library, size);
  return 0;
}

std::vector<uint8_t> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

} // namespace

const bessemer_compiler_t* fake_compiler(uint32_t abi) {
  static const bessemer_compiler_t compiler = {
      .abi = BESSEMER_COMPILER_ABI,
      .build_id = "fake 1",
      .release = [](bessemer_bytes_t* bytes) { std::free(bytes->owner); },
      .compile_source = compile_source,
      .load_metallib = load_metallib,
      .write_metallib = write_metallib,
      .compile_kernel = compile_kernel,
  };
  return abi == BESSEMER_COMPILER_ABI ? &compiler : nullptr;
}

void close_compile_gate() {
  std::lock_guard lock(gate_mutex);
  gate_is_closed = true;
}

void open_compile_gate() {
  {
    std::lock_guard lock(gate_mutex);
    gate_is_closed = false;
  }
  gate_opened.notify_all();
}

std::span<const uint8_t> kernel_object(bool foreign_calls) {
  static const auto* plain = new std::vector<uint8_t>(read_file(EXECUTOR_TEST_OBJECT));
  static const auto* foreign = new std::vector<uint8_t>(read_file(EXECUTOR_TEST_FOREIGN_OBJECT));
  return foreign_calls ? *foreign : *plain;
}

CompilerService& uncached_service() {
  static auto* service = new CompilerService({.compiler = fake_compiler, .use_cache = false});
  return *service;
}

std::shared_ptr<Pipeline> make_pipeline(std::string_view kernel, CompilerService& service) {
  Expected<LibraryTable> library = service.compile_source(kernel, {});
  if (!library) {
    std::fprintf(stderr, "%s\n", library.error().message.c_str());
    std::abort();
  }
  Expected<std::shared_ptr<Pipeline>> pipeline = Pipeline::create(
      service, {.library = *library, .function = std::string(kernel), .constants = {}});
  if (!pipeline) {
    std::fprintf(stderr, "%s\n", pipeline.error().message.c_str());
    std::abort();
  }
  return *pipeline;
}

} // namespace bessemer::metal::cpu::testing
