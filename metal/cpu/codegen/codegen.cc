#include "metal/cpu/codegen/codegen.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace bessemer::metal::cpu {

const HostTarget& host_target() {
  static const HostTarget host = [] {
    HostTarget target{llvm::sys::getDefaultTargetTriple(), llvm::sys::getHostCPUName().str(), {}};
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
      if (!target.features.empty()) target.features += ',';
      target.features += feature.second ? '+' : '-';
      target.features += feature.first();
    }
    return target;
  }();
  return host;
}

llvm::Expected<CompiledKernel> compile_kernel(std::unique_ptr<llvm::Module> air,
                                              const KernelOptions& options) {
  (void)air;
  return llvm::createStringError("kernel '%s': the code generator is not built yet",
                                 options.function.c_str());
}

}  // namespace bessemer::metal::cpu
