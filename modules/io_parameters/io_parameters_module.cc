#include "modules/io_parameters/io_parameters_module.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "modules/hal/status.h"
#include "modules/hal/types.h"
#include "modules/io_parameters/archive.h"
#include "modules/io_parameters/byte_reader.h"
#include "vm/buffer.h"
#include "vm/list.h"
#include "vm/native_function.h"

namespace bessemer::modules {

namespace {

using vm::fail;
using vm::RefPtr;
using vm::Required;
using vm::Result;
using vm::StatusCode;

struct Scope {
  std::string name;
  std::vector<Archive> archives;

  const Parameter* find(std::string_view key) const {
    for (const Archive& archive : archives)
      if (auto found = archive.parameters.find(key); found != archive.parameters.end())
        return &found->second;
    return nullptr;
  }
};

struct State final : vm::NativeState {
  std::shared_ptr<const std::vector<Scope>> scopes;
  // A mapping as a file of a device: made once, used by every read.
  std::mutex mutex;
  std::map<std::pair<const vm::FileMapping*, iree_hal_device_t*>, RefPtr<iree_hal_file_t>> files;
};

// One transfer that a program asks for: `length` bytes of a parameter and where they go.
struct Transfer {
  const Parameter* parameter = nullptr;
  std::string_view key;
  uint64_t parameter_offset = 0;
  uint64_t buffer_offset = 0;
  uint64_t length = 0;
};

struct TableEntry {
  uint32_t offset = 0;
  uint32_t length = 0;
};
struct SpanEntry {
  uint64_t parameter_offset = 0;
  uint64_t buffer_offset = 0;
  uint64_t length = 0;
};

Result<const Scope*> findScope(const State& state, const vm::Buffer* name) {
  std::string_view wanted = name ? name->text() : std::string_view();
  for (std::string_view candidate : {wanted, std::string_view()})
    for (const Scope& scope : *state.scopes)
      if (scope.name == candidate)
        return &scope;
  return fail(StatusCode::NotFound, "the program needs parameters of the scope '", wanted,
              "', none are given (--parameters=", wanted, wanted.empty() ? "" : "=", "FILE)");
}

Result<std::vector<Transfer>> readTransfers(const State& state, const vm::Buffer* scope_name,
                                            const vm::Buffer& key_table, const vm::Buffer& key_data,
                                            const vm::Buffer& spans) {
  BESSEMER_ASSIGN_OR_RETURN(const Scope* scope, findScope(state, scope_name));
  size_t count = spans.length() / sizeof(SpanEntry);
  if (spans.length() % sizeof(SpanEntry) || key_table.length() != count * sizeof(TableEntry))
    return fail(StatusCode::InvalidArgument, "tables of ", key_table.length(), " and ",
                spans.length(), " bytes do not describe the same parameters");
  ByteReader table_reader(key_table.bytes());
  ByteReader span_reader(spans.bytes());
  std::vector<Transfer> transfers;
  for (size_t i = 0; i < count; ++i) {
    auto entry = table_reader.read<TableEntry>();
    auto span = span_reader.read<SpanEntry>();
    BESSEMER_ASSIGN_OR_RETURN(std::span<const std::byte> key,
                              key_data.range(entry.offset, entry.length));
    Transfer transfer;
    transfer.key = {reinterpret_cast<const char*>(key.data()), key.size()};
    transfer.parameter = scope->find(transfer.key);
    if (!transfer.parameter)
      return fail(StatusCode::NotFound, "there is no parameter '", transfer.key, "' in the scope '",
                  scope->name, "'");
    transfer.parameter_offset = span.parameter_offset;
    transfer.buffer_offset = span.buffer_offset;
    transfer.length = span.length;
    if (!isInside(span.parameter_offset, span.length, transfer.parameter->length))
      return fail(StatusCode::OutOfRange, "parameter '", transfer.key, "' has ",
                  transfer.parameter->length, " bytes, the program needs ", span.length, " at ",
                  span.parameter_offset);
    transfers.push_back(transfer);
  }
  return transfers;
}

iree_hal_semaphore_list_t semaphoresOf(iree_hal_fence_t* fence) {
  return fence ? iree_hal_fence_semaphore_list(fence) : iree_hal_semaphore_list_empty();
}

// Keeps the mapping alive as long as the handle over its memory.
Result<RefPtr<iree_hal_file_t>> importFile(iree_hal_device_t* device,
                                           std::shared_ptr<const vm::FileMapping> mapping,
                                           std::span<const std::byte> bytes, bool writable) {
  using Owner = std::shared_ptr<const vm::FileMapping>;
  auto owner = std::make_unique<Owner>(std::move(mapping));
  iree_io_file_handle_release_callback_t release = {
      [](void* user, iree_io_file_handle_primitive_t) { delete static_cast<Owner*>(user); },
      owner.get()};
  iree_io_file_handle_t* handle = nullptr;
  BESSEMER_RETURN_IF_ERROR(fromStatus(iree_io_file_handle_wrap_host_allocation(
      IREE_IO_FILE_ACCESS_READ | (writable ? IREE_IO_FILE_ACCESS_WRITE : 0u),
      iree_make_byte_span(const_cast<std::byte*>(bytes.data()), bytes.size()), release,
      iree_allocator_system(), &handle)));
  (void)owner.release();
  RefPtr<iree_hal_file_t> file;
  iree_hal_memory_access_t access = writable
                                        ? IREE_HAL_MEMORY_ACCESS_READ | IREE_HAL_MEMORY_ACCESS_WRITE
                                        : IREE_HAL_MEMORY_ACCESS_READ;
  iree_status_t status = iree_hal_file_import(device, IREE_HAL_QUEUE_AFFINITY_ANY, access, handle,
                                              IREE_HAL_EXTERNAL_FILE_FLAG_NONE, file.put());
  iree_io_file_handle_release(handle);
  BESSEMER_RETURN_IF_ERROR(fromStatus(status));
  return file;
}

Result<RefPtr<iree_hal_file_t>> fileOf(State& state, iree_hal_device_t* device,
                                       const std::shared_ptr<const vm::FileMapping>& mapping) {
  std::lock_guard lock(state.mutex);
  RefPtr<iree_hal_file_t>& file = state.files[{mapping.get(), device}];
  if (!file) {
    BESSEMER_ASSIGN_OR_RETURN(file,
                              importFile(device, mapping, mapping->bytes(), mapping->writable()));
  }
  return file;
}

// The shortest pattern that repeats to the same bytes, starting `offset` bytes into the splat.
std::vector<std::byte> patternFrom(const Parameter& parameter, uint64_t offset) {
  std::vector<std::byte> pattern;
  for (size_t i = 0; i < parameter.pattern_length; ++i)
    pattern.push_back(parameter.pattern[(offset + i) % parameter.pattern_length]);
  for (size_t shorter : {1, 2, 4})
    if (shorter < pattern.size() && pattern.size() % shorter == 0 &&
        std::equal(pattern.begin() + static_cast<ptrdiff_t>(shorter), pattern.end(),
                   pattern.begin())) {
      pattern.resize(shorter);
      break;
    }
  return pattern;
}

// Queue operations that start after one fence, run beside each other and end in another fence.
class Batch {
public:
  Batch(State& state, iree_hal_device_t* device, int64_t affinity, iree_hal_fence_t* wait,
        iree_hal_fence_t* signal)
      : state_(state), device_(device), affinity_(static_cast<iree_hal_queue_affinity_t>(affinity)),
        wait_(wait), signal_(signal) {}

  // The timeline that the operations count up is theirs alone.
  Result<void> begin(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      RefPtr<iree_hal_semaphore_t> semaphore;
      BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_semaphore_create(
          device_, affinity_, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, semaphore.put())));
      raw_.push_back(semaphore.get());
      semaphores_.push_back(std::move(semaphore));
    }
    values_.assign(count, 1);
    return {};
  }

  Result<void> read(size_t index, const Transfer& transfer, iree_hal_buffer_t* target) {
    if (transfer.parameter->kind == Parameter::Kind::Splat)
      return fill(index, transfer, target);
    BESSEMER_ASSIGN_OR_RETURN(RefPtr<iree_hal_file_t> file,
                              fileOf(state_, device_, transfer.parameter->file));
    return fromStatus(iree_hal_device_queue_read(
        device_, affinity_, semaphoresOf(wait_), one(index), file.get(),
        transfer.parameter->offset + transfer.parameter_offset, target, transfer.buffer_offset,
        transfer.length, IREE_HAL_READ_FLAG_NONE));
  }

  Result<void> write(size_t index, const Transfer& transfer, iree_hal_buffer_t* source) {
    const Parameter& parameter = *transfer.parameter;
    if (parameter.kind == Parameter::Kind::Splat || !parameter.file->writable())
      return fail(StatusCode::PermissionDenied, "parameter '", transfer.key, "' cannot be written");
    BESSEMER_ASSIGN_OR_RETURN(RefPtr<iree_hal_file_t> file,
                              fileOf(state_, device_, parameter.file));
    return fromStatus(iree_hal_device_queue_write(
        device_, affinity_, semaphoresOf(wait_), one(index), source, transfer.buffer_offset,
        file.get(), parameter.offset + transfer.parameter_offset, transfer.length,
        IREE_HAL_WRITE_FLAG_NONE));
  }

  // Signals the program's fence when all are done.
  Result<void> end() {
    return fromStatus(iree_hal_device_queue_barrier(
        device_, affinity_, all(), semaphoresOf(signal_), IREE_HAL_EXECUTE_FLAG_NONE));
  }

private:
  iree_hal_semaphore_list_t one(size_t index) { return {1, &raw_[index], &values_[index]}; }
  iree_hal_semaphore_list_t all() { return {raw_.size(), raw_.data(), values_.data()}; }

  Result<void> fill(size_t index, const Transfer& transfer, iree_hal_buffer_t* target) {
    std::vector<std::byte> pattern = patternFrom(*transfer.parameter, transfer.parameter_offset);
    bool plain = pattern.size() <= 4 && pattern.size() != 3 &&
                 transfer.buffer_offset % pattern.size() == 0 &&
                 transfer.length % pattern.size() == 0;
    if (plain)
      return fromStatus(iree_hal_device_queue_fill(
          device_, affinity_, semaphoresOf(wait_), one(index), target, transfer.buffer_offset,
          transfer.length, pattern.data(), pattern.size(), IREE_HAL_FILL_FLAG_NONE));
    // Queues fill with 1, 2 and 4 bytes; longer patterns are written out.
    std::vector<std::byte> bytes(transfer.length);
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = pattern[i % pattern.size()];
    return fromStatus(iree_hal_device_queue_update(
        device_, affinity_, semaphoresOf(wait_), one(index), bytes.data(), 0, target,
        transfer.buffer_offset, transfer.length, IREE_HAL_UPDATE_FLAG_NONE));
  }

  State& state_;
  iree_hal_device_t* device_;
  iree_hal_queue_affinity_t affinity_;
  iree_hal_fence_t* wait_;
  iree_hal_fence_t* signal_;
  std::vector<RefPtr<iree_hal_semaphore_t>> semaphores_;
  std::vector<iree_hal_semaphore_t*> raw_;
  std::vector<uint64_t> values_;
};

// The file's own memory as a buffer, when the device can take it where it lies.
RefPtr<iree_hal_buffer_t> tryImport(iree_hal_device_t* device, iree_hal_buffer_params_t params,
                                    const Transfer& transfer) {
  const Parameter& parameter = *transfer.parameter;
  if (parameter.kind != Parameter::Kind::Data || transfer.buffer_offset != 0)
    return nullptr;
  // Kernels load whole vectors.
  constexpr uintptr_t kAlignment = 64;
  const std::byte* memory =
      parameter.file->bytes().data() + parameter.offset + transfer.parameter_offset;
  if (reinterpret_cast<uintptr_t>(memory) % kAlignment)
    return nullptr;
  using Owner = std::shared_ptr<const vm::FileMapping>;
  auto owner = std::make_unique<Owner>(parameter.file);
  params.access = IREE_HAL_MEMORY_ACCESS_READ;
  iree_hal_external_buffer_t external = {};
  external.type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION;
  external.size = transfer.length;
  external.handle.host_allocation.ptr = const_cast<std::byte*>(memory);
  iree_hal_buffer_release_callback_t release = {
      [](void* user, iree_hal_buffer_t*) { delete static_cast<Owner*>(user); }, owner.get()};
  RefPtr<iree_hal_buffer_t> buffer;
  iree_status_t status = iree_hal_allocator_import_buffer(iree_hal_device_allocator(device), params,
                                                          &external, release, buffer.put());
  if (!iree_status_is_ok(status)) {
    iree_status_ignore(status);
    return nullptr;
  }
  (void)owner.release();
  return buffer;
}

// A list of buffers, one for each span.
Result<RefPtr<vm::List>> load(State& state, Required<iree_hal_device_t> device, int64_t affinity,
                              iree_hal_fence_t* wait, iree_hal_fence_t* signal, vm::Buffer* scope,
                              int64_t target_affinity, uint32_t memory_types, uint32_t usage,
                              Required<vm::Buffer> key_table, Required<vm::Buffer> key_data,
                              Required<vm::Buffer> spans) {
  BESSEMER_ASSIGN_OR_RETURN(std::vector<Transfer> transfers,
                            readTransfers(state, scope, *key_table, *key_data, *spans));
  RefPtr<vm::List> list =
      vm::List::create({vm::ValueType::Ref, &vm::RefTraits<iree_hal_buffer_t>::type()},
                       static_cast<uint32_t>(transfers.size()));
  iree_hal_buffer_params_t params = {};
  params.type = memory_types;
  params.usage = usage;
  params.queue_affinity = static_cast<iree_hal_queue_affinity_t>(target_affinity);
  std::vector<std::pair<Transfer, RefPtr<iree_hal_buffer_t>>> reads;
  for (const Transfer& transfer : transfers) {
    RefPtr<iree_hal_buffer_t> buffer = tryImport(device, params, transfer);
    if (!buffer) {
      uint64_t size = transfer.buffer_offset + transfer.length;
      BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_allocator_allocate_buffer(
          iree_hal_device_allocator(device), params, size, buffer.put())));
      if (transfer.length)
        reads.emplace_back(transfer, buffer);
    }
    BESSEMER_RETURN_IF_ERROR(list->push(vm::Value(std::move(buffer))));
  }
  if (reads.empty()) {
    BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_device_queue_barrier(
        device, static_cast<iree_hal_queue_affinity_t>(affinity), semaphoresOf(wait),
        semaphoresOf(signal), IREE_HAL_EXECUTE_FLAG_NONE)));
    return list;
  }
  Batch batch(state, device, affinity, wait, signal);
  BESSEMER_RETURN_IF_ERROR(batch.begin(reads.size()));
  for (size_t i = 0; i < reads.size(); ++i)
    BESSEMER_RETURN_IF_ERROR(batch.read(i, reads[i].first, reads[i].second.get()));
  BESSEMER_RETURN_IF_ERROR(batch.end());
  return list;
}

// Parameters into one buffer.
Result<void> gather(State& state, Required<iree_hal_device_t> device, int64_t affinity,
                    iree_hal_fence_t* wait, iree_hal_fence_t* signal, vm::Buffer* scope,
                    Required<iree_hal_buffer_t> target, Required<vm::Buffer> key_table,
                    Required<vm::Buffer> key_data, Required<vm::Buffer> spans) {
  BESSEMER_ASSIGN_OR_RETURN(std::vector<Transfer> transfers,
                            readTransfers(state, scope, *key_table, *key_data, *spans));
  Batch batch(state, device, affinity, wait, signal);
  BESSEMER_RETURN_IF_ERROR(batch.begin(transfers.size()));
  for (size_t i = 0; i < transfers.size(); ++i)
    BESSEMER_RETURN_IF_ERROR(batch.read(i, transfers[i], target));
  return batch.end();
}

// One buffer into parameters.
Result<void> scatter(State& state, Required<iree_hal_device_t> device, int64_t affinity,
                     iree_hal_fence_t* wait, iree_hal_fence_t* signal,
                     Required<iree_hal_buffer_t> source, vm::Buffer* scope,
                     Required<vm::Buffer> key_table, Required<vm::Buffer> key_data,
                     Required<vm::Buffer> spans) {
  BESSEMER_ASSIGN_OR_RETURN(std::vector<Transfer> transfers,
                            readTransfers(state, scope, *key_table, *key_data, *spans));
  Batch batch(state, device, affinity, wait, signal);
  BESSEMER_RETURN_IF_ERROR(batch.begin(transfers.size()));
  for (size_t i = 0; i < transfers.size(); ++i)
    BESSEMER_RETURN_IF_ERROR(batch.write(i, transfers[i], source));
  return batch.end();
}

class ParametersModule final : public vm::NativeModule {
public:
  explicit ParametersModule(std::shared_ptr<const std::vector<Scope>> scopes)
      : NativeModule("io_parameters", 0, functions()), scopes_(std::move(scopes)) {}

  Result<std::unique_ptr<vm::NativeState>> createState() const override {
    auto state = std::make_unique<State>();
    state->scopes = scopes_;
    return state;
  }

private:
  static std::span<const vm::NativeFunction> functions() {
    static constexpr vm::NativeFunction all[] = {vm::bind<load>("load"), vm::bind<gather>("gather"),
                                                 vm::bind<scatter>("scatter")};
    return all;
  }

  std::shared_ptr<const std::vector<Scope>> scopes_;
};

} // namespace

ParameterFile ParameterFile::parse(std::string_view text) {
  size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return {"", std::string(text)};
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

Result<std::shared_ptr<const vm::NativeModule>>
createParametersModule(std::span<const ParameterFile> files) {
  auto scopes = std::make_shared<std::vector<Scope>>();
  for (const ParameterFile& file : files) {
    BESSEMER_ASSIGN_OR_RETURN(Archive archive, openArchive(file.path, file.writable));
    if (file.preload) {
      std::set<const vm::FileMapping*> files;
      for (const auto& [name, parameter] : archive.parameters)
        if (parameter.file && files.insert(parameter.file.get()).second)
          parameter.file->preload();
    }
    auto scope = std::ranges::find(*scopes, file.scope, &Scope::name);
    if (scope == scopes->end())
      scope = scopes->insert(scope, Scope{file.scope, {}});
    scope->archives.push_back(std::move(archive));
  }
  return std::make_shared<const ParametersModule>(std::move(scopes));
}

} // namespace bessemer::modules
