// pass_tool FILE.ll --passes=NAME,NAME,... [--lanes=N] [--threads=X,Y,Z] [--cpu=NAME]
// Runs passes of the CPU back end, in the order given, on every function that FILE defines and
// prints the module; print-shapes and print-divergence print what the analyses know instead. For
// the FileCheck tests beside the passes: see bessemer_filecheck in cmake/Bessemer.cmake.
//
// The functions are thread functions, void (buffers..., ptr dispatch, ptr threadgroup memory), or,
// where the first pass is bind-arguments, the kernels of an AIR module.
#include "metal/air/module.h"
#include "metal/air/signature.h"
#include "metal/cpu/analysis/divergence.h"
#include "metal/cpu/analysis/spmd.h"
#include "metal/cpu/builtins/library.h"
#include "metal/cpu/codegen/optimize.h"
#include "metal/cpu/codegen/target.h"
#include "metal/cpu/passes/bind_arguments.h"
#include "metal/cpu/passes/inline_calls.h"
#include "metal/cpu/passes/linearize.h"
#include "metal/cpu/passes/lower_matrices.h"
#include "metal/cpu/passes/lower_operations.h"
#include "metal/cpu/passes/main_loops.h"
#include "metal/cpu/passes/match_dot_products.h"
#include "metal/cpu/passes/merge_loads.h"
#include "metal/cpu/passes/normalize.h"
#include "metal/cpu/passes/order_loads.h"
#include "metal/cpu/passes/private_arrays.h"
#include "metal/cpu/passes/split_barriers.h"
#include "metal/cpu/passes/split_vectors.h"
#include "metal/cpu/passes/vectorize.h"
#include "metal/cpu/passes/whole_matrices.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace bessemer;
using namespace bessemer::metal;
using namespace bessemer::metal::cpu;

namespace {

// "varying", "uniform", or the pieces and offsets in words.
void print_shape(const Shape& shape, int lanes) {
  if (shape.is_unknown() || shape.is_varying()) {
    outs() << (shape.is_unknown() ? "unknown" : "varying");
    return;
  }
  if (shape.group == lanes)
    outs() << (shape.offsets.empty() ? "uniform" : "one base");
  else
    outs() << "a base for each " << shape.group << " lanes";
  if (!shape.offsets.empty()) {
    const int64_t step = shape.offset(1) - shape.offset(0);
    bool strided = true;
    for (int lane = 1; lane < lanes; ++lane)
      strided &= shape.offset(lane) == shape.offset(0) + lane * step;
    if (strided) {
      outs() << ", step " << step;
      if (shape.offset(0))
        outs() << " from " << shape.offset(0);
    } else {
      outs() << ", offsets";
      for (int64_t offset : shape.offsets)
        outs() << " " << offset;
    }
  }
  if (shape.align == Shape::max_align)
    outs() << ", base zero";
  else if (shape.align)
    outs() << ", base a multiple of " << (int64_t(1) << shape.align);
}

class Tool {
public:
  Tool(Module& module, const cpu::Target& target, int lanes, const std::array<uint32_t, 3>& threads)
      : module_(module), target_(target), managers_(target), lanes_(lanes), threads_(threads) {}

  /// False: the output is already printed.
  Expected<bool> run(StringRef passes) {
    SmallVector<StringRef, 8> names;
    passes.split(names, ',', -1, false);
    SmallVector<Function*, 4> functions;
    if (!names.empty() && names.front() == "bind-arguments") {
      air::normalise(module_, target_.machine->getTargetTriple().str(),
                     target_.machine->createDataLayout().getStringRepresentation());
      SmallVector<std::string, 4> kernels;
      if (NamedMDNode* list = module_.getNamedMetadata("air.kernel"))
        for (const MDNode* kernel : list->operands())
          if (auto* function = mdconst::dyn_extract_or_null<Function>(kernel->getOperand(0)))
            kernels.push_back(function->getName().str());
      for (const std::string& kernel : kernels) {
        Expected<air::Signature> signature = air::read_signature(module_, kernel);
        if (!signature)
          return signature.takeError();
        Expected<ThreadFunction> thread = bind_arguments(module_, *signature, threads_.data());
        if (!thread)
          return thread.takeError();
        threads_functions_.push_back(*thread);
        functions.push_back(thread->function);
      }
      names.erase(names.begin());
    } else {
      module_.setTargetTriple(target_.machine->getTargetTriple());
      module_.setDataLayout(target_.machine->createDataLayout());
      for (Function& function : module_) {
        if (function.isDeclaration())
          continue;
        ThreadFunction thread;
        thread.function = &function;
        for (unsigned i = 0; i + 2 < function.arg_size(); ++i)
          thread.buffers.push_back(i);
        threads_functions_.push_back(std::move(thread));
        functions.push_back(&function);
      }
    }
    bool print = true;
    for (const ThreadFunction& thread : threads_functions_) {
      thread_ = thread;
      function_ = thread.function;
      private_bytes_ = 0;
      full_.clear();
      for (StringRef name : names) {
        if (name.starts_with("print-"))
          print = false;
        if (Error error = run_one(name))
          return createStringError("%s, function '%s': %s", name.str().c_str(),
                                   function_->getName().str().c_str(),
                                   toString(std::move(error)).c_str());
      }
    }
    return print;
  }

private:
  Error run_one(StringRef name) {
    FunctionAnalysisManager& analyses = managers_.functions;
    analyses.invalidate(*function_, PreservedAnalyses::none());
    if (name == "promote-memory") {
      promote_memory(*function_, analyses);
      return Error::success();
    }
    if (name == "lower-operations")
      return lower_operations(*function_);
    if (name == "lower-matrices")
      return lower_matrices(*function_);
    if (name == "link-builtins")
      return link_builtins(module_);
    if (name == "inline-calls")
      return inline_calls(*function_);
    if (name == "simplify-thread")
      return simplify_thread(*function_, analyses);
    if (name == "normalize")
      return normalize_control_flow(*function_, analyses);
    if (name == "private-arrays") {
      Expected<uint64_t> bytes = place_private_arrays(*function_, lanes_);
      if (!bytes)
        return bytes.takeError();
      private_bytes_ = *bytes;
      return Error::success();
    }
    if (name == "merge-loads") {
      ShapeAnalysis shapes(*function_, lanes_, threads_.data());
      shapes.run();
      merge_loads(*function_, shapes);
      return Error::success();
    }
    if (name == "match-dot-products") {
      match_dot_products(*function_);
      return Error::success();
    }
    if (name == "vectorize")
      return make_vector();
    if (name == "split-barriers") {
      const uint32_t total = threads_[0] * threads_[1] * threads_[2];
      split_barriers(vector_, total ? (total + uint32_t(lanes_) - 1) / uint32_t(lanes_) : 0,
                     private_bytes_, false);
      return Error::success();
    }
    // On functions of vectors, 16 lanes of which fit a register.
    if (name == "split-vectors") {
      split_vectors(*function_, 16);
      return Error::success();
    }
    if (name == "order-loads") {
      order_loads(*function_, 28);
      return Error::success();
    }
    return run_analysis(name);
  }

  // What needs to know where lanes diverge.
  Error run_analysis(StringRef name) {
    DominatorTree dominators(*function_);
    LoopInfo loops(dominators);
    Expected<std::unique_ptr<Divergence>> divergence =
        Divergence::analyse(*function_, loops, lanes_, threads_.data());
    if (!divergence)
      return divergence.takeError();
    if (name == "main-loops") {
      add_main_loops(*function_, loops, **divergence, full_);
    } else if (name == "linearize") {
      linearize(*function_, loops, **divergence, nullptr, full_);
    } else if (name == "whole-matrices") {
      use_whole_matrices(*function_, loops, **divergence);
    } else if (name == "print-shapes") {
      print_shapes((*divergence)->shapes());
    } else if (name == "print-divergence") {
      print_divergence(loops, **divergence);
    } else {
      return createStringError("no such pass");
    }
    return Error::success();
  }

  void print_shapes(const ShapeAnalysis& shapes) {
    outs() << "shapes of '" << function_->getName() << "'\n";
    for (const BasicBlock& block : *function_)
      for (const Instruction& instruction : block) {
        if (!instruction.hasName())
          continue;
        outs() << "%" << instruction.getName() << ": ";
        print_shape(shapes.shape(&instruction), lanes_);
        outs() << "\n";
      }
  }

  void print_scope(const Scope& scope, const Divergence& divergence) {
    outs() << (scope.loop ? "loop '" + scope.loop->getHeader()->getName().str() + "'"
                          : "function '" + function_->getName().str() + "'")
           << (scope.divergent ? ": lanes leave in different iterations" : "") << "\n";
    for (const ScopeNode& node : scope.nodes) {
      outs() << "  " << node.block->getName();
      if (node.loop)
        outs() << ", loop '" << node.loop->getHeader()->getName() << "'";
      if (node.is_masked())
        outs() << ", masked from '" << scope.nodes[size_t(node.root)].block->getName() << "'";
      if (node.masked_branch)
        outs() << ", masked branch";
      outs() << "\n";
      for (const PHINode& phi : node.block->phis())
        if (divergence.is_blended(phi))
          outs() << "    %" << phi.getName() << " is blended\n";
    }
  }

  void print_divergence(LoopInfo& loops, const Divergence& divergence) {
    print_scope(divergence.scope(nullptr), divergence);
    for (Loop* loop : loops.getLoopsInPreorder())
      print_scope(divergence.scope(loop), divergence);
  }

  Error make_vector() {
    Expected<VectorFunction> vector =
        vectorize(thread_, vectorize_options(target_.traits, lanes_, threads_));
    if (!vector)
      return vector.takeError();
    vector_ = *vector;
    // What is printed is the vector function alone.
    function_->dropAllReferences();
    function_->replaceAllUsesWith(PoisonValue::get(function_->getType()));
    function_->eraseFromParent();
    function_ = vector_.function;
    return Error::success();
  }

  Module& module_;
  const cpu::Target& target_;
  AnalysisManagers managers_;
  int lanes_;
  std::array<uint32_t, 3> threads_;
  SmallVector<ThreadFunction, 4> threads_functions_;
  ThreadFunction thread_;
  VectorFunction vector_;
  Function* function_ = nullptr;
  uint64_t private_bytes_ = 0;
  DenseSet<const BasicBlock*> full_;
};

int fail(const Twine& message) {
  errs() << "error: " << message << "\n";
  return 1;
}

} // namespace

int main(int argc, char** argv) {
  std::string file, passes;
  KernelOptions options;
  options.triple = "x86_64-unknown-linux-gnu";
  options.cpu = "x86-64-v4";
  int lanes = 32;
  std::array<uint32_t, 3> threads = {0, 0, 0};
  for (int i = 1; i < argc; ++i) {
    StringRef argument = argv[i];
    if (argument.consume_front("--passes=")) {
      passes = argument.str();
    } else if (argument.consume_front("--cpu=")) {
      options.cpu = argument.str();
    } else if (argument.consume_front("--lanes=")) {
      if (argument.getAsInteger(10, lanes) || lanes < 1)
        return fail("'" + argument + "' is no number of lanes");
    } else if (argument.consume_front("--threads=")) {
      SmallVector<StringRef, 3> parts;
      argument.split(parts, ',');
      threads = {1, 1, 1};
      for (size_t d = 0; d < parts.size() && d < 3; ++d)
        if (parts[d].getAsInteger(10, threads[d]))
          return fail("'" + argument + "' is no size of a threadgroup");
    } else if (file.empty() && !argument.starts_with("--")) {
      file = argument.str();
    } else {
      return fail("'" + argument + "' is not understood");
    }
  }
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseIRFile(file, diagnostic, context);
  if (!module) {
    diagnostic.print("pass_tool", errs());
    return 1;
  }
  Expected<cpu::Target> target = get_target(options);
  if (!target)
    return fail(toString(target.takeError()));
  Expected<bool> print = Tool(*module, *target, lanes, threads).run(passes);
  if (!print)
    return fail(toString(print.takeError()));
  if (*print) {
    if (verifyModule(*module, &errs()))
      return fail("the module that the passes leave is not valid");
    module->print(outs(), nullptr);
  }
  return 0;
}
