#include "metal/foundation/dispatch_data.h"

#include <cstdlib>

#include "metal/objc/message.h"

namespace ns {

DispatchData::DispatchData(std::span<const std::byte> bytes)
    : copy_(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
      bytes_(std::as_bytes(std::span(copy_))) {}

DispatchData::DispatchData(std::span<const std::byte> bytes, objc::BlockRef<void()> destructor)
    : bytes_(bytes), destructor_(std::move(destructor)) {}

DispatchData::~DispatchData() {
  if (destructor_)
    destructor_();
}

OBJC_DEFINE_CLASS(DispatchData, "OS_dispatch_data", objc::Object, );

extern "C" {

// DISPATCH_DATA_DESTRUCTOR_FREE: a block known by its address; its code never runs.
extern objc::Class global_block_class __asm__("_NSConcreteGlobalBlock");
}

namespace {

struct FreeBlock {
  objc::Block<void()> block;
  const void* descriptor;
};
constexpr unsigned long kFreeDescriptor[] = {0, sizeof(FreeBlock)};
constinit FreeBlock free_block = {{&global_block_class, 1 << 28 /* global */, 0, nullptr},
                                  kFreeDescriptor};

} // namespace

extern "C" {

[[gnu::visibility("default")]] extern constinit objc::Block<void()>* const _dispatch_data_destructor_free =
    &free_block.block;

DispatchData* dispatch_data_create(const void* buffer, size_t size, Object* /*queue*/,
                                   objc::Block<void()>* destructor) {
  std::span<const std::byte> bytes(static_cast<const std::byte*>(buffer), size);
  if (!destructor)
    return objc::make<DispatchData>(bytes).take();
  if (destructor == _dispatch_data_destructor_free) {
    DispatchData* data = objc::make<DispatchData>(bytes).take();
    std::free(const_cast<void*>(buffer));
    return data;
  }
  return objc::make<DispatchData>(bytes, objc::BlockRef<void()>(destructor)).take();
}

size_t dispatch_data_get_size(DispatchData* data) { return data ? data->bytes().size() : 0; }

/// Contiguous already: the map is the data itself.
DispatchData* dispatch_data_create_map(DispatchData* data, const void** buffer, size_t* size) {
  if (buffer)
    *buffer = data->bytes().data();
  if (size)
    *size = data->bytes().size();
  return Ref<DispatchData>(data).take();
}

bool dispatch_data_apply(DispatchData* data,
                         objc::Block<bool(DispatchData*, size_t, const void*, size_t)>* applier) {
  return data->bytes().empty() || (*applier)(data, 0, data->bytes().data(), data->bytes().size());
}

DispatchData* dispatch_data_create_concat(DispatchData* a, DispatchData* b) {
  std::string joined(reinterpret_cast<const char*>(a->bytes().data()), a->bytes().size());
  joined.append(reinterpret_cast<const char*>(b->bytes().data()), b->bytes().size());
  return objc::make<DispatchData>(std::as_bytes(std::span(joined))).take();
}

DispatchData* dispatch_data_create_subrange(DispatchData* data, size_t offset, size_t length) {
  auto bytes = data->bytes();
  offset = std::min(offset, bytes.size());
  return objc::make<DispatchData>(bytes.subspan(offset, std::min(length, bytes.size() - offset)))
      .take();
}
}

} // namespace ns
