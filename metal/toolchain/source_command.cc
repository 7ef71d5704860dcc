#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "metal/air/module.h"
#include "metal/toolchain/arguments.h"
#include "metal/toolchain/commands.h"
#include "metal/toolchain/files.h"
#include "metal/toolchain/linking.h"

namespace bessemer::toolchain {

namespace {

using Action = SourceArguments::Action;

constexpr char kName[] = "metal";

constexpr char kHelp[] =
    "Usage: metal [FLAG...] FILE.metal... [-o FILE]\n"
    "Compiles Metal Shading Language: to a library (FILE.metallib), or with -c to AIR (FILE.air), "
    "which\n"
    "metallib links, with -S to AIR as text, with -E to preprocessed source. '-' is the standard "
    "stream.\n"
    "\n"
    "  -D NAME[=VALUE]  -U NAME  -I FOLDER  -isystem FOLDER  -include FILE\n"
    "  -std=metal3.1    -ffast-math  -fno-fast-math  -fmetal-math-mode=fast|relaxed|safe\n"
    "  -MD  -MMD  -MP  -MF FILE  -MT TARGET  -MQ TARGET  -M  -MM  -H  -P  -C  -CC\n"
    "  -w  -Werror  -fsyntax-only  -x metal\n"
    "\n"
    "Flags that only concern Apple's own targets are taken and say nothing.\n";

std::string with_extension(llvm::StringRef path, llvm::StringRef extension) {
  llvm::SmallString<128> name(path == "-" ? "default" : llvm::sys::path::filename(path));
  llvm::sys::path::replace_extension(name, extension);
  return name.str().str();
}

// A file name in a rule.
std::string escaped(llvm::StringRef name) {
  std::string text;
  for (char c : name) {
    if (c == '$')
      text += '$';
    else if (c == ' ' || c == '#')
      text += '\\';
    text += c;
  }
  return text;
}

std::string dependency_rules(const SourceArguments& arguments, const std::string& input,
                             const std::string& output, const std::vector<msl::Include>& includes) {
  const auto& wanted = arguments.dependencies;
  std::string text = wanted.targets.empty() ? escaped(output) : llvm::join(wanted.targets, " ");
  text += ":";
  std::vector<std::string> files = {input};
  for (const msl::Include& include : includes)
    if (!llvm::is_contained(files, include.path))
      files.push_back(include.path);
  for (const std::string& file : files)
    text += " \\\n  " + escaped(file);
  text += "\n";
  if (wanted.phony)
    for (size_t i = 1; i < files.size(); ++i)
      text += "\n" + escaped(files[i]) + ":\n";
  return text;
}

llvm::Error write_dependencies(const SourceArguments& arguments, const std::string& input,
                               const std::string& output,
                               const std::vector<msl::Include>& includes) {
  const auto& wanted = arguments.dependencies;
  const std::string text = dependency_rules(
      arguments, input, wanted.to_output ? with_extension(input, "air") : output, includes);
  if (wanted.to_output)
    return write_file(arguments.output.empty() ? "-" : arguments.output, text);
  std::string file = wanted.file;
  if (file.empty()) {
    llvm::SmallString<128> name(output);
    llvm::sys::path::replace_extension(name, "d");
    file = name.str().str();
  }
  return write_file(file, text);
}

// Compiles one source; no module where only its text or its dependencies were asked for.
llvm::Expected<std::unique_ptr<llvm::Module>> compile(const SourceArguments& arguments,
                                                      const std::string& input,
                                                      const std::string& output,
                                                      llvm::LLVMContext& context) {
  auto file = read_file(input);
  if (!file)
    return file.takeError();
  msl::Options options = arguments.options;
  options.file_name = input == "-" ? "<stdin>" : input;
  options.quote_directory = llvm::sys::path::parent_path(input).str();
  if (options.quote_directory.empty())
    options.quote_directory = ".";
  options.for_linking = true;
  std::string source = arguments.prefix;
  if (!source.empty())
    source += "# 1 \"" + options.file_name + "\"\n";
  source += (*file)->getBuffer();
  msl::Compilation compilation = msl::compile(source, options, context);
  if (arguments.list_includes)
    for (const msl::Include& include : compilation.includes)
      llvm::errs() << std::string(include.depth, '.') << ' ' << include.path << '\n';
  llvm::errs() << compilation.diagnostics;
  if (!compilation.module && (!options.preprocess || compilation.diagnostics.contains("error: ")))
    return llvm::createStringError("'" + options.file_name + "' does not compile");
  if (arguments.dependencies.wanted)
    if (llvm::Error error = write_dependencies(arguments, input, output, compilation.includes))
      return std::move(error);
  if (options.preprocess && !arguments.dependencies.to_output)
    if (llvm::Error error =
            write_file(arguments.output.empty() ? "-" : arguments.output, compilation.preprocessed))
      return std::move(error);
  if (compilation.module)
    compilation.module->setModuleIdentifier(input);
  return std::move(compilation.module);
}

llvm::Error run(const SourceArguments& arguments) {
  const Action action = arguments.action;
  const bool many = arguments.inputs.size() > 1;
  if (many && !arguments.output.empty() && action != Action::Link)
    return llvm::createStringError("-o names one file, and there are several sources");
  llvm::LLVMContext context;
  std::vector<std::unique_ptr<llvm::Module>> modules;
  for (const std::string& input : arguments.inputs) {
    std::string output = arguments.output;
    if (output.empty())
      output = action == Action::Compile    ? with_extension(input, "air")
               : action == Action::Assemble ? with_extension(input, "ll")
                                            : "default.metallib";
    std::unique_ptr<llvm::Module> module;
    if (llvm::StringRef(input).ends_with(".air")) {
      // To be linked with the sources.
      auto file = read_file(input);
      if (!file)
        return file.takeError();
      auto parsed = air::parse_module(llvm::MemoryBufferRef((*file)->getBuffer(), input), context);
      if (!parsed)
        return llvm::createStringError("'" + input +
                                       "' is not AIR: " + llvm::toString(parsed.takeError()));
      module = std::move(*parsed);
      module->setModuleIdentifier(input);
    } else {
      auto compiled = compile(arguments, input, output, context);
      if (!compiled)
        return compiled.takeError();
      module = std::move(*compiled);
    }
    if (action == Action::Compile) {
      if (llvm::Error error = write_file(output, air::write_bitcode(*module)))
        return error;
    } else if (action == Action::Assemble) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      module->print(stream, nullptr);
      if (llvm::Error error = write_file(output, text))
        return error;
    }
    modules.push_back(std::move(module));
  }
  if (action != Action::Link)
    return llvm::Error::success();
  auto library = link(std::move(modules));
  if (!library)
    return library.takeError();
  return write_file(arguments.output.empty() ? "default.metallib" : arguments.output, *library);
}

} // namespace

int source_command(const std::vector<std::string>& arguments) {
  auto parsed = parse_arguments(arguments);
  if (!parsed)
    return report(kName, parsed.takeError());
  if (parsed->action == Action::Help) {
    llvm::outs() << kHelp;
    return 0;
  }
  if (parsed->action == Action::Version) {
    llvm::outs() << "metal of Bessemer " BESSEMER_VERSION ", language to Metal "
                 << (msl::kNewestLanguage >> 16) << '.' << (msl::kNewestLanguage & 0xffff) << '\n';
    return 0;
  }
  if (parsed->inputs.empty())
    return report(kName, llvm::createStringError("no input files"));
  if (llvm::Error error = run(*parsed))
    return report(kName, std::move(error));
  return 0;
}

} // namespace bessemer::toolchain
