#include "tools/module_report.h"

#include <cstring>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "modules/hal/status.h"
#include "modules/hal/types.h"

namespace bessemer::tools {

using nlohmann::ordered_json;
using vm::concat;
using vm::Result;

namespace {

// The format that the first bytes of a constant belong to, or empty for plain data.
std::string_view executableFormat(std::span<const std::byte> bytes) {
  static constexpr std::pair<std::string_view, std::string_view> kMagics[] = {
      {"MTL1", "metal-msl-fb"},
      {"SPV1", "vulkan-spirv-fb"},
      {"CDA1", "cuda-nvptx-fb"},
      {"\x7f"
       "ELF",
       "embedded-elf"}};
  for (const auto& [magic, format] : kMagics)
    if (bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0)
      return format;
  return {};
}

// "(ref, i64) -> (ref)" from a calling convention.
std::string signatureText(const vm::Signature& signature) {
  std::string text = "(";
  for (const auto& item : signature.arguments) {
    if (text.size() > 1)
      text += ", ";
    if (!item.isSpan()) {
      text += vm::valueTypeName(item.type);
      continue;
    }
    std::string tuple;
    for (vm::ValueType type : item.tuple)
      tuple += concat(tuple.empty() ? "" : ", ", vm::valueTypeName(type));
    text += item.tuple.size() == 1 ? tuple + "..." : "(" + tuple + ")...";
  }
  text += ") -> (";
  for (size_t i = 0; i < signature.results.size(); ++i)
    text += concat(i ? ", " : "", vm::valueTypeName(signature.results[i]));
  return text + ")";
}

std::string languageVersion(uint32_t version) {
  return concat(version >> 16, ".", version & 0xFFFF);
}

std::string sizeText(const uint32_t (&size)[3]) {
  return concat(size[0], "x", size[1], "x", size[2]);
}

std::string plural(size_t count, std::string_view noun) {
  return concat(count, " ", noun, count == 1 ? "" : "s");
}

} // namespace

Result<ModuleReport> ModuleReport::read(const std::string& path) {
  ModuleReport report;
  report.path_ = path;
  report.instance_ = std::make_unique<vm::Instance>();
  BESSEMER_RETURN_IF_ERROR(modules::registerHalTypes(*report.instance_));
  BESSEMER_ASSIGN_OR_RETURN(report.module_, vm::BytecodeModule::loadFile(
                                                *report.instance_, path,
                                                {.origin = path == "-" ? "standard input" : path}));
  for (size_t i = 0; i < report.module_->rodataCount(); ++i) {
    const auto bytes = report.module_->rodata(i);
    const std::string_view format = executableFormat(bytes);
    if (format.empty())
      continue;
    Executable executable{i, std::string(format), bytes.size(), {}};
    if (format == "metal-msl-fb") {
      auto read = modules::fromStatus(metal_driver::ReadExecutable(
          iree_make_const_byte_span(bytes.data(), bytes.size()), &executable.source));
      if (!read)
        return std::unexpected(
            std::move(read.error()).prefix(concat(path, ": executable in constant ", i)));
    }
    report.executables_.push_back(std::move(executable));
  }
  return report;
}

std::string ModuleReport::text() const {
  std::string out = concat(path_, ": module ", module_->name(), ", version ", module_->version());
  std::error_code ignored;
  if (auto size = std::filesystem::file_size(path_, ignored); !ignored)
    out += concat(", ", size, " bytes");
  out += "\n";
  for (const vm::Attribute& attribute : module_->attributes())
    out += concat("  ", attribute.key, " = ", attribute.value, "\n");
  for (const vm::Dependency& dependency : module_->dependencies())
    out += concat("  ", dependency.optional ? "may use " : "needs ", dependency.name,
                  " of version ", dependency.minimum_version, " or newer\n");

  out += "\nExports:\n";
  for (const vm::Export& exported : module_->exports()) {
    out += concat("  ", exported.name, signatureText(*exported.signature), "\n");
    for (const vm::Attribute& attribute : exported.attributes)
      out += concat("    ", attribute.key, " = ", attribute.value, "\n");
  }
  out += "\nImports:\n";
  for (const vm::Import& import : module_->imports())
    out += concat("  ", import.full_name, signatureText(*import.signature),
                  import.optional ? "  (optional)" : "", "\n");

  std::vector<std::string> kinds(module_->rodataCount(), "data");
  for (const Executable& executable : executables_)
    kinds[executable.rodata] = "executable";
  uint64_t total = 0;
  for (size_t i = 0; i < module_->rodataCount(); ++i)
    total += module_->rodata(i).size();
  out += concat("\nConstants: ", plural(module_->rodataCount(), "segment"), ", ",
                plural(total, "byte"), "\n");
  for (size_t i = 0; i < module_->rodataCount(); ++i)
    out += concat("  #", i, "  ", plural(module_->rodata(i).size(), "byte"), ", ", kinds[i], "\n");

  out += concat("\nExecutables: ", executables_.size(), "\n");
  for (const Executable& executable : executables_) {
    out += concat("  #", executable.rodata, "  ", executable.format, ", ",
                  plural(executable.bytes, "byte"), "\n");
    for (const auto& library : executable.source.libraries) {
      out += library.is_metallib
                 ? concat("    metallib, ", plural(library.contents.size(), "byte"), "\n")
                 : concat("    MSL ", languageVersion(library.language_version), ", ",
                          plural(library.contents.size(), "byte"), "\n");
    }
    for (const auto& function : executable.source.functions) {
      out += concat("    ", function.name, ": threadgroup ", sizeText(function.threadgroup_size),
                    ", ", plural(function.binding_count, "binding"), ", ",
                    plural(function.constant_count, "constant"));
      if (function.entry_point != function.name)
        out += concat(" (MSL: ", function.entry_point, ")");
      out += "\n";
    }
  }
  return out;
}

std::string ModuleReport::json() const {
  auto attributes = [](std::span<const vm::Attribute> list) {
    ordered_json object = ordered_json::object();
    for (const vm::Attribute& attribute : list)
      object[std::string(attribute.key)] = attribute.value;
    return object;
  };
  ordered_json root;
  root["file"] = path_;
  root["module"] = module_->name();
  root["version"] = module_->version();
  root["attributes"] = attributes(module_->attributes());
  auto& dependencies = root["dependencies"] = ordered_json::array();
  for (const vm::Dependency& dependency : module_->dependencies())
    dependencies.push_back({{"module", dependency.name},
                            {"minimum_version", dependency.minimum_version},
                            {"optional", dependency.optional}});
  auto& exports = root["exports"] = ordered_json::array();
  for (const vm::Export& exported : module_->exports())
    exports.push_back({{"name", exported.name},
                       {"calling_convention", exported.signature->text},
                       {"attributes", attributes(exported.attributes)}});
  auto& imports = root["imports"] = ordered_json::array();
  for (const vm::Import& import : module_->imports())
    imports.push_back({{"name", import.full_name},
                       {"calling_convention", import.signature->text},
                       {"optional", import.optional}});
  auto& constants = root["constants"] = ordered_json::array();
  for (size_t i = 0; i < module_->rodataCount(); ++i)
    constants.push_back({{"bytes", module_->rodata(i).size()}});
  auto& executables = root["executables"] = ordered_json::array();
  for (const Executable& executable : executables_) {
    ordered_json entry = {{"constant", executable.rodata},
                          {"format", executable.format},
                          {"bytes", executable.bytes}};
    auto& libraries = entry["libraries"] = ordered_json::array();
    for (const auto& library : executable.source.libraries) {
      ordered_json item = {{"kind", library.is_metallib ? "metallib" : "msl"},
                           {"bytes", library.contents.size()}};
      if (!library.is_metallib)
        item["language_version"] = languageVersion(library.language_version);
      libraries.push_back(std::move(item));
    }
    auto& functions = entry["functions"] = ordered_json::array();
    for (const auto& function : executable.source.functions)
      functions.push_back({{"name", function.name},
                           {"entry_point", function.entry_point},
                           {"library", function.library_ordinal},
                           {"threadgroup_size", function.threadgroup_size},
                           {"bindings", function.binding_count},
                           {"constants", function.constant_count}});
    executables.push_back(std::move(entry));
  }
  // Names in a file need not be UTF-8.
  return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string ModuleReport::msl() const {
  std::string out;
  for (const Executable& executable : executables_) {
    for (size_t i = 0; i < executable.source.libraries.size(); ++i) {
      const auto& library = executable.source.libraries[i];
      out += concat("// executable #", executable.rodata, ":");
      for (const auto& function : executable.source.functions)
        if (function.library_ordinal == i)
          out += concat(" ", function.name);
      if (library.is_metallib)
        out += concat(" is a metallib of ", library.contents.size(), " bytes\n");
      else
        out += concat("\n", library.contents, library.contents.ends_with('\n') ? "\n" : "\n\n");
    }
  }
  return out;
}

Result<std::string> ModuleReport::disassembly(const std::string& function) const {
  std::string out;
  for (size_t i = 0; i < module_->functionCount(); ++i) {
    if (!function.empty() && function != module_->functionName(i) && function != std::to_string(i))
      continue;
    BESSEMER_ASSIGN_OR_RETURN(std::string text, module_->disassemble(i));
    out += text;
    if (!text.ends_with('\n'))
      out += '\n';
    out += '\n';
  }
  if (out.empty() && !function.empty())
    return vm::fail(vm::StatusCode::NotFound, "there is no function ", function, " in ", path_,
                    "; --disassemble shows all");
  return out;
}

} // namespace bessemer::tools
