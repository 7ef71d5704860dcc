#include "metal/cpu/executor/pipeline.h"

#include <bit>

#include "metal/cpu/executor/variant.h"

namespace bessemer::metal::cpu {

Pipeline::Pipeline(CompilerService& compiler, PipelineDescriptor descriptor)
    : compiler_(compiler), descriptor_(std::move(descriptor)) {}
Pipeline::~Pipeline() = default;

Expected<std::shared_ptr<Pipeline>> Pipeline::create(CompilerService& compiler,
                                                     PipelineDescriptor descriptor) {
  std::shared_ptr<Pipeline> pipeline(new Pipeline(compiler, std::move(descriptor)));
  if (Expected<void> found = pipeline->find_function(); !found)
    return std::unexpected(std::move(found.error()));
  // Of the code for any size: the size is not known before the first dispatch.
  const Expected<KernelTable> summary = compiler.summarise_kernel(pipeline->request({}, true));
  if (!summary)
    return failure("kernel '" + pipeline->name() + "': " + summary.error().message);
  pipeline->threadgroup_bytes_ = (*summary)->threadgroup_bytes();
  pipeline->used_buffers_ = (*summary)->used_buffers();
  return pipeline;
}

Expected<void> Pipeline::find_function() {
  const metal::Library& library = *descriptor_.library;
  // Not LookupByKey: a file need not be sorted.
  if (library.functions())
    for (const metal::Function* function : *library.functions())
      if (function->name()->string_view() == descriptor_.function)
        function_ = function;
  if (!function_)
    return failure("the library has no function '" + descriptor_.function + "'");
  if (!library.modules() || function_->module_() >= library.modules()->size())
    return failure("function '" + descriptor_.function + "' has no code in its library");
  const auto* bitcode = library.modules()->Get(function_->module_())->bitcode();
  bitcode_ = {bitcode->data(), bitcode->size()};
  if (function_->arguments())
    for (const metal::Argument* argument : *function_->arguments()) {
      const bool buffer = argument->kind() == metal::ArgumentKind::Buffer ||
                          argument->kind() == metal::ArgumentKind::ArgumentBuffer;
      if (buffer && argument->index() < BESSEMER_MAX_BUFFERS &&
          argument->access() != metal::Access::Read)
        written_buffers_ |= uint32_t{1} << argument->index();
    }
  return {};
}

KernelRequest Pipeline::request(Size3 threads, bool distinct_buffers) const {
  return {.bitcode = bitcode_,
          .function = descriptor_.function,
          .constants = descriptor_.constants,
          .threads = threads,
          .distinct_buffers = distinct_buffers};
}

Variant* Pipeline::find(Size3 threads, bool distinct_buffers) {
  for (const std::unique_ptr<Variant>& variant : variants_)
    if (variant->serves(threads, distinct_buffers))
      return variant.get();
  return nullptr;
}

Variant* Pipeline::prepare(Size3 threads, bool distinct_buffers) {
  Variant* latest = latest_.load(std::memory_order_acquire);
  if (latest && latest->serves(threads, distinct_buffers))
    return latest;
  Variant* variant;
  {
    std::lock_guard lock(mutex_);
    variant = find(threads, distinct_buffers);
    if (variant) {
      latest_.store(variant, std::memory_order_release);
      return variant;
    }
    variants_.push_back(std::make_unique<Variant>(name(), threads, distinct_buffers));
    variant = variants_.back().get();
    latest_.store(variant, std::memory_order_release);
  }
  compiler_.run_on_compile_thread([self = shared_from_this(), variant] {
    variant->finish(self->compiler_.compile_kernel(
        self->request(variant->threads(), variant->distinct_buffers())));
  });
  return variant;
}

bool Pipeline::buffers_are_distinct(std::span<const Binding> bindings) const {
  const auto overlap = [](const Binding& a, const Binding& b) {
    const uintptr_t a_start = reinterpret_cast<uintptr_t>(a.address);
    const uintptr_t b_start = reinterpret_cast<uintptr_t>(b.address);
    return a.address && b.address && a_start < b_start + b.length && b_start < a_start + a.length;
  };
  const uint32_t bound =
      bindings.size() >= 32 ? ~uint32_t{0} : (uint32_t{1} << bindings.size()) - 1;
  for (uint32_t written = used_buffers_ & written_buffers_ & bound; written;
       written &= written - 1) {
    const uint32_t i = static_cast<uint32_t>(std::countr_zero(written));
    // Two that are both written meet once, from the lower one.
    const uint32_t done = written_buffers_ & ((uint32_t{2} << i) - 1);
    for (uint32_t others = used_buffers_ & bound & ~done; others; others &= others - 1) {
      const uint32_t j = static_cast<uint32_t>(std::countr_zero(others));
      if (overlap(bindings[i], bindings[j]))
        return false;
    }
  }
  return true;
}

} // namespace bessemer::metal::cpu
