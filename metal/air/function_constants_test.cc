#include "metal/air/function_constants.h"

#include "metal/air/signature.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <cstring>

namespace bessemer::air {
namespace {

// As Apple's compiler lays it out: a value-less global, the variable that code reads, a static
// initialiser between them, and a predicate for an argument.
constexpr char kModule[] = R"(
@_ZL5count.MTL_FC_INIT_7_i = internal addrspace(2) externally_initialized constant i32 undef
@_ZL3has.MTL_FC_INIT_3_b = internal addrspace(2) externally_initialized constant i8 undef
@_ZL5count = internal addrspace(2) global i32 0
@twice = internal addrspace(2) global i32 0
@__metal_implicit_fc_pred_0 = internal addrspace(2) global i8 0
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @init, ptr null }]
declare i8 @air.normalize_function_constant_predicate.i8(i8)
declare i1 @air.is_function_constant_defined(ptr addrspace(2))
define internal void @init() section "air.static_init" {
  %c = load i32, ptr addrspace(2) @_ZL5count.MTL_FC_INIT_7_i
  store i32 %c, ptr addrspace(2) @_ZL5count
  %t = shl i32 %c, 1
  store i32 %t, ptr addrspace(2) @twice
  %h = load i8, ptr addrspace(2) @_ZL3has.MTL_FC_INIT_3_b
  %p = call i8 @air.normalize_function_constant_predicate.i8(i8 %h)
  store i8 %p, ptr addrspace(2) @__metal_implicit_fc_pred_0
  ret void
}
define i32 @k(ptr addrspace(1) %a) {
  %c = load i32, ptr addrspace(2) @_ZL5count
  %t = load i32, ptr addrspace(2) @twice
  %d = call i1 @air.is_function_constant_defined(ptr addrspace(2) @_ZL3has.MTL_FC_INIT_3_b)
  %z = zext i1 %d to i32
  %s = add i32 %c, %t
  %r = add i32 %s, %z
  ret i32 %r
}
!air.kernel = !{!0}
!0 = !{ptr @k, !1, !2}
!1 = !{}
!2 = !{!3}
!3 = !{i32 0, !"air.function_constant", !4, !"air.buffer", !"air.location_index", i32 0, i32 1,
       !"air.read", !"air.address_space", i32 1, !"air.arg_type_name", !"float", !"air.arg_name", !"a"}
!4 = !{ptr addrspace(2) @__metal_implicit_fc_pred_0, !"bool", !"has"}
!air.function_constants = !{!5, !6}
!5 = !{ptr addrspace(2) @_ZL5count.MTL_FC_INIT_7_i, !"int", !"count", i32 7, i1 true}
!6 = !{ptr addrspace(2) @_ZL3has.MTL_FC_INIT_3_b, !"bool", !"has", i32 3, i1 false}
)";

std::unique_ptr<llvm::Module> parse(llvm::LLVMContext& context) {
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(kModule, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  return module;
}

const uint8_t kFive[] = {5, 0, 0, 0};
const uint8_t kTrue[] = {1};

// What @k returns once its instructions fold; -1 when they do not.
int64_t folded_result(llvm::Module& module) {
  llvm::Function* function = module.getFunction("k");
  for (llvm::BasicBlock& block : *function)
    if (auto* ret = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator()))
      if (auto* value = llvm::dyn_cast<llvm::ConstantInt>(ret->getReturnValue()))
        return value->getSExtValue();
  return -1;
}

TEST(FunctionConstants, AreListedByIndex) {
  llvm::LLVMContext context;
  auto module = parse(context);
  auto constants = read_function_constants(*module);
  ASSERT_TRUE(static_cast<bool>(constants));
  ASSERT_EQ(constants->size(), 2u);
  EXPECT_EQ((*constants)[0].name, "has");
  EXPECT_EQ((*constants)[0].data_type, 53u);
  EXPECT_FALSE((*constants)[0].required);
  EXPECT_EQ((*constants)[1].index, 7u);
  EXPECT_EQ((*constants)[1].data_type, 29u);
  EXPECT_TRUE((*constants)[1].required);
}

TEST(FunctionConstants, ValuesFoldThroughTheStaticInitialiser) {
  llvm::LLVMContext context;
  auto module = parse(context);
  ConstantValue values[] = {{7, 29, kFive}, {3, 53, kTrue}};
  ASSERT_FALSE(static_cast<bool>(specialise(*module, values)));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  EXPECT_EQ(folded_result(*module), 5 + 10 + 1);
  EXPECT_FALSE(module->getNamedMetadata("air.function_constants"));
  auto signature = read_signature(*module, "k");
  ASSERT_TRUE(static_cast<bool>(signature)) << llvm::toString(signature.takeError());
  EXPECT_TRUE(signature->arguments[0].present);
  EXPECT_TRUE(signature->arguments[0].predicate.empty());
}

TEST(FunctionConstants, AbsentOptionalOneRemovesItsArgument) {
  llvm::LLVMContext context;
  auto module = parse(context);
  ConstantValue values[] = {{7, 29, kFive}};
  ASSERT_FALSE(static_cast<bool>(specialise(*module, values)));
  EXPECT_EQ(folded_result(*module), 5 + 10 + 0);
  auto signature = read_signature(*module, "k");
  ASSERT_TRUE(static_cast<bool>(signature)) << llvm::toString(signature.takeError());
  EXPECT_FALSE(signature->arguments[0].present);
}

TEST(FunctionConstants, MissingRequiredOneIsAnError) {
  llvm::LLVMContext context;
  auto module = parse(context);
  EXPECT_EQ(llvm::toString(specialise(*module, {})),
            "function constant 'count' (index 7) has no value");
}

TEST(FunctionConstants, ValueOfAnotherTypeIsAnError) {
  llvm::LLVMContext context;
  auto module = parse(context);
  ConstantValue values[] = {{7, 3, kFive}};
  std::string message = llvm::toString(specialise(*module, values));
  EXPECT_NE(message.find("'count' (index 7) is int"), std::string::npos) << message;
}

TEST(FunctionConstants, DataTypesAreMetals) {
  struct Case {
    const char* name;
    uint32_t type;
    uint32_t size;
  };
  for (const Case& c :
       {Case{"float", 3, 4}, Case{"float4", 6, 16}, Case{"half", 16, 2}, Case{"half3", 18, 8},
        Case{"int", 29, 4}, Case{"uint", 33, 4}, Case{"short", 37, 2}, Case{"ushort", 41, 2},
        Case{"char", 45, 1}, Case{"uchar2", 50, 2}, Case{"bool", 53, 1}, Case{"long", 81, 8},
        Case{"ulong", 85, 8}, Case{"bfloat", 121, 2}, Case{"float2x2", 0, 0}, Case{"float5", 0, 0},
        Case{"double", 0, 0}}) {
    EXPECT_EQ(data_type_from_name(c.name), c.type) << c.name;
    EXPECT_EQ(data_type_size(c.type), c.size) << c.name;
  }
}

} // namespace
} // namespace bessemer::air
