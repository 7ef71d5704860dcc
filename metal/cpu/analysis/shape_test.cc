#include "metal/cpu/analysis/shape.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace bessemer::metal::cpu {
namespace {

using namespace llvm;

class ShapeTest : public testing::Test {
protected:
  // Shapes of the instructions of a function body, in which %t is the thread's index, %g the
  // threadgroup's position and %p and %n are arguments.
  void analyse(const std::string& body, int lanes, const uint32_t (&threads)[3]) {
    std::string text = "declare i32 @spmd.thread_index() memory(none)\n"
                       "declare i32 @spmd.group.x() memory(none)\n"
                       "define void @f(ptr %p, i32 %n) {\n"
                       "  %t = call i32 @spmd.thread_index()\n"
                       "  %g = call i32 @spmd.group.x()\n" +
                       body + "\n  ret void\n}\n";
    SMDiagnostic diagnostic;
    module_ = parseAssemblyString(text, diagnostic, context_);
    ASSERT_TRUE(module_) << diagnostic.getMessage().str();
    shapes_ = std::make_unique<ShapeAnalysis>(*module_->getFunction("f"), lanes, threads);
    shapes_->run();
  }
  Shape shape(const char* name) {
    for (BasicBlock& block : *module_->getFunction("f"))
      for (Instruction& instruction : block)
        if (instruction.getName() == name)
          return shapes_->shape(&instruction);
    ADD_FAILURE() << "no value " << name;
    return Shape();
  }

  LLVMContext context_;
  std::unique_ptr<Module> module_;
  std::unique_ptr<ShapeAnalysis> shapes_;
};

TEST_F(ShapeTest, PositionsAreABaseAndTheLane) {
  analyse("  %base = shl i32 %g, 8\n  %x = add i32 %base, %t\n  %a = mul i32 %x, 4", 32,
          {256, 1, 1});
  Shape a = shape("a");
  EXPECT_EQ(a.group, 32);
  EXPECT_EQ(a.align, 7); // 32 lanes of 4
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(a.offset(lane), 4 * lane);
  EXPECT_TRUE(shape("base").is_uniform(32));
}

TEST_F(ShapeTest, AlignmentDecidesComparisonsAndBits) {
  analyse("  %below = icmp ult i32 %t, 64\n  %odd = icmp ult i32 %t, 65\n"
          "  %high = lshr i32 %t, 5\n  %low = and i32 %t, 31",
          32, {256, 1, 1});
  EXPECT_TRUE(shape("below").is_uniform(32));
  EXPECT_TRUE(shape("odd").is_varying());
  EXPECT_TRUE(shape("high").is_uniform(32));
  EXPECT_EQ(shape("low").align, Shape::max_align); // the lane alone
  EXPECT_EQ(shape("low").offset(31), 31);
}

TEST_F(ShapeTest, ConstantBitsMeetTheLanesBits) {
  // InstCombine leaves out `and 15` where the constant has the bits above.
  analyse("  %row = or i32 %t, 48\n  %base = shl i32 %g, 8\n  %x = add i32 %base, %t\n"
          "  %or = or i32 %x, 529\n  %xor = xor i32 %x, 517",
          32, {32, 1, 1});
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(shape("row").offset(lane), (lane | 48) - 48) << lane; // the piece is 48
    EXPECT_EQ(shape("or").offset(lane), (lane | 17) - 17) << lane;
    EXPECT_EQ(shape("xor").offset(lane), (lane ^ 5) - 5) << lane;
  }
  EXPECT_EQ(shape("or").group, 32);
  EXPECT_EQ(shape("or").align, 0);
}

TEST_F(ShapeTest, RowsOfANarrowThreadgroupArePieces) {
  // Rows of 24 threads: within eight lanes the row never changes, within 32 it does.
  analyse("  %x = urem i32 %t, 24\n  %y = udiv i32 %t, 24", 32, {24, 4, 1});
  EXPECT_EQ(shape("y").group, 8);
  EXPECT_TRUE(shape("y").is_flat());
  EXPECT_EQ(shape("x").group, 8);
  EXPECT_EQ(shape("x").offset(13), 5);
  // Rows of 20 threads change anywhere.
  analyse("  %x = urem i32 %t, 20", 32, {20, 4, 1});
  EXPECT_TRUE(shape("x").is_varying());
}

TEST_F(ShapeTest, ExtensionsNeedAProofOrAnAddress) {
  // t + n may wrap around 2^32: seen through only where the result is an address.
  analyse("  %s = add i32 %t, %n\n  %address = zext i32 %s to i64\n"
          "  %q = getelementptr float, ptr %p, i64 %address\n  %v = load float, ptr %q\n"
          "  %value = zext i32 %s to i64\n  %h = lshr i64 %value, 3\n"
          "  %proven = zext i32 %t to i64\n  %k = lshr i64 %proven, 3",
          32, {256, 1, 1});
  EXPECT_EQ(shape("address").group, 32);
  EXPECT_EQ(shape("q").offset(3), 12);
  EXPECT_TRUE(shape("value").is_varying());
  EXPECT_EQ(shape("proven").offset(7), 7);
}

TEST_F(ShapeTest, LoadsFromOneAddressAreUniformAndOthersVary) {
  analyse(
      "  %u = load i32, ptr %p\n  %q = getelementptr i32, ptr %p, i32 %t\n  %v = load i32, ptr %q\n"
      "  %w = add i32 %u, 1\n  %z = add i32 %v, 1",
      32, {256, 1, 1});
  EXPECT_TRUE(shape("u").is_uniform(32));
  EXPECT_TRUE(shape("w").is_uniform(32));
  EXPECT_TRUE(shape("v").is_varying());
  EXPECT_TRUE(shape("z").is_varying());
}

} // namespace
} // namespace bessemer::metal::cpu
