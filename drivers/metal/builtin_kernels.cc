#include "drivers/metal/builtin_kernels.h"

namespace bessemer::metal_driver {
namespace {

constexpr const char kSource[] = R"msl(
#include <metal_stdlib>
using namespace metal;

struct FillArguments {
  ulong length;
  uint pattern;
  uint reserved;
};

// Each thread owns 16 bytes of the range, wherever the range begins.
kernel void fill_bytes(device uchar* target [[buffer(0)]],
                       constant FillArguments& arguments [[buffer(1)]],
                       uint thread_index [[thread_position_in_grid]]) {
  ulong begin = ulong(thread_index) * 16;
  ulong end = min(begin + 16, arguments.length);
  for (ulong i = begin; i < end; ++i)
    target[i] = uchar(arguments.pattern >> ((i & 3) * 8));
}

kernel void copy_bytes(const device uchar* source [[buffer(0)]],
                       device uchar* target [[buffer(1)]],
                       constant ulong& length [[buffer(2)]],
                       uint thread_index [[thread_position_in_grid]]) {
  ulong begin = ulong(thread_index) * 16;
  ulong end = min(begin + 16, length);
  for (ulong i = begin; i < end; ++i)
    target[i] = source[i];
}
)msl";

} // namespace

std::shared_ptr<Pipeline> BuiltinKernels::Get(const char* entry_point,
                                              std::shared_ptr<Pipeline>& pipeline) {
  std::lock_guard lock(mutex_);
  if (!pipeline) {
    LibrarySource library;
    library.contents = std::string_view(kSource, sizeof(kSource) - 1);
    library.language_version = MTL::LanguageVersion3_0;
    FunctionSource function;
    function.entry_point = entry_point;
    pipeline = cache_->Get(library, function);
  }
  return pipeline;
}

} // namespace bessemer::metal_driver
