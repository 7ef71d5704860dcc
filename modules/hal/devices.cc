// hal.devices.*, hal.device.*, hal.ex.*: devices and their queues.
#include "modules/hal/state.h"

namespace bessemer::modules::hal {

namespace {

iree_hal_queue_affinity_t affinityOf(int64_t mask) {
  return static_cast<iree_hal_queue_affinity_t>(mask);
}

Result<uint32_t> count(State& state) { return static_cast<uint32_t>(state.devices.size()); }

// Null past the end.
Result<RefPtr<iree_hal_device_t>> at(State& state, uint32_t index) {
  return index < state.devices.size() ? state.devices[index] : RefPtr<iree_hal_device_t>();
}

Result<RefPtr<iree_hal_allocator_t>> allocator(State&, Required<iree_hal_device_t> device) {
  return RefPtr<iree_hal_allocator_t>::share(iree_hal_device_allocator(device));
}

// (known, value). What a device does not know is no error.
Result<std::tuple<int32_t, int64_t>> queryI64(State&, Required<iree_hal_device_t> device,
                                              Required<vm::Buffer> category,
                                              Required<vm::Buffer> key) {
  int64_t value = 0;
  iree_status_t status = iree_hal_device_query_i64(device, textOf(category), textOf(key), &value);
  if (iree_status_is_ok(status))
    return std::tuple(1, value);
  iree_status_ignore(status);
  return std::tuple(0, int64_t{0});
}

Result<RefPtr<iree_hal_buffer_t>> queueAlloca(State&, Required<iree_hal_device_t> device,
                                              int64_t affinity, iree_hal_fence_t* wait,
                                              iree_hal_fence_t* signal, int64_t pool,
                                              uint32_t memory_types, uint32_t usage, int64_t size,
                                              uint64_t flags) {
  if (size < 0)
    return vm::fail(StatusCode::InvalidArgument, "a buffer of ", size, " bytes");
  if (pool != 0)
    return vm::fail(StatusCode::NotFound, "there is no pool ", pool, " (only the default, 0)");
  iree_hal_buffer_params_t params = {};
  params.type = memory_types;
  params.usage = usage;
  params.queue_affinity = affinityOf(affinity);
  RefPtr<iree_hal_buffer_t> buffer;
  iree_status_t status = iree_hal_device_queue_alloca(
      device, affinityOf(affinity), semaphoresOf(wait), semaphoresOf(signal), nullptr, params,
      static_cast<iree_device_size_t>(size), flags, buffer.put());
  return made(status, std::move(buffer));
}

Result<void> queueDealloca(State&, Required<iree_hal_device_t> device, int64_t affinity,
                           iree_hal_fence_t* wait, iree_hal_fence_t* signal,
                           Required<iree_hal_buffer_t> buffer, uint64_t flags) {
  return fromStatus(iree_hal_device_queue_dealloca(device, affinityOf(affinity), semaphoresOf(wait),
                                                   semaphoresOf(signal), buffer, flags));
}

Result<void> queueFill(State&, Required<iree_hal_device_t> device, int64_t affinity,
                       iree_hal_fence_t* wait, iree_hal_fence_t* signal,
                       Required<iree_hal_buffer_t> target, uint64_t offset, uint64_t length,
                       uint64_t pattern, uint32_t pattern_length, uint64_t flags) {
  if (pattern_length > sizeof(pattern))
    return vm::fail(StatusCode::InvalidArgument, "a pattern of ", pattern_length, " bytes");
  return fromStatus(iree_hal_device_queue_fill(device, affinityOf(affinity), semaphoresOf(wait),
                                               semaphoresOf(signal), target, offset, length,
                                               &pattern, pattern_length, flags));
}

Result<void> queueUpdate(State&, Required<iree_hal_device_t> device, int64_t affinity,
                         iree_hal_fence_t* wait, iree_hal_fence_t* signal,
                         Required<vm::Buffer> source, uint64_t source_offset,
                         Required<iree_hal_buffer_t> target, uint64_t target_offset,
                         uint64_t length, uint64_t flags) {
  BESSEMER_RETURN_IF_ERROR(source->range(source_offset, length));
  return fromStatus(iree_hal_device_queue_update(
      device, affinityOf(affinity), semaphoresOf(wait), semaphoresOf(signal), source->data(),
      source_offset, target, target_offset, length, flags));
}

Result<void> queueCopy(State&, Required<iree_hal_device_t> device, int64_t affinity,
                       iree_hal_fence_t* wait, iree_hal_fence_t* signal,
                       Required<iree_hal_buffer_t> source, uint64_t source_offset,
                       Required<iree_hal_buffer_t> target, uint64_t target_offset, uint64_t length,
                       uint64_t flags) {
  return fromStatus(iree_hal_device_queue_copy(device, affinityOf(affinity), semaphoresOf(wait),
                                               semaphoresOf(signal), source, source_offset, target,
                                               target_offset, length, flags));
}

Result<void> queueRead(State&, Required<iree_hal_device_t> device, int64_t affinity,
                       iree_hal_fence_t* wait, iree_hal_fence_t* signal,
                       Required<iree_hal_file_t> source, uint64_t source_offset,
                       Required<iree_hal_buffer_t> target, uint64_t target_offset, uint64_t length,
                       uint64_t flags) {
  return fromStatus(iree_hal_device_queue_read(device, affinityOf(affinity), semaphoresOf(wait),
                                               semaphoresOf(signal), source, source_offset, target,
                                               target_offset, length, flags));
}

Result<void> queueWrite(State&, Required<iree_hal_device_t> device, int64_t affinity,
                        iree_hal_fence_t* wait, iree_hal_fence_t* signal,
                        Required<iree_hal_buffer_t> source, uint64_t source_offset,
                        Required<iree_hal_file_t> target, uint64_t target_offset, uint64_t length,
                        uint64_t flags) {
  return fromStatus(iree_hal_device_queue_write(device, affinityOf(affinity), semaphoresOf(wait),
                                                semaphoresOf(signal), source, source_offset, target,
                                                target_offset, length, flags));
}

Result<void> queueBarrier(State&, Required<iree_hal_device_t> device, int64_t affinity,
                          iree_hal_fence_t* wait, iree_hal_fence_t* signal, uint64_t flags) {
  return fromStatus(iree_hal_device_queue_barrier(device, affinityOf(affinity), semaphoresOf(wait),
                                                  semaphoresOf(signal), flags));
}

Result<void> queueExecute(State&, Required<iree_hal_device_t> device, int64_t affinity,
                          iree_hal_fence_t* wait, iree_hal_fence_t* signal,
                          Required<iree_hal_command_buffer_t> commands, uint64_t flags) {
  return fromStatus(iree_hal_device_queue_execute(device, affinityOf(affinity), semaphoresOf(wait),
                                                  semaphoresOf(signal), commands,
                                                  iree_hal_buffer_binding_table_empty(), flags));
}

Result<void> queueExecuteIndirect(State&, Required<iree_hal_device_t> device, int64_t affinity,
                                  iree_hal_fence_t* wait, iree_hal_fence_t* signal,
                                  Required<iree_hal_command_buffer_t> commands, uint64_t flags,
                                  Span<iree_hal_buffer_t*, uint64_t, uint64_t> bindings) {
  std::vector<iree_hal_buffer_binding_t> table(bindings.size());
  for (size_t i = 0; i < bindings.size(); ++i) {
    auto [buffer, offset, length] = bindings[i];
    table[i] = {buffer, offset, length};
  }
  return fromStatus(iree_hal_device_queue_execute(device, affinityOf(affinity), semaphoresOf(wait),
                                                  semaphoresOf(signal), commands,
                                                  {table.size(), table.data()}, flags));
}

Result<void> queueFlush(State&, Required<iree_hal_device_t> device, int64_t affinity) {
  return fromStatus(iree_hal_device_queue_flush(device, affinityOf(affinity)));
}

// Memory of the program as a file that queues read.
Result<RefPtr<iree_hal_file_t>> fileFromMemory(State& state, Required<iree_hal_device_t> device,
                                               int64_t affinity, uint32_t access,
                                               Required<vm::Buffer> source, uint64_t offset,
                                               uint64_t length, uint32_t flags) {
  if (length == UINT64_MAX)
    length = source->length() - std::min(source->length(), offset);
  BESSEMER_ASSIGN_OR_RETURN(std::span<const std::byte> memory, source->range(offset, length));
  if ((access & IREE_HAL_MEMORY_ACCESS_WRITE) && !source->writable())
    return vm::fail(StatusCode::PermissionDenied, "the memory is read-only");
  iree_io_file_access_t file_access = 0;
  if (access & IREE_HAL_MEMORY_ACCESS_READ)
    file_access |= IREE_IO_FILE_ACCESS_READ;
  if (access & IREE_HAL_MEMORY_ACCESS_WRITE)
    file_access |= IREE_IO_FILE_ACCESS_WRITE;
  iree_io_file_handle_release_callback_t release = {
      [](void* user, iree_io_file_handle_primitive_t) {
        static_cast<vm::Buffer*>(user)->release();
      },
      source.get()};
  source->retain();
  iree_io_file_handle_t* handle = nullptr;
  iree_status_t status = iree_io_file_handle_wrap_host_allocation(
      file_access, iree_make_byte_span(const_cast<std::byte*>(memory.data()), memory.size()),
      release, state.options.host_allocator, &handle);
  if (!iree_status_is_ok(status)) {
    source->release();
    return made(status, RefPtr<iree_hal_file_t>());
  }
  RefPtr<iree_hal_file_t> file;
  status = iree_hal_file_import(device, affinityOf(affinity),
                                static_cast<iree_hal_memory_access_t>(access), handle, flags,
                                file.put());
  iree_io_file_handle_release(handle);
  return made(status, std::move(file));
}

} // namespace

std::span<const vm::NativeFunction> deviceFunctions() {
  static constexpr vm::NativeFunction functions[] = {
      vm::bind<allocator>("device.allocator"),
      vm::bind<queryI64>("device.query.i64"),
      vm::bind<queueAlloca>("device.queue.alloca"),
      vm::bind<queueBarrier>("device.queue.barrier"),
      vm::bind<queueCopy>("device.queue.copy"),
      vm::bind<queueDealloca>("device.queue.dealloca"),
      vm::bind<queueExecute>("device.queue.execute"),
      vm::bind<queueExecuteIndirect>("device.queue.execute.indirect"),
      vm::bind<queueFill>("device.queue.fill"),
      vm::bind<queueFlush>("device.queue.flush"),
      vm::bind<queueRead>("device.queue.read"),
      vm::bind<queueUpdate>("device.queue.update"),
      vm::bind<queueWrite>("device.queue.write"),
      vm::bind<count>("devices.count"),
      vm::bind<at>("devices.get"),
      vm::bind<fileFromMemory>("ex.file.from_memory"),
  };
  return functions;
}

} // namespace bessemer::modules::hal
