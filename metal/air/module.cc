#include "metal/air/module.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

namespace bessemer::air {

const char kDataLayout[] =
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-"
    "v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-"
    "v512:512:512-v1024:1024:1024-n8:16:32";

llvm::Expected<std::unique_ptr<llvm::Module>> parse_module(llvm::MemoryBufferRef bitcode,
                                                           llvm::LLVMContext& context) {
  // Libraries keep modules back to back without alignment; the reader wants 4 bytes.
  std::unique_ptr<llvm::MemoryBuffer> aligned;
  if (reinterpret_cast<uintptr_t>(bitcode.getBufferStart()) % 4 != 0) {
    aligned =
        llvm::MemoryBuffer::getMemBufferCopy(bitcode.getBuffer(), bitcode.getBufferIdentifier());
    bitcode = aligned->getMemBufferRef();
  }
  auto module = llvm::parseBitcodeFile(bitcode, context);
  if (!module)
    return llvm::createStringError("AIR bitcode: " + llvm::toString(module.takeError()));
  std::string why;
  llvm::raw_string_ostream stream(why);
  if (llvm::verifyModule(**module, &stream)) {
    llvm::StringRef line = llvm::StringRef(why).split('\n').first;
    return llvm::createStringError("AIR bitcode is not valid: " + line);
  }
  return std::move(*module);
}

namespace {

void drop_unused_declarations(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
}

void drop_foreign_attributes(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (const char* name :
         {"frame-pointer", "no-builtins", "stack-protector-buffer-size", "target-cpu",
          "target-features", "less-precise-fpmad", "no-infs-fp-math", "no-nans-fp-math",
          "unsafe-fp-math", "no-trapping-math", "min-legal-vector-width"})
      function.removeFnAttr(name);
    // Kernels are leaf code: nothing unwinds, nothing guards the stack.
    function.removeFnAttr(llvm::Attribute::StackProtect);
    function.removeFnAttr(llvm::Attribute::StackProtectStrong);
  }
}

void drop_module_flags(llvm::Module& module) {
  llvm::NamedMDNode* flags = module.getModuleFlagsMetadata();
  if (!flags)
    return;
  llvm::SmallVector<llvm::MDNode*> kept;
  for (llvm::MDNode* flag : flags->operands()) {
    auto* name =
        flag->getNumOperands() > 1 ? llvm::dyn_cast<llvm::MDString>(flag->getOperand(1)) : nullptr;
    if (!name)
      continue;
    llvm::StringRef text = name->getString();
    if (text.starts_with("air.") || text == "SDK Version" || text == "frame-pointer")
      continue;
    kept.push_back(flag);
  }
  flags->clearOperands();
  for (llvm::MDNode* flag : kept)
    flags->addOperand(flag);
}

} // namespace

void normalise(llvm::Module& module, llvm::StringRef triple, llvm::StringRef data_layout) {
  module.setTargetTriple(llvm::Triple(triple));
  module.setDataLayout(data_layout);
  drop_unused_declarations(module);
  drop_foreign_attributes(module);
  drop_module_flags(module);
}

std::string write_bitcode(const llvm::Module& module) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  return std::string(bytes);
}

} // namespace bessemer::air
