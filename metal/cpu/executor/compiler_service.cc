#include "metal/cpu/executor/compiler_service.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

#include "metal/compiler/kernel_abi.h"
#include "metal/cpu/executor/compile_threads.h"
#include "metal/cpu/executor/compiler_library.h"
#include "metal/cpu/executor/debugger_entry.h"
#include "metal/cpu/executor/disk_cache.h"
#include "metal/cpu/executor/processor_count.h"
#include "metal/cpu/executor/processor_identity.h"

namespace bessemer::metal::cpu {

namespace {

constexpr const char* kLibraryIdentifier = "BSML";
constexpr const char* kKernelIdentifier = "BSMK";
constexpr uint64_t kDefaultCacheMebibytes = 1024;
constexpr unsigned kMostCompileThreads = 8;

// Gives the compiler's bytes back.
class CompilerBytes {
public:
  explicit CompilerBytes(const bessemer_compiler_t* compiler) : compiler_(compiler) {}
  ~CompilerBytes() { compiler_->release(&bytes_); }
  CompilerBytes(const CompilerBytes&) = delete;
  CompilerBytes& operator=(const CompilerBytes&) = delete;

  bessemer_bytes_t* out() { return &bytes_; }
  std::vector<uint8_t> copy() const {
    return bytes_.data ? std::vector<uint8_t>(bytes_.data, bytes_.data + bytes_.size)
                       : std::vector<uint8_t>{};
  }
  std::string text() const {
    return bytes_.data ? std::string(reinterpret_cast<const char*>(bytes_.data), bytes_.size)
                       : std::string{};
  }

private:
  const bessemer_compiler_t* compiler_;
  bessemer_bytes_t bytes_ = {};
};

std::string default_directory(const CompilerService::Options& options) {
  const char* variable = std::getenv("BESSEMER_CACHE");
  if (!options.use_cache || (variable && std::strcmp(variable, "0") == 0))
    return {};
  return options.cache_directory.empty() ? default_cache_directory() : options.cache_directory;
}

uint64_t cache_limit(const CompilerService::Options& options) {
  if (options.cache_limit_bytes != 0)
    return options.cache_limit_bytes;
  const char* variable = std::getenv("BESSEMER_CACHE_MIB");
  const unsigned long long mebibytes = variable ? std::strtoull(variable, nullptr, 10) : 0;
  return (mebibytes ? mebibytes : kDefaultCacheMebibytes) << 20;
}

} // namespace

class CompilerService::Implementation {
public:
  explicit Implementation(const Options& options)
      : directory(default_directory(options)), cache(directory, cache_limit(options)),
        library(options.compiler ? CompilerLibrary(options.compiler)
                                 : CompilerLibrary(options.compiler_path, directory)),
        threads(options.threads ? options.threads
                                : std::min(available_processors(), kMostCompileThreads)) {}

  // Looks in the cache, else calls `compile(compiler, out, diagnostics)` and stores what it gives.
  template <typename Root, typename Compile>
  Expected<Verified<Root>> get(const char* kind, const char* identifier, Sha256 key,
                               std::string_view what, Compile&& compile);

  // Everything but the request that decides what the compiler gives.
  Expected<Sha256> start_key(std::string_view kind) {
    Expected<std::string> build_id = library.build_id();
    if (!build_id)
      return std::unexpected(std::move(build_id.error()));
    Sha256 key;
    key.add_field(kind).add_number(BESSEMER_COMPILER_ABI).add_number(BESSEMER_KERNEL_ABI);
    key.add_field(*build_id);
    return key;
  }

  Expected<const bessemer_compiler_t*> open() {
    Expected<const bessemer_compiler_t*> compiler = library.open();
    // LLVM's own static objects go when the process ends. Exit handlers run in reverse order, so
    // this one, registered after the library was opened, ends compiling before they go.
    if (compiler && shared)
      std::call_once(exit_handler_once_, stop_at_exit);
    return compiler;
  }

  static void stop_at_exit() {
    std::atexit([] { CompilerService::shared().stop_compiling(); });
  }

  const std::string directory; // empty: no cache
  DiskCache cache;
  CompilerLibrary library;
  CompileThreads threads;
  bool shared = false; // the process-wide one

private:
  std::once_flag exit_handler_once_;
};

template <typename Root, typename Compile>
Expected<Verified<Root>>
CompilerService::Implementation::get(const char* kind, const char* identifier, Sha256 key,
                                     std::string_view what, Compile&& compile) {
  const Digest digest = key.finish();
  if (std::optional<std::vector<uint8_t>> bytes = cache.load(kind, digest)) {
    Expected<Verified<Root>> table = Verified<Root>::create(std::move(*bytes), identifier, what);
    if (table)
      return table; // one that does not verify is compiled again, and written over
  }
  Expected<const bessemer_compiler_t*> compiler = open();
  if (!compiler)
    return std::unexpected(std::move(compiler.error()));
  CompilerBytes out(*compiler), diagnostics(*compiler);
  if (compile(**compiler, out.out(), diagnostics.out()) != 0) {
    std::string text = diagnostics.text();
    return failure(text.empty() ? std::string(what) + ": the compiler gave no reason"
                                : std::move(text));
  }
  Expected<Verified<Root>> table = Verified<Root>::create(out.copy(), identifier, what);
  if (table)
    cache.store(kind, digest, table->bytes());
  return table;
}

CompilerService& CompilerService::shared() {
  // Never destroyed: compile threads may run until the process ends.
  static CompilerService* service = [] {
    auto* service = new CompilerService(Options{});
    service->implementation_->shared = true;
    // A library that is opened while the process ends already has its objects destroyed as soon as
    // no other handler is left: this one waits for what compiles.
    Implementation::stop_at_exit();
    return service;
  }();
  return *service;
}

CompilerService::CompilerService(Options options)
    : implementation_(std::make_unique<Implementation>(options)) {}
CompilerService::~CompilerService() = default;

void CompilerService::stop_compiling() { implementation_->threads.stop(); }

void CompilerService::run_on_compile_thread(std::function<void()> work) {
  implementation_->threads.run(std::move(work));
}

Expected<LibraryTable> CompilerService::compile_source(std::string_view source,
                                                       const SourceOptions& options) {
  Expected<Sha256> key = implementation_->start_key("source");
  if (!key)
    return std::unexpected(std::move(key.error()));
  key->add_field(source).add_number(options.language_version).add_number(options.math_mode);
  key->add_number(options.preserve_invariance).add_number(options.macros.size());
  std::vector<bessemer_macro_t> macros;
  for (const auto& [name, value] : options.macros) {
    key->add_field(name).add_field(value);
    macros.push_back({name.c_str(), value.c_str()});
  }
  std::string debug_path;
  if (line_tables_wanted()) {
    // Where gdb and perf find the text, as long as the cache keeps it.
    debug_path =
        implementation_->cache.store_text("source", Sha256().add_field(source).finish(), source);
    if (debug_path.empty())
      debug_path = "program_source";
    key->add_field(debug_path);
  }
  const bessemer_source_options_t source_options = {
      .language_version = options.language_version,
      .math_mode = options.math_mode,
      .preserve_invariance = options.preserve_invariance,
      .macro_count = static_cast<uint32_t>(macros.size()),
      .macros = macros.data(),
      .debug_path = debug_path.empty() ? nullptr : debug_path.c_str(),
  };
  return implementation_->get<metal::Library>(
      "library", kLibraryIdentifier, *key, "compiled source",
      [&](const bessemer_compiler_t& compiler, bessemer_bytes_t* out, bessemer_bytes_t* text) {
        return compiler.compile_source(source.data(), source.size(), &source_options, out, text);
      });
}

Expected<LibraryTable> CompilerService::load_metallib(std::span<const uint8_t> bytes) {
  Expected<Sha256> key = implementation_->start_key("metallib");
  if (!key)
    return std::unexpected(std::move(key.error()));
  key->add_field(bytes);
  return implementation_->get<metal::Library>(
      "library", kLibraryIdentifier, *key, "metallib",
      [&](const bessemer_compiler_t& compiler, bessemer_bytes_t* out, bessemer_bytes_t* text) {
        return compiler.load_metallib(bytes.data(), bytes.size(), out, text);
      });
}

Expected<std::vector<uint8_t>> CompilerService::write_metallib(const LibraryTable& library) {
  Expected<const bessemer_compiler_t*> compiler = implementation_->open();
  if (!compiler)
    return std::unexpected(std::move(compiler.error()));
  CompilerBytes out(*compiler), diagnostics(*compiler);
  if ((*compiler)->write_metallib(library.bytes().data(), library.bytes().size(), out.out(),
                                  diagnostics.out()) != 0)
    return failure(diagnostics.text());
  return out.copy();
}

// BESSEMER_CPU: code for a lesser processor than this one, by LLVM's name for it ("x86-64-v3"), for
// tests and comparisons. Null: for this one.
static const char* processor_override() {
  const char* name = std::getenv("BESSEMER_CPU");
  return name && *name ? name : nullptr;
}

// The C form of a request; lives as long as what the request refers to.
class CompilerRequest {
public:
  CompilerRequest(const KernelRequest& request, bessemer_output_t output)
      : function_(request.function) {
    for (const ConstantValue& constant : request.constants)
      constants_.push_back({constant.index, constant.type, constant.value.data()});
    request_ = {
        .bitcode = request.bitcode.data(),
        .bitcode_size = request.bitcode.size(),
        .function = function_.c_str(),
        .constant_count = static_cast<uint32_t>(constants_.size()),
        .constants = constants_.data(),
        .threads = {request.threads.x, request.threads.y, request.threads.z},
        .distinct_buffers = request.distinct_buffers,
        .triple = nullptr,
        .cpu = processor_override(),
        .features = nullptr,
        .output = output,
    };
  }
  const bessemer_kernel_request_t* get() const { return &request_; }

private:
  std::string function_;
  std::vector<bessemer_constant_t> constants_;
  bessemer_kernel_request_t request_;
};

Expected<KernelTable> CompilerService::compile_kernel(const KernelRequest& request) {
  return kernel(request, BESSEMER_OUTPUT_KERNEL);
}

Expected<KernelTable> CompilerService::summarise_kernel(const KernelRequest& request) {
  return kernel(request, BESSEMER_OUTPUT_SUMMARY);
}

Expected<KernelTable> CompilerService::kernel(const KernelRequest& request,
                                              bessemer_output_t output) {
  const bool whole = output == BESSEMER_OUTPUT_KERNEL;
  Expected<Sha256> key = implementation_->start_key(whole ? "kernel" : "kernel summary");
  if (!key)
    return std::unexpected(std::move(key.error()));
  static const std::string processor = processor_identity();
  const char* cpu = processor_override();
  key->add_field(processor)
      .add_field(cpu ? cpu : "")
      .add_field(request.bitcode)
      .add_field(request.function);
  key->add_number(request.threads.x).add_number(request.threads.y).add_number(request.threads.z);
  key->add_number(request.distinct_buffers).add_number(request.constants.size());
  // The order in which a client set them does not matter.
  std::vector<const ConstantValue*> constants;
  for (const ConstantValue& constant : request.constants)
    constants.push_back(&constant);
  std::ranges::sort(constants, {}, [](const ConstantValue* constant) {
    return std::pair(constant->index, constant->type);
  });
  for (const ConstantValue* constant : constants)
    key->add_number(constant->index).add_number(constant->type).add_field(constant->value);
  const CompilerRequest c_request(request, output);
  return implementation_->get<metal::Kernel>(
      "kernel", kKernelIdentifier, *key, "compiled kernel",
      [&](const bessemer_compiler_t& compiler, bessemer_bytes_t* out, bessemer_bytes_t* text) {
        return compiler.compile_kernel(c_request.get(), out, text);
      });
}

Expected<std::string> CompilerService::kernel_text(const KernelRequest& request,
                                                   bessemer_output_t output) {
  Expected<const bessemer_compiler_t*> compiler = implementation_->open();
  if (!compiler)
    return std::unexpected(std::move(compiler.error()));
  const CompilerRequest c_request(request, output);
  CompilerBytes out(*compiler), diagnostics(*compiler);
  if ((*compiler)->compile_kernel(c_request.get(), out.out(), diagnostics.out()) != 0)
    return failure(diagnostics.text());
  return out.text();
}

} // namespace bessemer::metal::cpu
