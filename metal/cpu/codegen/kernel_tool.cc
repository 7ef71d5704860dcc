// kernel_tool FILE.{ll,bc} FUNCTION [--threads=X,Y,Z] [--lanes=N] [--output=object|assembly|ir]
//             [--triple=T --cpu=C --features=F] [--distinct] [--time] [-o FILE]
// Compiles one kernel of an AIR module. For tests and for looking at what the passes make.
#include "metal/cpu/codegen/codegen.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace bessemer::metal::cpu;

int main(int argc, char** argv) {
  std::string file, output;
  KernelOptions options;
  bool time = false;
  for (int i = 1; i < argc; ++i) {
    StringRef argument = argv[i];
    if (argument.consume_front("--threads=")) {
      SmallVector<StringRef, 3> parts;
      argument.split(parts, ',');
      for (size_t d = 0; d < 3; ++d)
        options.threads[d] = 1;
      for (size_t d = 0; d < parts.size() && d < 3; ++d)
        parts[d].getAsInteger(10, options.threads[d]);
    } else if (argument.consume_front("--lanes=")) {
      argument.getAsInteger(10, options.lanes);
    } else if (argument.consume_front("--output=")) {
      options.output = argument == "assembly" ? KernelOutput::Assembly
                       : argument == "ir"     ? KernelOutput::VectorIr
                                              : KernelOutput::Object;
    } else if (argument.consume_front("--triple=")) {
      options.triple = argument.str();
    } else if (argument.consume_front("--cpu=")) {
      options.cpu = argument.str();
    } else if (argument.consume_front("--features=")) {
      options.features = argument.str();
    } else if (argument == "--distinct") {
      options.distinct_buffers = true;
    } else if (argument == "--time") {
      time = true;
    } else if (argument == "-o" && i + 1 < argc) {
      output = argv[++i];
    } else if (file.empty()) {
      file = argument.str();
    } else {
      options.function = argument.str();
    }
  }
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseIRFile(file, diagnostic, context);
  if (!module) {
    diagnostic.print("kernel_tool", errs());
    return 1;
  }
  if (options.function.empty())
    if (NamedMDNode* kernels = module->getNamedMetadata("air.kernel");
        kernels && kernels->getNumOperands())
      if (auto* function =
              mdconst::dyn_extract_or_null<Function>(kernels->getOperand(0)->getOperand(0)))
        options.function = function->getName().str();
  Expected<CompiledKernel> kernel = compile_kernel(std::move(module), options);
  if (!kernel) {
    errs() << "error: " << toString(kernel.takeError()) << "\n";
    return 1;
  }
  if (time) {
    uint64_t total = 0;
    for (const bessemer::air::StageTime& stage : kernel->stages) {
      errs() << stage.stage << " " << stage.nanoseconds / 1000 << " us, ";
      total += stage.nanoseconds;
    }
    errs() << "total " << total / 1000 << " us; lanes " << kernel->lanes << ", frame "
           << kernel->frame_bytes << ", threadgroup " << kernel->threadgroup_bytes << "\n";
  }
  std::error_code error;
  raw_fd_ostream stream(output.empty() ? "-" : output, error);
  if (options.output != KernelOutput::Object || !output.empty())
    stream.write(reinterpret_cast<const char*>(kernel->bytes.data()), kernel->bytes.size());
  return 0;
}
