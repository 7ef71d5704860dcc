#include "tools/compiler_failures.h"

#include <cstring>

namespace bessemer::tools {

namespace {

struct Failure {
  std::string_view text; // what the diagnostics hold
  const char* meaning;
};

// Seen with iree-base-compiler 3.13.0.
constexpr Failure kFailures[] = {
    {"Capability 'DotProduct' requires min version",
     "an int8 product accumulated in int32 whose inner size is a multiple of 4: the compiler picks "
     "an instruction that its Metal target lacks; widen the operands to int16 or f32, or pad the "
     "inner dimension off a multiple of 4"},
    {"GPUDistributeSharedMemoryCopy",
     "the compiler crashed while distributing copies (known for programs that sort, take a median "
     "and search at once); split the program"},
    {"failed to legalize operation 'stablehlo.dynamic_",
     "shapes with several unknowns that the front end cannot resolve; export with fixed shapes, or "
     "with one unknown dimension"},
    {"failed to legalize operation 'torch",
     "an ONNX or PyTorch operator that the compiler's front end does not take for these types; "
     "rewrite it with simpler operators before exporting"},
    {"inferred input/output operand",
     "the shapes that an operator implies contradict each other (known for ONNX models with If); "
     "simplify the model with fixed input shapes (onnxsim) first"},
    {"failed to legalize operation 'arith.constant'",
     "Metal has no 64-bit floating point; leave --iree-input-demote-f64-to-f32 at its default"},
    {"No module named 'onnx'",
     "iree-import-onnx needs the Python package onnx beside iree-base-compiler: pip install onnx"},
};

} // namespace

std::string explainCompilerFailure(std::string_view diagnostics, int signal) {
  for (const Failure& failure : kFailures)
    if (diagnostics.find(failure.text) != diagnostics.npos)
      return failure.meaning;
  if (signal != 0)
    return std::string("the compiler crashed (") + strsignal(signal) + "); its own stack is above";
  return {};
}

} // namespace bessemer::tools
