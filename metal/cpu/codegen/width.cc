#include "metal/cpu/codegen/width.h"

#include "metal/cpu/analysis/spmd.h"

#include "llvm/IR/InstrTypes.h"

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

constexpr int simdgroup_lanes = 32;

bool has_cross_lane_operations(Function& function) {
  for (BasicBlock& block : function)
    for (Instruction& instruction : block) {
      const auto* call = dyn_cast<CallBase>(&instruction);
      if (!call)
        continue;
      StringRef name = spmd::callee_name(*call);
      if (name.starts_with("air.simd") || name.starts_with("air.quad") ||
          name.starts_with(spmd::matrix_multiply))
        return true;
    }
  return false;
}

} // namespace

int choose_lanes(Function& function, const KernelOptions& options, const TargetTraits& traits) {
  (void)traits;
  if (!options.threads[0] || has_cross_lane_operations(function))
    return simdgroup_lanes;
  if (options.lanes)
    return int(options.lanes);
  return simdgroup_lanes;
}

} // namespace bessemer::metal::cpu
