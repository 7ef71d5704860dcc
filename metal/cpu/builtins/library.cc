#include "metal/cpu/builtins/library.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

// The file of math.cc's bitcode, whose path the build gives.
asm(".section .rodata.bessemer_builtins,\"a\",%progbits\n"
    ".balign 16\n"
    "bessemer_builtins_begin:\n"
    ".incbin \"" BESSEMER_BUILTINS_BITCODE "\"\n"
    "bessemer_builtins_end:\n"
    ".previous\n");
extern "C" const char bessemer_builtins_begin[] asm("bessemer_builtins_begin");
extern "C" const char bessemer_builtins_end[] asm("bessemer_builtins_end");

namespace bessemer::metal::cpu {

Error link_builtins(Module& module) {
  auto is_missing = [](const Function& function) {
    return function.isDeclaration() && !function.use_empty() &&
           function.getName().starts_with("bessemer.math.");
  };
  if (none_of(module, is_missing))
    return Error::success();
  StringRef bytes(bessemer_builtins_begin, size_t(bessemer_builtins_end - bessemer_builtins_begin));
  Expected<std::unique_ptr<Module>> library =
      getLazyBitcodeModule(MemoryBufferRef(bytes, "builtins"), module.getContext());
  if (!library)
    return library.takeError();
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  if (Linker::linkModules(module, std::move(*library), Linker::Flags::LinkOnlyNeeded))
    return createStringError("the built-in library does not link");
  for (Function& function : module) {
    if (is_missing(function))
      return createStringError("operation '%s' is not supported",
                               function.getName().drop_front(14).str().c_str());
    if (!function.isDeclaration() && function.getName().starts_with("bessemer.math.")) {
      // Made for no processor in particular; they become part of a kernel that is.
      function.setLinkage(GlobalValue::InternalLinkage);
      AttributeMask target;
      for (const char* name : {"target-cpu", "target-features", "tune-cpu", "frame-pointer",
                               "stack-protector-buffer-size", "min-legal-vector-width",
                               "no-trapping-math", "no-builtins"})
        target.addAttribute(name);
      function.removeFnAttrs(target);
    }
  }
  return Error::success();
}

} // namespace bessemer::metal::cpu
