#include "metal/air/module.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TargetParser/Triple.h"

#include <gtest/gtest.h>

namespace bessemer::air {
namespace {

constexpr char kModule[] = R"(
target triple = "air64_v26-apple-macosx14.0.0"
declare void @llvm.lifetime.start.i64(i64)
declare float @air.exp.f32(float)
define void @k(ptr addrspace(1) %p) #0 {
  %x = load float, ptr addrspace(1) %p
  %y = call float @air.exp.f32(float %x)
  store float %y, ptr addrspace(1) %p
  ret void
}
attributes #0 = { "frame-pointer"="all" "max-work-group-size"="256" }
!llvm.module.flags = !{!0, !1}
!0 = !{i32 7, !"air.max_device_buffers", i32 31}
!1 = !{i32 1, !"wchar_size", i32 4}
)";

std::unique_ptr<llvm::Module> parse_text(llvm::LLVMContext& context) {
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(kModule, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  return module;
}

TEST(Module, NormaliseTakesOutWhatLlvmCannotUse) {
  llvm::LLVMContext context;
  auto module = parse_text(context);
  normalise(*module, "x86_64-unknown-linux-gnu", "e-m:e-i64:64-n8:16:32:64-S128");
  EXPECT_EQ(module->getTargetTriple().str(), "x86_64-unknown-linux-gnu");
  EXPECT_FALSE(module->getFunction("llvm.lifetime.start.i64"));
  EXPECT_TRUE(module->getFunction("air.exp.f32"));
  EXPECT_FALSE(module->getFunction("k")->hasFnAttribute("frame-pointer"));
  EXPECT_TRUE(module->getFunction("k")->hasFnAttribute("max-work-group-size"));
  EXPECT_FALSE(module->getModuleFlag("air.max_device_buffers"));
  EXPECT_TRUE(module->getModuleFlag("wchar_size"));
}

TEST(Module, BitcodeIsReadAtAnyAlignmentAndInDarwinsWrapper) {
  llvm::LLVMContext context;
  auto plain = parse_text(context);
  plain->setTargetTriple(llvm::Triple("x86_64-unknown-linux-gnu")); // Apple's get the wrapper
  std::string bitcode = write_bitcode(*plain);
  std::string wrapped("\xde\xc0\x17\x0b\0\0\0\0\x14\0\0\0", 12);
  for (int i = 0; i < 4; ++i)
    wrapped.push_back(static_cast<char>(bitcode.size() >> (8 * i)));
  wrapped += "\xff\xff\xff\xff" + bitcode;
  while (wrapped.size() % 16)
    wrapped.push_back('\0');
  for (const std::string& bytes : {bitcode, wrapped})
    for (size_t shift = 0; shift < 4; ++shift) {
      std::string moved = std::string(shift, 'x') + bytes;
      auto module = parse_module(
          llvm::MemoryBufferRef(llvm::StringRef(moved).drop_front(shift), "kernel"), context);
      ASSERT_TRUE(static_cast<bool>(module)) << shift << ": " << llvm::toString(module.takeError());
      EXPECT_TRUE((*module)->getFunction("k"));
    }
}

TEST(Module, BadBitcodeIsAnError) {
  llvm::LLVMContext context;
  std::string bitcode = write_bitcode(*parse_text(context));
  for (std::string bytes : {std::string(), std::string("BC"), bitcode.substr(0, bitcode.size() / 2),
                            std::string(64, 'x')}) {
    auto module = parse_module(llvm::MemoryBufferRef(bytes, "kernel"), context);
    ASSERT_FALSE(static_cast<bool>(module));
    EXPECT_NE(llvm::toString(module.takeError()).find("AIR bitcode"), std::string::npos);
  }
}

} // namespace
} // namespace bessemer::air
