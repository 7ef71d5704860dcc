#include "metal/air/signature.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

namespace bessemer::air {
namespace {

std::unique_ptr<llvm::Module> parse(llvm::LLVMContext& context, const char* text) {
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  return module;
}

// Metadata in the words of AIR 2.6: optional items in front shift the rest.
constexpr char kAir26[] = R"(
@pred = internal addrspace(2) global i8 0
define void @k(ptr addrspace(1) %a, ptr addrspace(2) %b, ptr addrspace(3) %c, <3 x i32> %gid,
               i16 %lane) { ret void }
!air.kernel = !{!0}
!0 = !{ptr @k, !1, !2, !9}
!1 = !{}
!2 = !{!3, !4, !5, !6, !7}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 5, i32 1, !"air.read_write",
       !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4,
       !"air.arg_type_name", !"float", !"air.arg_name", !"air.read"}
!4 = !{i32 1, !"air.function_constant", !8, !"air.buffer", !"air.buffer_size", i32 24,
       !"air.location_index", i32 2, i32 1, !"air.read", !"air.address_space", i32 2,
       !"air.struct_type_info", !10, !"air.arg_type_size", i32 24, !"air.arg_type_align_size",
       i32 8, !"air.arg_type_name", !"Params", !"air.arg_name", !"p", !"air.arg_unused"}
!5 = !{i32 2, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write",
       !"air.address_space", i32 3, !"air.arg_type_name", !"float", !"air.arg_name", !"shared"}
!6 = !{i32 3, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint3", !"air.arg_name", !"gid"}
!7 = !{i32 4, !"air.thread_index_in_simdgroup", !"air.arg_type_name", !"ushort", !"air.arg_name", !"lane"}
!8 = !{ptr addrspace(2) @pred, !"bool", !"has_p"}
!9 = !{!"air.max_work_group_size", i32 256}
!10 = !{i32 0, i32 4, i32 0, !"uint", !"n", i32 8, i32 4, i32 3, !"float", !"w"}
)";

TEST(Signature, ReadsArgumentsByKey) {
  llvm::LLVMContext context;
  auto module = parse(context, kAir26);
  auto signature = read_signature(*module, "k");
  ASSERT_TRUE(static_cast<bool>(signature)) << llvm::toString(signature.takeError());
  EXPECT_EQ(signature->max_threads_per_threadgroup, 256u);
  ASSERT_EQ(signature->arguments.size(), 5u);
  const Argument& a = signature->arguments[0];
  EXPECT_EQ(a.kind, ArgumentKind::Buffer);
  EXPECT_EQ(a.index, 5u);
  EXPECT_EQ(a.access, Access::ReadWrite);
  EXPECT_EQ(a.address_space, 1u);
  EXPECT_EQ(a.size, 4u);
  EXPECT_EQ(a.name, "air.read") << "a name that looks like a key";
  EXPECT_TRUE(a.used);
  const Argument& p = signature->arguments[1];
  EXPECT_EQ(p.index, 2u);
  EXPECT_EQ(p.predicate, "pred");
  EXPECT_FALSE(p.used);
  EXPECT_EQ(p.size, 24u);
  EXPECT_EQ(p.alignment, 8u);
  ASSERT_EQ(p.members.size(), 2u);
  EXPECT_EQ(p.members[1].name, "w");
  EXPECT_EQ(p.members[1].offset, 8u);
  EXPECT_EQ(p.members[1].array_length, 3u);
  EXPECT_EQ(signature->arguments[2].kind, ArgumentKind::Threadgroup);
  EXPECT_EQ(signature->arguments[2].index, 1u);
  EXPECT_EQ(signature->arguments[3].builtin, Builtin::ThreadPositionInGrid);
  EXPECT_EQ(signature->arguments[4].builtin, Builtin::ThreadIndexInSimdgroup);
}

TEST(Signature, Air21HasNoAddressSpaceItem) {
  llvm::LLVMContext context;
  auto module = parse(context, R"(
define void @k(ptr addrspace(2) %a) { ret void }
!air.kernel = !{!0}
!0 = !{ptr @k, !1, !2}
!1 = !{}
!2 = !{!3}
!3 = !{i32 0, !"air.buffer", !"air.buffer_size", i32 16, !"air.location_index", i32 0, i32 1,
       !"air.read", !"air.arg_type_name", !"P", !"air.arg_name", !"a"}
)");
  auto signature = read_signature(*module, "k");
  ASSERT_TRUE(static_cast<bool>(signature)) << llvm::toString(signature.takeError());
  EXPECT_EQ(signature->arguments[0].address_space, 2u);
  EXPECT_EQ(signature->arguments[0].size, 16u);
}

// As AIR 2.8 writes an argument buffer with an array of pointers.
TEST(Signature, ArgumentBuffersTellTheirPointers) {
  llvm::LLVMContext context;
  auto module = parse(context, R"(
define void @k(ptr addrspace(2) %a) { ret void }
!air.kernel = !{!0}
!0 = !{ptr @k, !1, !2}
!1 = !{}
!2 = !{!3}
!3 = !{i32 0, !"air.indirect_buffer", !"air.buffer_size", i32 16, !"air.location_index", i32 0,
       i32 1, !"air.read", !"air.address_space", i32 2, !"air.struct_type_info", !4,
       !"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 8, !"air.arg_type_name",
       !"Set", !"air.arg_name", !"set"}
!4 = !{i32 0, i32 8, i32 0, !"float", !"in", !"air.indirect_argument", !5,
       i32 8, i32 8, i32 0, !"float", !"out", !"air.indirect_argument", !6}
!5 = !{i32 0, !"air.buffer", !"air.location_index", i32 3, i32 1, !"air.read",
       !"air.address_space", i32 1, !"air.arg_type_name", !"float", !"air.arg_name", !"in"}
!6 = !{i32 1, !"air.buffer", !"air.location_index", i32 7, i32 1, !"air.read_write",
       !"air.address_space", i32 1, !"air.arg_type_name", !"float", !"air.arg_name", !"out"}
)");
  auto signature = read_signature(*module, "k");
  ASSERT_TRUE(static_cast<bool>(signature)) << llvm::toString(signature.takeError());
  const Argument& set = signature->arguments[0];
  EXPECT_EQ(set.kind, ArgumentKind::ArgumentBuffer);
  ASSERT_EQ(set.members.size(), 2u);
  EXPECT_TRUE(set.members[0].is_pointer);
  EXPECT_EQ(set.members[0].argument_index, 3);
  EXPECT_EQ(set.members[0].access, Access::Read);
  EXPECT_EQ(set.members[1].argument_index, 7);
  EXPECT_EQ(set.members[1].offset, 8u);
  EXPECT_EQ(set.members[1].access, Access::ReadWrite);
}

TEST(Signature, WhatIsWrittenIsReadBack) {
  llvm::LLVMContext context;
  auto module = parse(context, kAir26);
  auto first = read_signature(*module, "k");
  ASSERT_TRUE(static_cast<bool>(first));
  module->getNamedMetadata("air.kernel")->eraseFromParent();
  write_signature(*module, *first);
  auto second = read_signature(*module, "k");
  ASSERT_TRUE(static_cast<bool>(second)) << llvm::toString(second.takeError());
  ASSERT_EQ(second->arguments.size(), first->arguments.size());
  EXPECT_EQ(second->max_threads_per_threadgroup, 256u);
  for (size_t i = 0; i < first->arguments.size(); ++i) {
    const Argument &a = first->arguments[i], &b = second->arguments[i];
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.index, b.index);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.type_name, b.type_name);
    EXPECT_EQ(a.size, b.size);
    EXPECT_EQ(a.access, b.access);
    EXPECT_EQ(a.used, b.used);
    EXPECT_EQ(a.predicate, b.predicate);
    EXPECT_EQ(a.members.size(), b.members.size());
  }
}

TEST(Signature, MalformedMetadataIsAnErrorThatNamesTheFunction) {
  struct Case {
    const char* argument;
    const char* message;
  };
  for (const Case& c : {Case{"!{i32 0, !\"air.rumour\"}", "neither a resource"},
                        Case{"!{i32 9, !\"air.buffer\"}", "no such parameter"},
                        Case{"!{i32 0, !\"air.thread_position_in_grid\"}", "not an integer"}}) {
    llvm::LLVMContext context;
    std::string text = "define void @k(ptr addrspace(1) %a) { ret void }\n"
                       "!air.kernel = !{!0}\n!0 = !{ptr @k, !1, !2}\n!1 = !{}\n!2 = !{!3}\n!3 = ";
    auto module = parse(context, (text + c.argument).c_str());
    auto signature = read_signature(*module, "k");
    ASSERT_FALSE(static_cast<bool>(signature));
    std::string message = llvm::toString(signature.takeError());
    EXPECT_NE(message.find("'k'"), std::string::npos) << message;
    EXPECT_NE(message.find(c.message), std::string::npos) << message;
  }
}

TEST(Signature, UnknownFunctionIsAnError) {
  llvm::LLVMContext context;
  auto module = parse(context, kAir26);
  EXPECT_EQ(llvm::toString(read_signature(*module, "q").takeError()),
            "no function 'q' in this AIR module");
}

} // namespace
} // namespace bessemer::air
