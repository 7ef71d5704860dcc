#include "metal/cpu/codegen/entry.h"

#include "metal/compiler/kernel_abi.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

#include <cstddef>

using namespace llvm;

namespace bessemer::metal::cpu {

Function* make_entry(Module& module, StringRef name, const ThreadFunction& thread,
                     const VectorFunction& vector, const GroupFunction& group, int lanes,
                     const uint32_t threads[3]) {
  LLVMContext& context = module.getContext();
  IRBuilder<> builder(context);
  Type *pointer = builder.getPtrTy(), *i32 = builder.getInt32Ty(), *i64 = builder.getInt64Ty();
  Function* entry = Function::Create(
      FunctionType::get(builder.getVoidTy(), {pointer, i64, i64, pointer, pointer}, false),
      GlobalValue::ExternalLinkage, name, module);
  for (unsigned i : {0u, 3u, 4u})
    entry->addParamAttr(i, Attribute::NoAlias);
  entry->addDereferenceableParamAttr(0, sizeof(bessemer_dispatch_t));
  entry->addParamAttr(3, Attribute::getWithAlignment(context, Align(64)));
  entry->addParamAttr(4, Attribute::getWithAlignment(context, Align(64)));
  Value *dispatch = entry->getArg(0), *first = entry->getArg(1), *last = entry->getArg(2);
  auto block = [&](const Twine& label) { return BasicBlock::Create(context, label, entry); };
  BasicBlock *start = block("entry"), *loop = block("threadgroup"), *next = block("next"),
             *done = block("done");
  builder.SetInsertPoint(start);
  MDNode* nothing = MDNode::get(context, {});
  auto field = [&](Type* type, size_t offset) {
    LoadInst* load =
        builder.CreateLoad(type, builder.CreateConstGEP1_64(builder.getInt8Ty(), dispatch, offset));
    load->setMetadata(LLVMContext::MD_invariant_load, nothing);
    load->setMetadata(LLVMContext::MD_noundef, nothing);
    return load;
  };
  SmallVector<Value*, 16> arguments;
  for (uint32_t index : thread.buffers)
    arguments.push_back(field(pointer, offsetof(bessemer_dispatch_t, buffers) + 8 * index));
  arguments.push_back(dispatch);
  arguments.push_back(entry->getArg(3));
  Value *origin[3], *size[3];
  for (int d = 0; d < 3; ++d) {
    origin[d] = field(i32, offsetof(bessemer_dispatch_t, region_origin) + 4 * d);
    size[d] = field(i32, offsetof(bessemer_dispatch_t, region_size) + 4 * d);
  }
  Value* width = builder.CreateZExt(size[0], i64);
  Value* height = builder.CreateZExt(size[1], i64);
  // An empty range may come with an empty region.
  BasicBlock* divide = block("begin");
  builder.CreateCondBr(builder.CreateICmpULT(first, last), divide, done);
  builder.SetInsertPoint(divide);
  Value* rows = builder.CreateUDiv(first, width);
  Value* begin[3] = {builder.CreateTrunc(builder.CreateURem(first, width), i32),
                     builder.CreateTrunc(builder.CreateURem(rows, height), i32),
                     builder.CreateTrunc(builder.CreateUDiv(rows, height), i32)};
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  PHINode* index = builder.CreatePHI(i64, 2);
  index->addIncoming(first, divide);
  PHINode* position[3];
  for (int d = 0; d < 3; ++d) {
    position[d] = builder.CreatePHI(i32, 2);
    position[d]->addIncoming(begin[d], divide);
  }
  Value* place[3];
  for (int d = 0; d < 3; ++d)
    arguments.push_back(place[d] = builder.CreateAdd(origin[d], position[d]));
  if (threads[0]) {
    uint32_t total = threads[0] * threads[1] * threads[2];
    arguments.push_back(builder.getInt32((total + uint32_t(lanes) - 1) / uint32_t(lanes)));
  } else {
    Value* total = builder.getInt32(1);
    for (int d = 0; d < 3; ++d) {
      Value* dispatched =
          field(i32, offsetof(bessemer_dispatch_t, threads_per_threadgroup) + 4 * d);
      Value* grid = field(i32, offsetof(bessemer_dispatch_t, threads_per_grid) + 4 * d);
      Value* left = builder.CreateSub(grid, builder.CreateMul(place[d], dispatched));
      total = builder.CreateMul(total,
                                builder.CreateBinaryIntrinsic(Intrinsic::umin, dispatched, left));
    }
    arguments.push_back(
        builder.CreateUDiv(builder.CreateAdd(total, builder.getInt32(uint32_t(lanes) - 1)),
                           builder.getInt32(uint32_t(lanes))));
  }
  arguments.push_back(entry->getArg(4));
  builder.CreateCall(group.function, arguments);
  builder.CreateBr(next);
  builder.SetInsertPoint(next);
  Value* following = builder.CreateAdd(index, builder.getInt64(1), "", true, true);
  index->addIncoming(following, next);
  // Count up x, carrying into y and z.
  Value* carry = builder.getTrue();
  for (int d = 0; d < 3; ++d) {
    Value* counted = builder.CreateAdd(position[d], builder.CreateZExt(carry, i32));
    Value* wraps = d < 2 ? builder.CreateICmpEQ(counted, size[d]) : builder.getFalse();
    position[d]->addIncoming(
        d < 2 ? builder.CreateSelect(wraps, builder.getInt32(0), counted) : counted, next);
    carry = wraps;
  }
  builder.CreateCondBr(builder.CreateICmpULT(following, last), loop, done);
  builder.SetInsertPoint(done);
  if (vector.has_streaming_stores)
    builder.CreateIntrinsic(builder.getVoidTy(), Intrinsic::x86_sse_sfence, {});
  builder.CreateRetVoid();
  return entry;
}

} // namespace bessemer::metal::cpu
