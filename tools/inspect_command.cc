#include <cstdio>
#include <fstream>

#include "tools/command.h"
#include "tools/kernels.h"
#include "tools/module_report.h"

namespace bessemer::tools {

using vm::fail;
using vm::Result;
using vm::StatusCode;

namespace {

struct InspectFlags {
  std::string file;
  bool json = false;
  std::string output;
  std::string function;
  bool msl = false;
  bool disassemble = false;
  bool time = false;
  bool assembly = false;
  bool air = false;
  bool vector_ir = false;
  std::string kernel;
  std::vector<uint32_t> threads;
};

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

bool beginsAsMetallib(const std::string& path) {
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof(magic));
  return isMetallib({magic, sizeof(magic)});
}

CommandResult inspectKernels(const InspectFlags& flags) {
  // Times of a compile that the cache saved would be none.
  auto compiler = openCompiler(flags.time);
  BESSEMER_ASSIGN_OR_RETURN(const auto libraries, readKernelLibraries(*compiler, flags.file));
  KernelSelection selection{flags.kernel, {}};
  if (!flags.threads.empty())
    selection.threads = {flags.threads[0], flags.threads.size() > 1 ? flags.threads[1] : 1,
                         flags.threads.size() > 2 ? flags.threads[2] : 1};
  if (flags.time) {
    size_t failures = 0;
    BESSEMER_ASSIGN_OR_RETURN(const std::string text,
                              kernelTimes(*compiler, libraries, selection, &failures));
    print(text);
    return failures ? 1 : 0;
  }
  for (auto [wanted, output] : {std::pair(flags.air, BESSEMER_OUTPUT_AIR),
                                std::pair(flags.vector_ir, BESSEMER_OUTPUT_VECTOR_IR),
                                std::pair(flags.assembly, BESSEMER_OUTPUT_ASSEMBLY)}) {
    if (!wanted)
      continue;
    BESSEMER_ASSIGN_OR_RETURN(const std::string text,
                              kernelTexts(*compiler, libraries, selection, output));
    print(text);
  }
  if (!flags.air && !flags.vector_ir && !flags.assembly)
    for (const KernelLibrary& library : libraries)
      print(flags.json ? libraryJson(library) : libraryText(library));
  return 0;
}

CommandResult inspect(const InspectFlags& flags) {
  const bool stages = flags.time || flags.assembly || flags.air || flags.vector_ir;
  if (!flags.kernel.empty() && !stages)
    return fail(StatusCode::InvalidArgument, "--kernel goes with --time, --asm, --air or "
                                             "--vector-ir");
  if (stages || flags.file.ends_with(".metal") || beginsAsMetallib(flags.file))
    return inspectKernels(flags);
  BESSEMER_ASSIGN_OR_RETURN(ModuleReport report, ModuleReport::read(flags.file));
  const bool disassemble = flags.disassemble || flags.output == "all" ||
                           flags.output == "disassembly" || !flags.function.empty();
  const bool metadata = flags.output == "all" || flags.output == "metadata" ||
                        (flags.output.empty() && !flags.msl && !disassemble);
  if (flags.msl)
    print(report.msl());
  if (disassemble) {
    BESSEMER_ASSIGN_OR_RETURN(const std::string text, report.disassembly(flags.function));
    print(text);
  }
  if (metadata)
    print(flags.json ? report.json() : report.text());
  return 0;
}

} // namespace

std::function<CommandResult()> addInspectCommand(CLI::App& app) {
  auto flags = std::make_shared<InspectFlags>();
  app.add_option("file", flags->file,
                 "A compiled module (.vmfb), a Metal library (.metallib) or MSL text (.metal)")
      ->required();
  app.add_flag("--json", flags->json, "The report as JSON");
  app.add_flag("--msl", flags->msl, "The MSL text of a module's kernels");
  app.add_flag("--disassemble", flags->disassemble, "The bytecode of a module's functions");
  app.add_option("--function", flags->function,
                 "The bytecode of only this function, by its name or number");
  app.add_option("--output", flags->output, "metadata, disassembly or all, as iree-dump-module")
      ->check(CLI::IsMember({"metadata", "disassembly", "all"}));
  app.add_flag("--time", flags->time, "Compile each kernel and tell how long each stage takes");
  app.add_flag("--air", flags->air, "Each kernel's AIR (LLVM IR as Apple's compiler writes it)");
  app.add_flag("--vector-ir", flags->vector_ir, "Each kernel's LLVM IR after vectorising");
  app.add_flag("--asm", flags->assembly, "Each kernel's assembly");
  app.add_option("--kernel", flags->kernel, "Only this kernel, by its name in MSL");
  app.add_option("--threads", flags->threads,
                 "Threads of a threadgroup, X or X,Y or X,Y,Z, in place of what the file says")
      ->delimiter(',')
      ->expected(1, 3)
      ->check(CLI::Range(1, 1024));
  return [flags] { return inspect(*flags); };
}

} // namespace bessemer::tools
