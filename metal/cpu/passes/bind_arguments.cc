#include "metal/cpu/passes/bind_arguments.h"

#include "metal/compiler/kernel_abi.h"
#include "metal/cpu/analysis/spmd.h"
#include "metal/cpu/passes/inline_calls.h"

#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/ReplaceConstant.h"

#include <cstddef>

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

// Values of a dispatch and of a thread, in 32 bits, at the head of the thread function.
class Positions {
public:
  Positions(IRBuilderBase& builder, Value* dispatch, const uint32_t threads[3])
      : builder_(builder), module_(*builder.GetInsertBlock()->getModule()), dispatch_(dispatch),
        threads_(threads), i32_(builder.getInt32Ty()) {}

  Value* get(air::Builtin builtin, int dimension) {
    using enum air::Builtin;
    switch (builtin) {
    case ThreadPositionInGrid:
      return builder_.CreateAdd(
          builder_.CreateMul(group(dimension), dispatched_threads(dimension), "", true),
          position(dimension), "", true);
    case ThreadPositionInThreadgroup:
      return position(dimension);
    case ThreadgroupPositionInGrid:
      return group(dimension);
    case ThreadsPerGrid:
    case GridSize:
      return field(offsetof(bessemer_dispatch_t, threads_per_grid), dimension);
    case GridOrigin:
      return builder_.getInt32(0);
    case ThreadsPerThreadgroup:
      return threads(dimension);
    case DispatchThreadsPerThreadgroup:
      return dispatched_threads(dimension);
    case ThreadgroupsPerGrid:
      return field(offsetof(bessemer_dispatch_t, threadgroups_per_grid), dimension);
    case ThreadIndexInThreadgroup:
      return thread_index();
    case ThreadIndexInSimdgroup:
      return builder_.CreateAnd(thread_index(), 31);
    case SimdgroupIndexInThreadgroup:
      return builder_.CreateLShr(thread_index(), 5);
    case SimdgroupsPerThreadgroup:
      return rounded_up(total(false), 32);
    case DispatchSimdgroupsPerThreadgroup:
      return rounded_up(total(true), 32);
    case ThreadsPerSimdgroup:
    case ThreadExecutionWidth:
      return builder_.getInt32(32);
    case ThreadIndexInQuadgroup:
      return builder_.CreateAnd(thread_index(), 3);
    case QuadgroupIndexInThreadgroup:
      return builder_.CreateLShr(thread_index(), 2);
    case QuadgroupsPerThreadgroup:
      return rounded_up(total(false), 4);
    case DispatchQuadgroupsPerThreadgroup:
      return rounded_up(total(true), 4);
    }
    return nullptr;
  }

  Value* total(bool dispatched) {
    Value* result = builder_.getInt32(1);
    for (int d = 0; d < 3; ++d)
      result = builder_.CreateMul(result, dispatched ? dispatched_threads(d) : threads(d), "", true,
                                  true);
    return result;
  }

private:
  Value* field(size_t offset, int dimension) {
    Value* place =
        builder_.CreateConstGEP1_64(builder_.getInt8Ty(), dispatch_, offset + 4 * dimension);
    LoadInst* load = builder_.CreateAlignedLoad(i32_, place, Align(4));
    load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(module_.getContext(), {}));
    return load;
  }
  Value* call(StringRef name) { return builder_.CreateCall(spmd::declare(module_, name, i32_)); }
  Value* group(int dimension) {
    StringLiteral names[] = {spmd::group_x, spmd::group_y, spmd::group_z};
    return call(names[dimension]);
  }
  Value* dispatched_threads(int dimension) {
    if (threads_[0])
      return builder_.getInt32(threads_[dimension]);
    return field(offsetof(bessemer_dispatch_t, threads_per_threadgroup), dimension);
  }
  // A threadgroup at the grid's edge may have fewer threads than were dispatched.
  Value* threads(int dimension) {
    if (threads_[0])
      return builder_.getInt32(threads_[dimension]);
    Value* dispatched = dispatched_threads(dimension);
    Value* left =
        builder_.CreateSub(field(offsetof(bessemer_dispatch_t, threads_per_grid), dimension),
                           builder_.CreateMul(group(dimension), dispatched));
    return builder_.CreateBinaryIntrinsic(Intrinsic::umin, dispatched, left);
  }
  Value* rounded_up(Value* count, uint32_t unit) {
    return builder_.CreateUDiv(builder_.CreateAdd(count, builder_.getInt32(unit - 1)),
                               builder_.getInt32(unit));
  }
  Value* thread_index() {
    CallInst* index = cast<CallInst>(call(spmd::thread_index));
    uint32_t limit = threads_[0] ? threads_[0] * threads_[1] * threads_[2] : 1024;
    index->addRangeRetAttr(ConstantRange(APInt(32, 0), APInt(32, limit)));
    return index;
  }
  Value* position(int dimension) {
    if (threads_[0] && threads_[dimension] == 1)
      return builder_.getInt32(0);
    Value* index = thread_index();
    if (dimension > 0)
      index = builder_.CreateUDiv(index, threads(0));
    if (dimension > 1)
      index = builder_.CreateUDiv(index, threads(1));
    bool last =
        dimension == 2 || (threads_[0] && (dimension == 1 || threads_[1] == 1) && threads_[2] == 1);
    return last ? index : builder_.CreateURem(index, threads(dimension));
  }

  IRBuilderBase& builder_;
  Module& module_;
  Value* dispatch_;
  const uint32_t* threads_;
  Type* i32_;
};

// Threadgroup variables are places in one block that the executor provides.
uint32_t place_threadgroup_variables(Module& module, const ThreadFunction& thread) {
  const DataLayout& layout = module.getDataLayout();
  uint64_t size = 0;
  for (GlobalVariable& variable : make_early_inc_range(module.globals())) {
    if (variable.getAddressSpace() != 3)
      continue;
    Constant* constant = &variable;
    convertUsersOfConstantsToInstructions({constant}, thread.function);
    variable.removeDeadConstantUsers();
    bool used = llvm::any_of(variable.users(), [&](const User* user) {
      const auto* instruction = dyn_cast<Instruction>(user);
      return instruction && instruction->getFunction() == thread.function;
    });
    if (!used)
      continue;
    size = alignTo(size, std::max(Align(64), variable.getAlign().valueOrOne()));
    IRBuilder<> builder(&thread.function->getEntryBlock(),
                        thread.function->getEntryBlock().getFirstInsertionPt());
    Value* place =
        builder.CreateConstGEP1_64(builder.getInt8Ty(), thread.threadgroup_memory(), size);
    variable.replaceUsesWithIf(place, [&](Use& use) {
      const auto* instruction = dyn_cast<Instruction>(use.getUser());
      return instruction && instruction->getFunction() == thread.function;
    });
    size += layout.getTypeAllocSize(variable.getValueType());
  }
  return uint32_t(alignTo(size, 16));
}

} // namespace

Value* emit_thread_count(IRBuilderBase& builder, const ThreadFunction& thread,
                         const uint32_t threads[3]) {
  return Positions(builder, thread.dispatch(), threads).total(false);
}

Expected<ThreadFunction> bind_arguments(Module& module, const air::Signature& signature,
                                        const uint32_t threads[3]) {
  LLVMContext& context = module.getContext();
  Function* kernel = signature.function;
  ThreadFunction result;
  for (const air::Argument& argument : signature.arguments) {
    bool is_buffer = argument.kind == air::ArgumentKind::Buffer ||
                     argument.kind == air::ArgumentKind::ArgumentBuffer;
    if (argument.kind == air::ArgumentKind::Texture ||
        argument.kind == air::ArgumentKind::Sampler) {
      if (argument.present && argument.used)
        return createStringError("argument '%s': textures are not supported",
                                 argument.name.c_str());
      continue;
    }
    if (!is_buffer && argument.kind != air::ArgumentKind::Threadgroup)
      continue;
    if (argument.index >= BESSEMER_MAX_BUFFERS)
      return createStringError("argument '%s': index %u is out of range", argument.name.c_str(),
                               argument.index);
    if (is_buffer && argument.present)
      result.buffers.push_back(argument.index);
  }
  llvm::sort(result.buffers);
  result.buffers.erase(std::unique(result.buffers.begin(), result.buffers.end()),
                       result.buffers.end());

  SmallVector<Type*, 8> types(result.buffers.size(), PointerType::get(context, 1));
  types.push_back(PointerType::get(context, 0));
  types.push_back(PointerType::get(context, 3));
  result.function = Function::Create(FunctionType::get(Type::getVoidTy(context), types, false),
                                     GlobalValue::InternalLinkage, "thread", module);
  IRBuilder<> builder(BasicBlock::Create(context, "entry", result.function));
  Positions positions(builder, result.dispatch(), threads);
  SmallVector<Value*, 8> values;
  for (const air::Argument& argument : signature.arguments) {
    Type* type = kernel->getFunctionType()->getParamType(argument.parameter);
    if (argument.kind == air::ArgumentKind::Builtin) {
      auto convert = [&](int dimension) {
        return builder.CreateZExtOrTrunc(positions.get(argument.builtin, dimension),
                                         type->getScalarType());
      };
      if (auto* vector = dyn_cast<FixedVectorType>(type)) {
        Value* value = PoisonValue::get(type);
        for (unsigned d = 0; d < vector->getNumElements(); ++d)
          value = builder.CreateInsertElement(value, convert(int(d)), d);
        values.push_back(value);
      } else {
        values.push_back(convert(0));
      }
      continue;
    }
    if (!type->isPointerTy() || !argument.present || argument.kind == air::ArgumentKind::Texture ||
        argument.kind == air::ArgumentKind::Sampler) {
      values.push_back(Constant::getNullValue(type));
      continue;
    }
    if (argument.kind == air::ArgumentKind::Threadgroup) {
      Value* place = builder.CreateConstGEP1_64(builder.getInt8Ty(), result.dispatch(),
                                                offsetof(bessemer_dispatch_t, threadgroup_offsets) +
                                                    4 * argument.index);
      LoadInst* offset = builder.CreateAlignedLoad(builder.getInt32Ty(), place, Align(4));
      offset->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context, {}));
      values.push_back(builder.CreateGEP(builder.getInt8Ty(), result.threadgroup_memory(),
                                         builder.CreateZExt(offset, builder.getInt64Ty())));
      continue;
    }
    auto position = llvm::find(result.buffers, argument.index) - result.buffers.begin();
    Value* buffer = result.function->getArg(unsigned(position));
    if (type->getPointerAddressSpace() != 1)
      buffer = builder.CreateAddrSpaceCast(buffer, type);
    values.push_back(buffer);
  }
  builder.CreateCall(kernel, values);
  builder.CreateRetVoid();
  if (Error error = inline_calls(*result.function))
    return std::move(error);
  result.threadgroup_bytes = place_threadgroup_variables(module, result);

  // What is left of the module would only cost time. Constructors have run (metal/air).
  if (auto* constructors = module.getNamedGlobal("llvm.global_ctors"))
    constructors->eraseFromParent();
  for (const char* name : {"llvm.compiler.used", "llvm.used"})
    if (auto* used = module.getNamedGlobal(name))
      used->eraseFromParent();
  for (Function& function : make_early_inc_range(module)) {
    if (&function == result.function || function.isDeclaration())
      continue;
    function.replaceAllUsesWith(PoisonValue::get(function.getType()));
    function.eraseFromParent();
  }
  return result;
}

} // namespace bessemer::metal::cpu
