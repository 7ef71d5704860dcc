#include "metal/msl/scalar_runner.h"

#include "metal/air/intrinsic.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"

#include <array>
#include <cmath>

namespace bessemer::msl {

namespace {

struct Function {
  const char* name;
  void* address;
};

template <typename F>
void* address_of(F* function) {
  return reinterpret_cast<void*>(function);
}

using Unary = float(float);
using Binary = float(float, float);
using Ternary = float(float, float, float);

const Function kFunctions[] = {
    {"air.ceil.f32", address_of<Unary>(::ceilf)},
    {"air.exp.f32", address_of<Unary>(::expf)},
    {"air.fabs.f32", address_of<Unary>(::fabsf)},
    {"air.floor.f32", address_of<Unary>(::floorf)},
    {"air.fma.f32", address_of<Ternary>(::fmaf)},
    {"air.fmax.f32", address_of<Binary>(::fmaxf)},
    {"air.fmin.f32", address_of<Binary>(::fminf)},
    {"air.ldexp.f32", address_of<float(float, int)>(::ldexpf)},
    {"air.pow.f32", address_of<Binary>(::powf)},
    {"air.rint.f32", address_of<Unary>(::rintf)},
    {"air.round.f32", address_of<Unary>(::roundf)},
    {"air.rsqrt.f32", address_of<Unary>([](float x) { return 1.0f / std::sqrt(x); })},
    {"air.sin.f32", address_of<Unary>(::sinf)},
    {"air.cos.f32", address_of<Unary>(::cosf)},
    {"air.sqrt.f32", address_of<Unary>(::sqrtf)},
    {"air.trunc.f32", address_of<Unary>(::truncf)},
};

// Gives the forms for halves and vectors bodies that call the form for one float.
void define_by_element(llvm::Module& module) {
  llvm::Type* single = llvm::Type::getFloatTy(module.getContext());
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    auto intrinsic = air::parse_intrinsic(function.getName());
    if (!function.isDeclaration() || !intrinsic || intrinsic->group != air::OperationGroup::Math)
      continue;
    llvm::Type* type = function.getReturnType();
    if (type == single)
      continue;
    std::string name = ("air." + air::operation_name(intrinsic->operation) + ".f32").str();
    auto scalar_of = [&](llvm::Type* of) {
      return of->getScalarType()->isFloatingPointTy() ? single : of->getScalarType();
    };
    llvm::SmallVector<llvm::Type*, 3> parameters;
    for (llvm::Argument& argument : function.args())
      parameters.push_back(scalar_of(argument.getType()));
    llvm::FunctionCallee scalar = module.getOrInsertFunction(
        name, llvm::FunctionType::get(single, parameters, /*isVarArg=*/false));
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", &function));
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    auto call = [&](int lane) -> llvm::Value* {
      llvm::SmallVector<llvm::Value*, 3> operands;
      for (llvm::Argument& argument : function.args()) {
        llvm::Value* value = vector ? builder.CreateExtractElement(&argument, lane) : &argument;
        if (value->getType()->isFloatingPointTy())
          value = builder.CreateFPExt(value, single);
        operands.push_back(value);
      }
      return builder.CreateFPTrunc(builder.CreateCall(scalar, operands), type->getScalarType());
    };
    if (!vector) {
      builder.CreateRet(call(0));
      continue;
    }
    llvm::Value* result = llvm::PoisonValue::get(type);
    for (unsigned lane = 0; lane < vector->getNumElements(); ++lane)
      result = builder.CreateInsertElement(result, call(static_cast<int>(lane)), lane);
    builder.CreateRet(result);
  }
}

} // namespace

Options ScalarRunner::safe_options() {
  Options options;
  options.math_mode = MathMode::Safe;
  return options;
}

ScalarRunner::ScalarRunner(const std::string& source, Options options) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto context = std::make_unique<llvm::LLVMContext>();
  Compilation compilation = compile(source, options, *context);
  if (!compilation.module) {
    error_ = compilation.diagnostics;
    return;
  }
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit) {
    error_ = llvm::toString(jit.takeError());
    return;
  }
  jit_ = std::move(*jit);
  define_by_element(*compilation.module);
  compilation.module->setTargetTriple(jit_->getTargetTriple());
  compilation.module->setDataLayout(jit_->getDataLayout());
  llvm::orc::SymbolMap symbols;
  for (const Function& function : kFunctions)
    symbols[jit_->mangleAndIntern(function.name)] = {
        llvm::orc::ExecutorAddr::fromPtr(function.address), llvm::JITSymbolFlags::Exported};
  llvm::Error error = jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(symbols));
  if (!error)
    error = jit_->addIRModule(
        llvm::orc::ThreadSafeModule(std::move(compilation.module), std::move(context)));
  if (error)
    error_ = llvm::toString(std::move(error));
}

ScalarRunner::~ScalarRunner() = default;

void ScalarRunner::run(const std::string& kernel, std::initializer_list<void*> arguments) {
  if (!error_.empty())
    return;
  auto symbol = jit_->lookup(kernel);
  if (!symbol) {
    error_ = llvm::toString(symbol.takeError());
    return;
  }
  std::array<void*, 6> pointers{};
  std::copy(arguments.begin(), arguments.end(), pointers.begin());
  // Parameters that the kernel does not have are ignored by the machine's calling convention.
  auto* function = symbol->toPtr<void (*)(void*, void*, void*, void*, void*, void*)>();
  function(pointers[0], pointers[1], pointers[2], pointers[3], pointers[4], pointers[5]);
}

} // namespace bessemer::msl
