#include "metal/cpu/passes/inline_calls.h"

#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace bessemer::metal::cpu {

Error inline_calls(Function& function) {
  SmallVector<CallBase*, 16> work;
  auto collect = [&] {
    work.clear();
    for (BasicBlock& block : function)
      for (Instruction& instruction : block)
        if (auto* call = dyn_cast<CallBase>(&instruction))
          if (Function* callee = call->getCalledFunction(); callee && !callee->isDeclaration())
            work.push_back(call);
    return !work.empty();
  };
  for (int depth = 0; collect(); ++depth) {
    if (depth > 64)
      return createStringError("function calls nest too deeply, or recursively");
    for (CallBase* call : work) {
      Function* callee = call->getCalledFunction();
      callee->removeFnAttr(Attribute::OptimizeNone);
      callee->removeFnAttr(Attribute::NoInline);
      InlineFunctionInfo info;
      InlineResult result = InlineFunction(*call, info);
      if (!result.isSuccess())
        return createStringError("cannot inline '%s': %s", callee->getName().str().c_str(),
                                 result.getFailureReason());
    }
  }
  return Error::success();
}

} // namespace bessemer::metal::cpu
