#include "metal/cpu/reference/lower.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Utils/Mem2Reg.h"

#include <map>

namespace bessemer::metal::cpu::reference {

using llvm::cast;
using llvm::dyn_cast;
using llvm::IRBuilder;
using llvm::Value;

namespace {

llvm::Error failure(const llvm::Twine& message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

llvm::Expected<Type> typeOf(llvm::Type* type) {
  Type result;
  llvm::Type* element = type;
  if (auto* vector = dyn_cast<llvm::FixedVectorType>(type)) {
    result.elements = static_cast<uint16_t>(vector->getNumElements());
    element = vector->getElementType();
  }
  if (element->isVoidTy())
    return result;
  if (element->isPointerTy())
    result.format = Format::Pointer, result.bits = 64;
  else if (element->isFloatTy())
    result.format = Format::Float, result.bits = 32;
  else if (element->isHalfTy())
    result.format = Format::Half, result.bits = 16;
  else if (element->isBFloatTy())
    result.format = Format::BFloat, result.bits = 16;
  else if (element->isIntegerTy() &&
           (element->getIntegerBitWidth() == 1 ||
            (element->getIntegerBitWidth() >= 8 && element->getIntegerBitWidth() <= 64 &&
             llvm::isPowerOf2_32(element->getIntegerBitWidth()))))
    result.format = Format::Integer,
    result.bits = static_cast<uint8_t>(element->getIntegerBitWidth());
  else
    return failure("an operand of an unexpected type");
  if (result.bytes() > kSlotBytes)
    return failure("an operand of more than 256 bytes");
  return result;
}

// The signs that an intrinsic's name gives belong to its operands or to its result; conversions
// name both, everything else names one type for all.
void applySigns(CallShape& shape) {
  const auto& types = shape.intrinsic.types;
  if (types.empty())
    return;
  const bool last = types.back().sign == 's', first = types.front().sign == 's';
  shape.result.is_signed = shape.intrinsic.group == air::OperationGroup::Convert ? first : last;
  for (unsigned i = 0; i < shape.operand_count; ++i)
    shape.operands[i].is_signed = last;
  // Shifts, lanes and strides beside the values.
  using air::Operation;
  switch (shape.intrinsic.operation) {
  case Operation::SimdShuffleUp:
  case Operation::SimdShuffleDown:
  case Operation::SimdShuffleXor:
  case Operation::SimdShuffle:
  case Operation::SimdBroadcast:
    shape.operands[1].is_signed = false;
    break;
  case Operation::MatrixLoad:
  case Operation::MatrixStore:
  case Operation::Ldexp:
    for (Type& type : shape.operands)
      type.is_signed = true;
    break;
  default:
    break;
  }
}

class Lowering {
public:
  Lowering(llvm::Module& module, bool lockstep)
      : module_(module), context_(module.getContext()), lockstep_(lockstep) {}

  llvm::Expected<LoweredKernel> run(llvm::StringRef function) {
    auto signature = air::read_signature(module_, function);
    if (!signature)
      return signature.takeError();
    kernel_ = signature->function;
    if (auto error = inlineAll())
      return std::move(error);
    stripFastMath();
    if (lockstep_)
      meetAroundStores();
    for (llvm::Function& callee : module_) {
      if (!callee.getName().starts_with("air.") || callee.use_empty())
        continue;
      auto shape = describe(callee);
      if (!shape)
        return shape.takeError();
      shapes_[&callee] = shape->get();
      result_.collective |= isCollective((*shape)->intrinsic.group);
      result_.shapes.push_back(std::move(*shape));
    }
    if (result_.collective)
      collectPositions();
    if (auto error = replaceCalls())
      return std::move(error);
    if (auto error = makeEntry(*signature))
      return std::move(error);
    exportThreadgroupMemory();
    return std::move(result_);
  }

private:
  llvm::Error inlineAll() {
    for (llvm::Function& function : module_) {
      if (function.isDeclaration() || &function == kernel_)
        continue;
      function.removeFnAttr(llvm::Attribute::NoInline);
      function.removeFnAttr(llvm::Attribute::OptimizeNone);
      function.addFnAttr(llvm::Attribute::AlwaysInline);
    }
    kernel_->removeFnAttr(llvm::Attribute::OptimizeNone);
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager sccs;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(sccs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, sccs, modules);
    llvm::ModulePassManager passes;
    passes.addPass(llvm::AlwaysInlinerPass(false));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::PromotePass()));
    passes.run(module_, modules);
    for (llvm::Instruction& instruction : llvm::instructions(kernel_)) {
      auto* call = dyn_cast<llvm::CallBase>(&instruction);
      if (call && call->getCalledFunction() && !call->getCalledFunction()->isDeclaration())
        return failure("the kernel calls '" + call->getCalledFunction()->getName() +
                       "', which cannot be inlined (recursion)");
    }
    return llvm::Error::success();
  }

  // Strict IEEE arithmetic, in the order of the program.
  void stripFastMath() {
    for (llvm::Instruction& instruction : llvm::instructions(kernel_)) {
      if (llvm::isa<llvm::FPMathOperator>(instruction))
        instruction.setFastMathFlags({});
    }
  }

  void meetAroundStores() {
    auto* i32 = llvm::Type::getInt32Ty(context_);
    llvm::FunctionCallee barrier = module_.getOrInsertFunction(
        "air.simdgroup.barrier", llvm::Type::getVoidTy(context_), i32, i32);
    std::vector<llvm::StoreInst*> stores;
    for (llvm::Instruction& instruction : llvm::instructions(kernel_)) {
      auto* store = dyn_cast<llvm::StoreInst>(&instruction);
      if (store && store->getPointerAddressSpace() != 0)
        stores.push_back(store);
    }
    for (llvm::StoreInst* store : stores) {
      IRBuilder<> builder(store);
      builder.CreateCall(barrier, {builder.getInt32(0), builder.getInt32(1)});
      builder.SetInsertPoint(store->getNextNode());
      builder.CreateCall(barrier, {builder.getInt32(0), builder.getInt32(1)});
    }
  }

  llvm::Expected<std::unique_ptr<CallShape>> describe(llvm::Function& callee) {
    auto intrinsic = air::parse_intrinsic(callee.getName());
    if (!intrinsic)
      return failure("the operation '" + callee.getName() + "' is not known");
    auto shape = std::make_unique<CallShape>();
    shape->intrinsic = *intrinsic;
    shape->name = callee.getName().str();
    auto result = typeOf(callee.getReturnType());
    if (!result)
      return result.takeError();
    shape->result = *result;
    if (callee.arg_size() > shape->operands.size())
      return failure("the operation '" + callee.getName() + "' has too many operands");
    for (llvm::Argument& argument : callee.args()) {
      auto type = typeOf(argument.getType());
      if (!type)
        return type.takeError();
      shape->operands[shape->operand_count++] = *type;
    }
    applySigns(*shape);
    if (!isKnown(*shape))
      return failure("the operation '" + callee.getName() + "' is not known to the reference");
    return shape;
  }

  // Where each collective call stands: see threads.h.
  void collectPositions() {
    llvm::DominatorTree dominators(*kernel_);
    llvm::LoopInfo loops(dominators);
    std::map<const llvm::BasicBlock*, uint32_t> order;
    uint32_t next = 0;
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(kernel_))
      order[block] = next++;
    auto* i32 = llvm::Type::getInt32Ty(context_);
    std::map<const llvm::Loop*, Value*> counters;
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      llvm::BasicBlock* header = loop->getHeader();
      auto* phi = llvm::PHINode::Create(i32, 2, "round", header->begin());
      IRBuilder<> builder(header, header->getFirstInsertionPt());
      Value* more = builder.CreateAdd(phi, builder.getInt32(1));
      for (llvm::BasicBlock* before : llvm::predecessors(header))
        phi->addIncoming(loop->contains(before) ? more : builder.getInt32(0), before);
      counters[loop] = phi;
    }
    for (llvm::BasicBlock& block : *kernel_) {
      uint32_t place = 0;
      for (llvm::Instruction& instruction : block) {
        auto* call = dyn_cast<llvm::CallInst>(&instruction);
        auto shape = call ? shapes_.find(call->getCalledFunction()) : shapes_.end();
        if (shape == shapes_.end() || !isCollective(shape->second->intrinsic.group))
          continue;
        std::vector<const llvm::Loop*> nest;
        for (const llvm::Loop* loop = loops.getLoopFor(&block); loop; loop = loop->getParentLoop())
          nest.insert(nest.begin(), loop);
        std::vector<Value*>& position = positions_[call];
        auto number = [&](uint32_t value) { return llvm::ConstantInt::get(i32, value); };
        for (const llvm::Loop* loop : nest) {
          position.push_back(number(order[loop->getHeader()]));
          position.push_back(counters[loop]);
        }
        position.push_back(number(order[&block]));
        position.push_back(number(place++));
      }
    }
  }

  llvm::Error replaceCalls() {
    auto* pointer = llvm::PointerType::getUnqual(context_);
    auto* i32 = llvm::Type::getInt32Ty(context_);
    auto* invoke_type = llvm::FunctionType::get(llvm::Type::getVoidTy(context_),
                                                {pointer, pointer, pointer, pointer, i32}, false);
    llvm::FunctionCallee invoke = module_.getOrInsertFunction(kInvokeSymbol, invoke_type);
    std::vector<llvm::CallInst*> calls;
    size_t longest = 1;
    for (llvm::Instruction& instruction : llvm::instructions(kernel_)) {
      if (auto* call = dyn_cast<llvm::CallInst>(&instruction);
          call && shapes_.contains(call->getCalledFunction())) {
        calls.push_back(call);
        longest = std::max(longest, positions_[call].size());
      }
    }
    // One set of slots for all calls of a thread: they live on its stack.
    IRBuilder<> entry(&kernel_->getEntryBlock(), kernel_->getEntryBlock().getFirstInsertionPt());
    auto* slot = llvm::ArrayType::get(llvm::Type::getInt8Ty(context_), kSlotBytes);
    auto slots = [&](llvm::Type* type, const char* name) {
      auto* memory = entry.CreateAlloca(type, nullptr, name);
      memory->setAlignment(llvm::Align(64));
      return memory;
    };
    Value* operands = slots(llvm::ArrayType::get(slot, 8), "operands");
    Value* result = slots(slot, "result");
    Value* position = slots(llvm::ArrayType::get(i32, longest), "position");
    for (llvm::CallInst* call : calls) {
      const CallShape& shape = *shapes_[call->getCalledFunction()];
      IRBuilder<> builder(call);
      for (unsigned i = 0; i < call->arg_size(); ++i)
        storeValue(builder, call->getArgOperand(i),
                   builder.CreateConstInBoundsGEP1_64(slot, operands, i));
      const std::vector<Value*>& where = positions_[call];
      for (unsigned i = 0; i < where.size(); ++i)
        builder.CreateStore(where[i], builder.CreateConstInBoundsGEP1_64(i32, position, i));
      Value* address =
          builder.CreateIntToPtr(builder.getInt64(reinterpret_cast<uintptr_t>(&shape)), pointer);
      builder.CreateCall(invoke, {address, operands, result, position,
                                  builder.getInt32(static_cast<uint32_t>(where.size()))});
      if (!call->getType()->isVoidTy())
        call->replaceAllUsesWith(loadValue(builder, call->getType(), result));
      call->eraseFromParent();
    }
    return llvm::Error::success();
  }

  // Truth values are kept a byte each, also in vectors; matrices are dense.
  static llvm::Type* storedType(llvm::Type* type) {
    if (!type->getScalarType()->isIntegerTy(1))
      return type;
    return type->getWithNewType(llvm::Type::getInt8Ty(type->getContext()));
  }
  static void storeValue(IRBuilder<>& builder, Value* value, Value* target) {
    llvm::Type* stored = storedType(value->getType());
    if (stored != value->getType())
      value = builder.CreateZExt(value, stored);
    builder.CreateAlignedStore(value, target, llvm::Align(1));
  }
  static Value* loadValue(IRBuilder<>& builder, llvm::Type* type, Value* source) {
    llvm::Type* stored = storedType(type);
    Value* value = builder.CreateAlignedLoad(stored, source, llvm::Align(1));
    return stored == type ? value : builder.CreateTrunc(value, type);
  }

  llvm::Error makeEntry(const air::Signature& signature) {
    auto* pointer = llvm::PointerType::getUnqual(context_);
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context_), {pointer}, false);
    result_.entry = "bessemer_reference_entry";
    auto* entry =
        llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, result_.entry, module_);
    IRBuilder<> builder(llvm::BasicBlock::Create(context_, "entry", entry));
    Value* arguments = entry->getArg(0);
    auto field = [&](size_t offset) {
      return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), arguments, offset);
    };
    std::vector<Value*> values(kernel_->arg_size());
    for (const air::Argument& argument : signature.arguments) {
      llvm::Type* parameter = kernel_->getArg(argument.parameter)->getType();
      Value* value = llvm::Constant::getNullValue(parameter);
      if (argument.present) {
        switch (argument.kind) {
        case air::ArgumentKind::Buffer:
        case air::ArgumentKind::ArgumentBuffer:
        case air::ArgumentKind::Threadgroup: {
          if (argument.index >= kMaxBuffers)
            return failure("argument '" + argument.name + "' has an index over 30");
          const bool local = argument.kind == air::ArgumentKind::Threadgroup;
          if (!local)
            result_.used_buffers |= 1u << argument.index;
          value =
              builder.CreateLoad(parameter, field((local ? offsetof(ThreadArguments, threadgroup)
                                                         : offsetof(ThreadArguments, buffers)) +
                                                  8 * argument.index));
          break;
        }
        case air::ArgumentKind::Builtin: {
          const size_t offset =
              offsetof(ThreadArguments, builtins) + 12 * static_cast<size_t>(argument.builtin);
          llvm::Type* element = parameter->getScalarType();
          for (unsigned i = 0; i < (parameter->isVectorTy()
                                        ? cast<llvm::FixedVectorType>(parameter)->getNumElements()
                                        : 1);
               ++i) {
            Value* number = builder.CreateZExtOrTrunc(
                builder.CreateLoad(builder.getInt32Ty(), field(offset + 4 * i)), element);
            value =
                parameter->isVectorTy() ? builder.CreateInsertElement(value, number, i) : number;
          }
          break;
        }
        default:
          return failure("argument '" + argument.name + "' is a texture or a sampler");
        }
      }
      values[argument.parameter] = value;
    }
    auto* call = builder.CreateCall(kernel_, values);
    call->setCallingConv(kernel_->getCallingConv());
    builder.CreateRetVoid();
    return llvm::Error::success();
  }

  void exportThreadgroupMemory() {
    for (llvm::GlobalVariable& variable : module_.globals()) {
      if (variable.getAddressSpace() != 3 || variable.isDeclaration())
        continue;
      const std::string name =
          "bessemer_reference_threadgroup_" + std::to_string(result_.threadgroup_memory.size());
      variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
      variable.setName(name);
      variable.setConstant(false);
      variable.setInitializer(llvm::Constant::getNullValue(variable.getValueType()));
      result_.threadgroup_memory.emplace_back(
          name, module_.getDataLayout().getTypeAllocSize(variable.getValueType()));
    }
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  bool lockstep_;
  llvm::Function* kernel_ = nullptr;
  std::map<const llvm::Function*, CallShape*> shapes_;
  std::map<const llvm::CallInst*, std::vector<Value*>> positions_;
  LoweredKernel result_;
};

} // namespace

llvm::Expected<LoweredKernel> lower(llvm::Module& module, llvm::StringRef function, bool lockstep) {
  return Lowering(module, lockstep).run(function);
}

} // namespace bessemer::metal::cpu::reference
