#include "metal/cpu/codegen/codegen.h"

#include "metal/air/module.h"
#include "metal/air/signature.h"
#include "metal/cpu/analysis/divergence.h"
#include "metal/cpu/analysis/spmd.h"
#include "metal/cpu/builtins/library.h"
#include "metal/cpu/codegen/entry.h"
#include "metal/cpu/codegen/optimize.h"
#include "metal/cpu/codegen/target.h"
#include "metal/cpu/codegen/width.h"
#include "metal/cpu/passes/bind_arguments.h"
#include "metal/cpu/passes/inline_calls.h"
#include "metal/cpu/passes/linearize.h"
#include "metal/cpu/passes/lower_operations.h"
#include "metal/cpu/passes/main_loops.h"
#include "metal/cpu/passes/match_dot_products.h"
#include "metal/cpu/passes/merge_loads.h"
#include "metal/cpu/passes/normalize.h"
#include "metal/cpu/passes/private_arrays.h"
#include "metal/cpu/passes/split_barriers.h"
#include "metal/cpu/passes/vectorize.h"
#include "metal/cpu/passes/whole_matrices.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

class KernelCompiler {
public:
  KernelCompiler(std::unique_ptr<Module> module, const KernelOptions& options)
      : module_(std::move(module)), options_(options) {}

  Expected<CompiledKernel> run() {
    Expected<Target> target = get_target(options_);
    if (!target)
      return target.takeError();
    target_ = *target;
    for (uint32_t threads : options_.threads)
      if ((threads == 0) != (options_.threads[0] == 0) || threads > 1024)
        return createStringError("a threadgroup of %u x %u x %u threads is not possible",
                                 options_.threads[0], options_.threads[1], options_.threads[2]);
    total_ = options_.threads[0] * options_.threads[1] * options_.threads[2];
    if (Error error = make_thread())
      return std::move(error);
    clock_.stage("scalar");
    if (Error error = make_vector())
      return std::move(error);
    clock_.stage("vectorize");
    Function* entry = make_threadgroup();
    clock_.stage("split");
    if (Error error = verify(*entry->getParent(), "the vector code"))
      return std::move(error);
    if (options_.output == KernelOutput::Summary) {
      result_.stages = clock_.take();
      return std::move(result_);
    }
    optimize(*module_, *entry, target_);
    name_source(*entry);
    clock_.stage("optimize");
    if (Error error = emit())
      return std::move(error);
    clock_.stage("emit");
    result_.stages = clock_.take();
    return std::move(result_);
  }

private:
  // A defect of ours must end as an error, never as wrong code.
  Error verify(Module& module, const char* what) {
    std::string message;
    raw_string_ostream stream(message);
    if (!verifyModule(module, &stream))
      return Error::success();
    return createStringError("internal error: %s is not valid: %s", what,
                             StringRef(message).split('\n').first.str().c_str());
  }

  Error make_thread() {
    air::normalise(*module_, target_.machine->getTargetTriple().str(),
                   target_.machine->createDataLayout().getStringRepresentation());
    Expected<air::Signature> signature = air::read_signature(*module_, options_.function);
    if (NamedMDNode* compile_options = module_->getNamedMetadata("air.compile_options"))
      for (const MDNode* option : compile_options->operands())
        if (option->getNumOperands())
          if (const auto* name = dyn_cast<MDString>(option->getOperand(0)))
            result_.flush_denormals |= name->getString() == "air.compile.denorms_disable";
    if (!signature)
      return signature.takeError();
    if (signature->kind != air::FunctionKind::Kernel)
      return createStringError("function '%s' is not a kernel", options_.function.c_str());
    subprogram_ = module_->getFunction(options_.function)->getSubprogram();
    Expected<ThreadFunction> thread = bind_arguments(*module_, *signature, options_.threads.data());
    if (!thread)
      return thread.takeError();
    thread_ = *thread;
    Function& function = *thread_.function;
    set_target_attributes(function, target_);
    result_.threadgroup_bytes = thread_.threadgroup_bytes;
    for (unsigned i = 0; i < thread_.buffers.size(); ++i)
      if (!function.getArg(i)->use_empty())
        result_.used_buffers |= 1u << thread_.buffers[i];

    AnalysisManagers managers(target_);
    FunctionAnalysisManager& analyses = managers.functions;
    promote_memory(function, analyses);
    if (Error error = lower_operations(function))
      return error;
    if (Error error = link_builtins(*module_))
      return error;
    if (Error error = inline_calls(function))
      return error;
    for (Function& other : make_early_inc_range(*module_))
      if (&other != &function && !other.isDeclaration() && other.use_empty())
        other.eraseFromParent();
    analyses.invalidate(function, PreservedAnalyses::none());
    if (Error error = simplify_thread(function, analyses))
      return error;
    lanes_ = choose_lanes(function, options_, target_.traits);
    ShapeAnalysis shapes(function, lanes_, options_.threads.data());
    shapes.run();
    merge_loads(function, shapes);
    if (target_.traits.has_dot_products)
      match_dot_products(function);
    Expected<uint64_t> private_bytes = place_private_arrays(function, lanes_);
    if (!private_bytes)
      return private_bytes.takeError();
    private_bytes_ = *private_bytes;
    return normalize_control_flow(function, analyses);
  }

  Error make_vector() {
    Function& function = *thread_.function;
    // The last vector of a threadgroup may have lanes without a thread.
    Value* active = nullptr;
    if (!total_ || total_ % uint32_t(lanes_)) {
      IRBuilder<> builder(&function.getEntryBlock(),
                          function.getEntryBlock().getFirstInsertionPt());
      Value* index =
          builder.CreateCall(spmd::declare(*module_, spmd::thread_index, builder.getInt32Ty()));
      active = builder.CreateICmpULT(index,
                                     emit_thread_count(builder, thread_, options_.threads.data()));
    }
    DenseSet<const BasicBlock*> full_loops;
    for (bool copied = false, whole = false;;) {
      DominatorTree dominators(function);
      LoopInfo loops(dominators);
      Expected<std::unique_ptr<Divergence>> divergence =
          Divergence::analyse(function, loops, lanes_, options_.threads.data());
      if (!divergence)
        return divergence.takeError();
      if (!whole && use_whole_matrices(function, loops, **divergence)) {
        whole = true;
        continue;
      }
      if (!copied && add_main_loops(function, loops, **divergence, full_loops)) {
        copied = true;
        continue;
      }
      linearize(function, loops, **divergence, active, full_loops);
      break;
    }
    if (Error error = verify(*module_, "the linear code"))
      return error;
    Expected<VectorFunction> vector =
        vectorize(thread_, vectorize_options(target_.traits, lanes_, options_.threads));
    if (!vector)
      return vector.takeError();
    vector_ = *vector;
    set_target_attributes(*vector_.function, target_);
    thread_.function->dropAllReferences();
    thread_.function->replaceAllUsesWith(PoisonValue::get(thread_.function->getType()));
    thread_.function->eraseFromParent();
    thread_.function = nullptr;
    return verify(*module_, "the vector function");
  }

  Function* make_threadgroup() {
    unsigned vectors = total_ ? (total_ + unsigned(lanes_) - 1) / unsigned(lanes_) : 0;
    if (vector_.barrier_count)
      simplify_vector(*vector_.function, target_);
    GroupFunction group =
        split_barriers(vector_, vectors, private_bytes_, options_.distinct_buffers);
    Function* entry = make_entry(*module_, symbol_name(), thread_, vector_, group, lanes_,
                                 options_.threads.data());
    result_.entry = entry->getName();
    for (Function& function : *module_)
      if (!function.isDeclaration())
        set_target_attributes(function, target_);
    result_.frame_bytes = group.record_bytes * (vectors && vector_.barrier_count ? vectors : 1);
    result_.lanes = uint32_t(lanes_);
    result_.needs_distinct_buffers = options_.distinct_buffers;
    return entry;
  }

  // The kernel's own name, for debuggers and profilers, unless the code generator would take the
  // function for a library's that it knows.
  std::string symbol_name() const {
    TargetLibraryInfoImpl library(target_.machine->getTargetTriple());
    LibFunc known;
    if (StringRef(options_.function).starts_with("__") ||
        library.getLibFunc(options_.function, known))
      return options_.function + ".kernel";
    return options_.function;
  }

  // Line tables. All functions on the way had none, so that inlining left the locations alone; they
  // are those of the kernel, which `entry` now is.
  void name_source(Function& entry) {
    if (!subprogram_)
      return;
    entry.setSubprogram(subprogram_);
    bool broken = false;
    if (verifyModule(*module_, nullptr, &broken) || broken)
      StripDebugInfo(*module_);
  }

  Error emit() {
    SmallVector<char, 0> output;
    raw_svector_ostream stream(output);
    if (options_.output == KernelOutput::VectorIr) {
      module_->print(stream, nullptr);
    } else {
      legacy::PassManager passes;
      auto type = options_.output == KernelOutput::Object ? CodeGenFileType::ObjectFile
                                                          : CodeGenFileType::AssemblyFile;
      if (target_.machine->addPassesToEmitFile(passes, stream, nullptr, type))
        return createStringError("the target cannot write such files");
      passes.run(*module_);
    }
    result_.bytes.assign(output.begin(), output.end());
    return Error::success();
  }

  std::unique_ptr<Module> module_;
  const KernelOptions& options_;
  Target target_;
  uint32_t total_ = 0; // threads of a threadgroup; 0: known only at run time
  int lanes_ = 32;
  uint64_t private_bytes_ = 0;
  ThreadFunction thread_;
  VectorFunction vector_;
  CompiledKernel result_;
  air::StageClock clock_;
  DISubprogram* subprogram_ = nullptr; // of the kernel, when the AIR has line tables
};

} // namespace

Expected<CompiledKernel> compile_kernel(std::unique_ptr<Module> air, const KernelOptions& options) {
  Expected<CompiledKernel> result = KernelCompiler(std::move(air), options).run();
  if (result)
    return result;
  return createStringError("kernel '%s': %s", options.function.c_str(),
                           toString(result.takeError()).c_str());
}

} // namespace bessemer::metal::cpu
