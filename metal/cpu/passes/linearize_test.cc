#include "metal/cpu/passes/linearize.h"

#include "metal/cpu/analysis/spmd.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace bessemer::metal::cpu {
namespace {

using namespace llvm;

class LinearizeTest : public testing::Test {
protected:
  void linearize_text(const std::string& body) {
    std::string text = "declare i32 @spmd.thread_index() memory(none)\n"
                       "define void @f(ptr %p, i32 %n) {\n" +
                       body + "}\n";
    SMDiagnostic diagnostic;
    module_ = parseAssemblyString(text, diagnostic, context_);
    ASSERT_TRUE(module_) << diagnostic.getMessage().str();
    function_ = module_->getFunction("f");
    const uint32_t threads[3] = {64, 1, 1};
    DominatorTree dominators(*function_);
    LoopInfo loops(dominators);
    auto divergence = Divergence::analyse(*function_, loops, 32, threads);
    ASSERT_TRUE(bool(divergence)) << toString(divergence.takeError());
    linearize(*function_, loops, **divergence, nullptr, {});
    ASSERT_FALSE(verifyFunction(*function_, &errs()));
    shapes_ = std::make_unique<ShapeAnalysis>(*function_, 32, threads);
    shapes_->run();
    for (BasicBlock& block : *function_)
      if (auto* branch = dyn_cast<BranchInst>(block.getTerminator());
          branch && branch->isConditional())
        EXPECT_TRUE(shapes_->is_uniform(branch->getCondition()))
            << "a branch is left that lanes do not share";
  }
  // How many masks are set.
  int masks() const {
    int count = 0;
    for (BasicBlock& block : *function_)
      for (Instruction& instruction : block)
        count += spmd::is_call(&instruction, spmd::mask);
    return count;
  }
  Value* stored() const {
    for (BasicBlock& block : *function_)
      for (Instruction& instruction : block)
        if (auto* store = dyn_cast<StoreInst>(&instruction);
            store && !isa<Constant>(store->getValueOperand()))
          return store->getValueOperand();
    return nullptr;
  }

  LLVMContext context_;
  std::unique_ptr<Module> module_;
  Function* function_ = nullptr;
  std::unique_ptr<ShapeAnalysis> shapes_;
};

TEST_F(LinearizeTest, UniformBranchesStayAsTheyAre) {
  linearize_text(
      "entry:\n  %c = icmp eq i32 %n, 1\n  br i1 %c, label %a, label %b\n"
      "a:\n  br label %b\n"
      "b:\n  %v = phi i32 [ 1, %entry ], [ 2, %a ]\n  store i32 %v, ptr %p\n  ret void\n");
  EXPECT_EQ(masks(), 0);
  EXPECT_TRUE(isa<PHINode>(stored()));
}

TEST_F(LinearizeTest, LanesThatMeetAgainChooseTheirOwnValue) {
  linearize_text(
      "entry:\n  %t = call i32 @spmd.thread_index()\n  %c = icmp ult i32 %t, 7\n"
      "  br i1 %c, label %a, label %b\n"
      "a:\n  store i32 0, ptr %p\n  br label %b\n"
      "b:\n  %v = phi i32 [ %t, %entry ], [ %n, %a ]\n  store i32 %v, ptr %p\n  ret void\n");
  EXPECT_EQ(masks(), 1); // of block a
  EXPECT_TRUE(shapes_->shape(stored()).is_varying());
  int selects = 0;
  for (BasicBlock& block : *function_)
    for (Instruction& instruction : block)
      selects += isa<SelectInst>(instruction);
  EXPECT_EQ(selects, 1);
}

TEST_F(LinearizeTest, ValuesOfLanesThatLeftALoopEarlierAreKept) {
  // Each lane leaves when i reaches its index: i is the same for all that go on, and differs
  // between lanes afterwards.
  linearize_text("entry:\n  %t = call i32 @spmd.thread_index()\n  br label %enter\n"
                 "enter:\n  br label %loop\n"
                 "loop:\n  %i = phi i32 [ 0, %enter ], [ %j, %loop ]\n  %j = add i32 %i, 1\n"
                 "  %c = icmp ult i32 %j, %t\n  br i1 %c, label %loop, label %exit\n"
                 "exit:\n  %v = phi i32 [ %j, %loop ]\n  br label %after\n"
                 "after:\n  store i32 %v, ptr %p\n  ret void\n");
  EXPECT_TRUE(shapes_->shape(stored()).is_varying());
  int uniform = 0;
  for (BasicBlock& block : *function_)
    for (PHINode& phi : block.phis())
      uniform += phi.getType()->isIntegerTy(32) && shapes_->is_uniform(&phi);
  EXPECT_EQ(uniform, 1); // i
}

TEST_F(LinearizeTest, ABlockThatABranchGoesAroundIsDecidedFurtherUp) {
  // c is reached from the divergent branch in a and, past it, from entry.
  linearize_text("entry:\n  %t = call i32 @spmd.thread_index()\n  %u = icmp eq i32 %n, 1\n"
                 "  br i1 %u, label %a, label %c\n"
                 "a:\n  %d = icmp ult i32 %t, 7\n  br i1 %d, label %c, label %e\n"
                 "c:\n  store i32 %n, ptr %p\n  br label %e\n"
                 "e:\n  ret void\n");
  EXPECT_GE(masks(), 1);
}

} // namespace
} // namespace bessemer::metal::cpu
