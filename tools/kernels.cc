#include "tools/kernels.h"

#include <dlfcn.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "tools/module_report.h"

// Of libMetal.so: tells where that library, and beside it the compiler, is.
extern "C" void* MTLCreateSystemDefaultDevice(void);

namespace bessemer::tools {

using metal::cpu::CompilerService;
using metal::cpu::KernelRequest;
using metal::cpu::Size3;
using nlohmann::ordered_json;
using vm::concat;
using vm::fail;
using vm::Result;
using vm::StatusCode;

namespace {

constexpr const char* kArgumentKinds[] = {"buffer",  "argument buffer", "threadgroup",
                                          "texture", "sampler",         "builtin"};
constexpr const char* kAccesses[] = {"read", "read-write", "write"};
constexpr const char* kFunctionKinds[] = {"vertex", "fragment", "kernel"};

template <size_t N, class Enum>
const char* nameOf(const char* const (&names)[N], Enum value) {
  return static_cast<size_t>(value) < N ? names[static_cast<size_t>(value)] : "unknown";
}

std::string_view view(const flatbuffers::String* string) {
  return string ? std::string_view(string->data(), string->size()) : std::string_view();
}

// Tables may leave vectors out.
template <class T>
std::vector<const T*> all(const flatbuffers::Vector<flatbuffers::Offset<T>>* vector) {
  return vector ? std::vector<const T*>(vector->begin(), vector->end()) : std::vector<const T*>();
}

std::string dataTypeName(uint32_t type) {
  switch (type) {
  case 3:
    return "float";
  case 16:
    return "half";
  case 29:
    return "int";
  case 33:
    return "uint";
  case 37:
    return "short";
  case 41:
    return "ushort";
  case 45:
    return "char";
  case 49:
    return "uchar";
  case 53:
    return "bool";
  case 81:
    return "long";
  case 85:
    return "ulong";
  case 121:
    return "bfloat";
  default:
    return concat("MTLDataType ", type);
  }
}

Result<std::string> readFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return fail(StatusCode::NotFound, "cannot open '", path, "': ", std::strerror(errno));
  std::string bytes(std::istreambuf_iterator<char>(stream), {});
  if (stream.bad())
    return fail(StatusCode::DataLoss, "cannot read '", path, "'");
  return bytes;
}

template <class T>
Result<T> take(metal::cpu::Expected<T> value, std::string_view context) {
  if (!value)
    return fail(StatusCode::InvalidArgument, context, ": ", value.error().message);
  return *std::move(value);
}

KernelLibrary withEveryKernel(std::string origin, metal::cpu::LibraryTable table) {
  KernelLibrary library{std::move(origin), std::move(table), {}};
  for (const metal::Function* function : all(library.table->functions()))
    if (function->kind() == metal::FunctionKind::Kernel)
      library.kernels.push_back({std::string(view(function->name())), {}});
  return library;
}

const metal::Function* findFunction(const KernelLibrary& library, std::string_view name) {
  for (const metal::Function* function : all(library.table->functions()))
    if (view(function->name()) == name)
      return function;
  return nullptr;
}

struct Selected {
  const KernelLibrary* library;
  std::string name;
  Size3 threads;
  std::span<const uint8_t> bitcode;
};

Result<std::vector<Selected>> select(std::span<const KernelLibrary> libraries,
                                     const KernelSelection& selection) {
  std::vector<Selected> result;
  std::string names;
  for (const KernelLibrary& library : libraries) {
    for (const auto& kernel : library.kernels) {
      names += (names.empty() ? "" : ", ") + kernel.function;
      if (!selection.name.empty() && kernel.function != selection.name)
        continue;
      const metal::Function* function = findFunction(library, kernel.function);
      const auto modules = all(library.table->modules());
      if (!function || function->module_() >= modules.size())
        return fail(StatusCode::NotFound, library.origin, " has no function ", kernel.function);
      const auto* bitcode = modules[function->module_()]->bitcode();
      result.push_back({&library,
                        kernel.function,
                        selection.threads.volume() ? selection.threads : kernel.threads,
                        {bitcode->data(), bitcode->size()}});
    }
  }
  if (result.empty())
    return names.empty() ? fail(StatusCode::NotFound, "the file has no kernel")
                         : fail(StatusCode::NotFound, "there is no kernel ", selection.name,
                                "; the file has: ", names);
  return result;
}

std::string heading(const Selected& kernel) {
  std::string text = concat(kernel.name, " of ", kernel.library->origin);
  if (kernel.threads.volume())
    text +=
        concat(", threadgroup ", kernel.threads.x, "x", kernel.threads.y, "x", kernel.threads.z);
  return text;
}

} // namespace

std::unique_ptr<CompilerService> openCompiler(bool fresh) {
  CompilerService::Options options;
  options.use_cache = !fresh;
  if (const char* path = std::getenv("BESSEMER_COMPILER"); path && *path) {
    options.compiler_path = path;
  } else if (Dl_info info; dladdr(reinterpret_cast<void*>(&MTLCreateSystemDefaultDevice), &info)) {
    std::string metal = info.dli_fname;
    const size_t slash = metal.rfind('/');
    options.compiler_path =
        (slash == metal.npos ? std::string() : metal.substr(0, slash + 1)) + "libMetalCompiler.so";
  }
  return std::make_unique<CompilerService>(std::move(options));
}

Result<std::vector<KernelLibrary>> readKernelLibraries(CompilerService& compiler,
                                                       const std::string& path) {
  std::vector<KernelLibrary> libraries;
  BESSEMER_ASSIGN_OR_RETURN(const std::string bytes, readFile(path));
  auto span = [](std::string_view text) {
    return std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  };
  if (isMetallib(bytes)) {
    BESSEMER_ASSIGN_OR_RETURN(auto table, take(compiler.load_metallib(span(bytes)), path));
    libraries.push_back(withEveryKernel(path, std::move(table)));
    return libraries;
  }
  if (path.ends_with(".metal")) {
    BESSEMER_ASSIGN_OR_RETURN(auto table, take(compiler.compile_source(bytes, {}), path));
    libraries.push_back(withEveryKernel(path, std::move(table)));
    return libraries;
  }
  BESSEMER_ASSIGN_OR_RETURN(ModuleReport report, ModuleReport::read(path));
  for (const Executable& executable : report.executables()) {
    std::string origin = concat("executable #", executable.rodata);
    for (size_t i = 0; i < executable.source.libraries.size(); ++i) {
      const auto& source = executable.source.libraries[i];
      metal::cpu::SourceOptions options;
      options.language_version = source.language_version;
      BESSEMER_ASSIGN_OR_RETURN(
          auto table, take(source.is_metallib ? compiler.load_metallib(span(source.contents))
                                              : compiler.compile_source(source.contents, options),
                           origin));
      KernelLibrary library{origin, std::move(table), {}};
      for (const auto& function : executable.source.functions) {
        const auto& size = function.threadgroup_size;
        if (function.library_ordinal == i)
          library.kernels.push_back(
              {std::string(function.entry_point), {size[0], size[1], size[2]}});
      }
      libraries.push_back(std::move(library));
    }
  }
  return libraries;
}

std::string libraryText(const KernelLibrary& library) {
  const auto functions = all(library.table->functions());
  std::string out = concat(library.origin, ": ", functions.size(),
                           functions.size() == 1 ? " function\n" : " functions\n");
  for (const metal::Function* function : functions) {
    out += concat("\n", nameOf(kFunctionKinds, function->kind()), " ", view(function->name()));
    if (function->max_threads_per_threadgroup())
      out += concat(", at most ", function->max_threads_per_threadgroup(), " threads");
    out += "\n";
    for (const metal::Argument* argument : all(function->arguments())) {
      out += concat("  ", nameOf(kArgumentKinds, argument->kind()));
      if (argument->kind() != metal::ArgumentKind::Builtin)
        out += concat("(", argument->index(), ")");
      out += concat(" ", view(argument->type_name()), " ", view(argument->name()));
      if (argument->kind() == metal::ArgumentKind::Buffer ||
          argument->kind() == metal::ArgumentKind::ArgumentBuffer)
        out += concat(", ", argument->size(), " bytes, ", nameOf(kAccesses, argument->access()));
      if (!argument->used())
        out += ", unused";
      out += "\n";
      if (argument->kind() == metal::ArgumentKind::ArgumentBuffer)
        for (const metal::StructMember* member : all(argument->members()))
          out += concat("    id(", member->argument_index(), ") ", view(member->type_name()), " ",
                        view(member->name()), ", at ", member->offset(), "\n");
    }
    for (const metal::FunctionConstant* constant : all(function->constants()))
      out += concat("  constant(", constant->index(), ") ", dataTypeName(constant->type()), " ",
                    view(constant->name()), constant->required() ? ", required\n" : "\n");
  }
  if (!view(library.table->warnings()).empty())
    out += concat("\n", view(library.table->warnings()), "\n");
  return out;
}

std::string libraryJson(const KernelLibrary& library) {
  ordered_json root;
  root["file"] = library.origin;
  auto& functions = root["functions"] = ordered_json::array();
  for (const metal::Function* function : all(library.table->functions())) {
    ordered_json entry = {{"name", view(function->name())},
                          {"kind", nameOf(kFunctionKinds, function->kind())},
                          {"max_threads", function->max_threads_per_threadgroup()}};
    auto& arguments = entry["arguments"] = ordered_json::array();
    for (const metal::Argument* argument : all(function->arguments())) {
      ordered_json item = {
          {"name", view(argument->name())}, {"kind", nameOf(kArgumentKinds, argument->kind())},
          {"index", argument->index()},     {"type", view(argument->type_name())},
          {"bytes", argument->size()},      {"access", nameOf(kAccesses, argument->access())},
          {"used", argument->used()}};
      auto& members = item["members"] = ordered_json::array();
      for (const metal::StructMember* member : all(argument->members()))
        members.push_back({{"name", view(member->name())},
                           {"type", view(member->type_name())},
                           {"offset", member->offset()},
                           {"id", member->argument_index()}});
      arguments.push_back(std::move(item));
    }
    auto& constants = entry["constants"] = ordered_json::array();
    for (const metal::FunctionConstant* constant : all(function->constants()))
      constants.push_back({{"name", view(constant->name())},
                           {"index", constant->index()},
                           {"type", dataTypeName(constant->type())},
                           {"required", constant->required()}});
    functions.push_back(std::move(entry));
  }
  return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Result<std::string> kernelTexts(CompilerService& compiler, std::span<const KernelLibrary> libraries,
                                const KernelSelection& selection, bessemer_output_t output) {
  BESSEMER_ASSIGN_OR_RETURN(const auto kernels, select(libraries, selection));
  // A semicolon begins a comment in LLVM's text, a number sign in x86 assembly.
  const char* comment = output == BESSEMER_OUTPUT_ASSEMBLY ? "# " : "; ";
  std::string out;
  for (const Selected& kernel : kernels) {
    KernelRequest request;
    request.bitcode = kernel.bitcode;
    request.function = kernel.name;
    request.threads = kernel.threads;
    BESSEMER_ASSIGN_OR_RETURN(std::string text,
                              take(compiler.kernel_text(request, output), heading(kernel)));
    out += concat(comment, heading(kernel), "\n", text, "\n");
  }
  return out;
}

Result<std::string> kernelTimes(CompilerService& compiler, std::span<const KernelLibrary> libraries,
                                const KernelSelection& selection, size_t* failures) {
  BESSEMER_ASSIGN_OR_RETURN(const auto kernels, select(libraries, selection));
  *failures = 0;
  std::string out;
  double total = 0;
  for (const Selected& kernel : kernels) {
    KernelRequest request;
    request.bitcode = kernel.bitcode;
    request.function = kernel.name;
    request.threads = kernel.threads;
    const auto begin = std::chrono::steady_clock::now();
    auto compiled = compiler.compile_kernel(request);
    const double whole =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    total += whole;
    char text[64];
    std::snprintf(text, sizeof(text), "%9.2f ms  ", whole);
    out += concat(text, heading(kernel));
    if (!compiled) {
      ++*failures;
      out += concat(": FAILED: ", compiled.error().message, "\n");
      continue;
    }
    const metal::Kernel& code = **compiled;
    out += concat(", ", code.lanes(), " lanes, ", code.object()->size(), " bytes\n");
    for (const metal::StageTime* stage : all(code.stages())) {
      std::snprintf(text, sizeof(text), "    %9.2f  ",
                    static_cast<double>(stage->nanoseconds()) / 1e6);
      out += concat(text, view(stage->stage()), "\n");
    }
  }
  char text[64];
  std::snprintf(text, sizeof(text), "%9.2f ms  ", total);
  out += concat(text, "in all, ", kernels.size(), kernels.size() == 1 ? " kernel\n" : " kernels\n");
  return out;
}

} // namespace bessemer::tools
