// The C functions of compiler.h. Nothing is thrown and no C++ type leaves.
#include "metal/compiler/compiler.h"

#include "metal/air/function_constants.h"
#include "metal/air/module.h"
#include "metal/air/simplify.h"
#include "metal/compiler/build_id.h"
#include "metal/compiler/library_builder.h"
#include "metal/cpu/codegen/codegen.h"
#include "metal/msl/compiler.h"

#include "kernel_generated.h"
#include "library_generated.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace bessemer::compiler {

namespace {

// Moves `text` behind the C interface.
void give(bessemer_bytes_t* out, std::string text) {
  if (!out)
    return;
  auto* owner = new std::string(std::move(text));
  *out = {reinterpret_cast<const uint8_t*>(owner->data()), owner->size(), owner};
}

void release(bessemer_bytes_t* bytes) {
  if (!bytes)
    return;
  delete static_cast<std::string*>(bytes->owner);
  *bytes = {nullptr, 0, nullptr};
}

void clear(bessemer_bytes_t* out, bessemer_bytes_t* diagnostics) {
  for (bessemer_bytes_t* bytes : {out, diagnostics})
    if (bytes)
      *bytes = {nullptr, 0, nullptr};
}

int fail(bessemer_bytes_t* diagnostics, llvm::Error error) {
  give(diagnostics, llvm::toString(std::move(error)));
  return 1;
}

msl::MathMode math_mode(bessemer_math_mode_t mode) {
  switch (mode) {
  case BESSEMER_MATH_SAFE:
    return msl::MathMode::Safe;
  case BESSEMER_MATH_RELAXED:
    return msl::MathMode::Relaxed;
  case BESSEMER_MATH_FAST:
    break;
  }
  return msl::MathMode::Fast;
}

// A library with more kernels than this is simplified kernel by kernel, when one is asked for: most
// clients of large sources use few of them.
constexpr unsigned kSimplifyKernels = 4;

std::vector<std::unique_ptr<metal::StageTimeT>> pack(const std::vector<air::StageTime>& stages) {
  std::vector<std::unique_ptr<metal::StageTimeT>> times;
  for (const air::StageTime& stage : stages) {
    auto time = std::make_unique<metal::StageTimeT>();
    time->stage = stage.stage;
    time->nanoseconds = stage.nanoseconds;
    times.push_back(std::move(time));
  }
  return times;
}

int compile_source(const char* source, size_t size, const bessemer_source_options_t* options,
                   bessemer_bytes_t* out, bessemer_bytes_t* diagnostics) {
  clear(out, diagnostics);
  msl::Options msl_options;
  if (options) {
    msl_options.language_version = options->language_version;
    msl_options.math_mode = math_mode(options->math_mode);
    for (uint32_t i = 0; i < options->macro_count; ++i)
      msl_options.macros.push_back({options->macros[i].name, options->macros[i].value});
    if (options->debug_path) {
      msl_options.file_name = options->debug_path;
      msl_options.line_tables = true;
    }
  }
  msl_options.simplify = false;
  llvm::LLVMContext context;
  msl::Compilation compilation = msl::compile(llvm::StringRef(source, size), msl_options, context);
  if (!compilation.module) {
    give(diagnostics, std::move(compilation.diagnostics));
    return 1;
  }
  air::StageClock clock;
  const llvm::NamedMDNode* kernels = compilation.module->getNamedMetadata("air.kernel");
  if (kernels && kernels->getNumOperands() <= kSimplifyKernels)
    air::simplify(*compilation.module);
  clock.stage("simplify");
  metal::LibraryT library;
  library.warnings = compilation.diagnostics;
  if (llvm::Error error =
          add_module(*compilation.module, air::write_bitcode(*compilation.module), library))
    return fail(diagnostics, std::move(error));
  clock.stage("write");
  library.stages = pack(compilation.stages);
  for (auto& time : pack(clock.take()))
    library.stages.push_back(std::move(time));
  give(diagnostics, std::move(compilation.diagnostics));
  give(out, finish(library));
  return 0;
}

int load_metallib(const uint8_t* bytes, size_t size, bessemer_bytes_t* out,
                  bessemer_bytes_t* diagnostics) {
  clear(out, diagnostics);
  metal::LibraryT library;
  if (llvm::Error error = add_metallib({bytes, size}, library))
    return fail(diagnostics, std::move(error));
  give(out, finish(library));
  return 0;
}

int write_metallib(const uint8_t* bytes, size_t size, bessemer_bytes_t* out,
                   bessemer_bytes_t* diagnostics) {
  clear(out, diagnostics);
  flatbuffers::Verifier verifier(bytes, size);
  if (!metal::VerifyLibraryBuffer(verifier)) {
    give(diagnostics, "not a library of this compiler");
    return 1;
  }
  auto file = to_metallib(*metal::GetLibrary(bytes));
  if (!file)
    return fail(diagnostics, file.takeError());
  give(out, std::move(*file));
  return 0;
}

std::string pack(const metal::cpu::CompiledKernel& compiled, const std::array<uint32_t, 3>& threads,
                 bool flush_denormals) {
  metal::KernelT kernel;
  kernel.flush_denormals = flush_denormals;
  kernel.object = compiled.bytes;
  kernel.entry = compiled.entry;
  kernel.threads_x = threads[0];
  kernel.threads_y = threads[1];
  kernel.threads_z = threads[2];
  kernel.threadgroup_bytes = compiled.threadgroup_bytes;
  kernel.frame_bytes = compiled.frame_bytes;
  kernel.frame_alignment = compiled.frame_alignment;
  kernel.lanes = compiled.lanes;
  kernel.used_buffers = compiled.used_buffers;
  kernel.needs_distinct_buffers = compiled.needs_distinct_buffers;
  kernel.flush_denormals = compiled.flush_denormals;
  kernel.stages = pack(compiled.stages);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(metal::Kernel::Pack(builder, &kernel), metal::KernelIdentifier());
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

int compile_kernel(const bessemer_kernel_request_t* request, bessemer_bytes_t* out,
                   bessemer_bytes_t* diagnostics) {
  clear(out, diagnostics);
  air::StageClock clock;
  llvm::LLVMContext context;
  llvm::StringRef bitcode(reinterpret_cast<const char*>(request->bitcode), request->bitcode_size);
  auto module = air::parse_function(llvm::MemoryBufferRef(bitcode, request->function),
                                    request->function, context);
  if (!module)
    return fail(diagnostics, module.takeError());
  std::vector<air::ConstantValue> constants;
  for (uint32_t i = 0; i < request->constant_count; ++i) {
    const bessemer_constant_t& constant = request->constants[i];
    constants.push_back(
        {constant.index,
         constant.type,
         {static_cast<const uint8_t*>(constant.value), air::data_type_size(constant.type)}});
  }
  if (llvm::Error error = air::specialise(**module, constants))
    return fail(diagnostics, std::move(error));
  air::simplify(**module);
  if (request->output == BESSEMER_OUTPUT_AIR) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    (*module)->print(stream, nullptr);
    give(out, std::move(text));
    return 0;
  }
  metal::cpu::KernelOptions options;
  options.function = request->function;
  options.threads = {request->threads[0], request->threads[1], request->threads[2]};
  options.distinct_buffers = request->distinct_buffers;
  options.triple = request->triple ? request->triple : "";
  options.cpu = request->cpu ? request->cpu : "";
  options.features = request->features ? request->features : "";
  options.output = request->output == BESSEMER_OUTPUT_ASSEMBLY ? metal::cpu::KernelOutput::Assembly
                   : request->output == BESSEMER_OUTPUT_VECTOR_IR
                       ? metal::cpu::KernelOutput::VectorIr
                   : request->output == BESSEMER_OUTPUT_SUMMARY ? metal::cpu::KernelOutput::Summary
                                                                : metal::cpu::KernelOutput::Object;
  clock.stage("read");
  bool flush_denormals = air::has_compile_option(**module, "air.compile.denorms_disable");
  auto compiled = metal::cpu::compile_kernel(std::move(*module), options);
  if (!compiled)
    return fail(diagnostics, compiled.takeError());
  std::vector<air::StageTime> first = clock.take();
  compiled->stages.insert(compiled->stages.begin(), first.begin(), first.end());
  if (request->output == BESSEMER_OUTPUT_KERNEL || request->output == BESSEMER_OUTPUT_SUMMARY)
    give(out, pack(*compiled, options.threads, flush_denormals));
  else
    give(out, std::string(compiled->bytes.begin(), compiled->bytes.end()));
  return 0;
}

} // namespace

} // namespace bessemer::compiler

extern "C" __attribute__((visibility("default"))) const bessemer_compiler_t*
bessemer_compiler_get(uint32_t abi) {
  using namespace bessemer::compiler;
  static const bessemer_compiler_t compiler = {
      .abi = BESSEMER_COMPILER_ABI,
      .build_id = build_id(),
      .release = release,
      .compile_source = compile_source,
      .load_metallib = load_metallib,
      .write_metallib = write_metallib,
      .compile_kernel = compile_kernel,
  };
  return abi == BESSEMER_COMPILER_ABI ? &compiler : nullptr;
}
