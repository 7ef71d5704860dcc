#include "tools/inspect_kernels.h"

#include <cstdio>

#include "tools/kernels.h"

namespace bessemer::tools {

namespace {

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

} // namespace

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

} // namespace bessemer::tools
