#include <cstdio>
#include <fstream>

#include "tools/command.h"
#include "tools/inspect_kernels.h"
#include "tools/module_report.h"

namespace bessemer::tools {

using vm::fail;
using vm::Result;
using vm::StatusCode;

namespace {

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

bool beginsAsMetallib(const std::string& path) {
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof(magic));
  return isMetallib({magic, sizeof(magic)});
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
