#include "metal/runtime/command_buffer.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <utility>

#include "metal/runtime/blit_encoder.h"
#include "metal/runtime/blit_pass_descriptor.h"
#include "metal/runtime/command_buffer_encoder_info.h"
#include "metal/runtime/compute_encoder.h"
#include "metal/runtime/compute_pass_descriptor.h"
#include "metal/runtime/constants.h"
#include "metal/runtime/device.h"
#include "metal/runtime/event.h"
#include "metal/runtime/misuse.h"
#include "metal/runtime/notification.h"

namespace mtl {

using bessemer::metal::cpu::CommandList;
using bessemer::metal::cpu::ListErrorCode;
using bessemer::metal::cpu::ListResult;
using bessemer::metal::cpu::ListState;

namespace {

uint64_t next_identity() {
  static std::atomic<uint64_t> counter{0};
  return counter.fetch_add(1, std::memory_order_relaxed) + 1;
}

int64_t now_nanoseconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

double seconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

CommandBufferError error_code(ListErrorCode code) {
  switch (code) {
  case ListErrorCode::Timeout:
    return CommandBufferError::Timeout;
  case ListErrorCode::PageFault:
    return CommandBufferError::PageFault;
  case ListErrorCode::OutOfMemory:
    return CommandBufferError::OutOfMemory;
  case ListErrorCode::InvalidDispatch:
    return CommandBufferError::InvalidResource;
  case ListErrorCode::None:
  case ListErrorCode::ArithmeticFault:
  case ListErrorCode::Compile:
    break;
  }
  return CommandBufferError::Internal;
}

} // namespace

// Usually emptied by the command buffer. When the list outlives it, the last reference to the list
// may go anywhere, under locks too; what a buffer's deallocator does is then for the notification
// thread.
struct CommandBuffer::KeptObjects {
  explicit KeptObjects(bessemer::metal::cpu::Executor& executor) : executor(executor) {}
  ~KeptObjects() {
    if (!objects.empty())
      executor.notify([objects = std::move(objects)]() mutable { objects.clear(); });
  }

  bessemer::metal::cpu::Executor& executor;
  std::vector<objc::Ref<objc::Object>> objects;
};

CommandBuffer::CommandBuffer(CommandQueue* queue, bool retained_references, UInteger error_options,
                             LogState* log_state)
    : DeviceObject(queue->device()), queue_(queue), list_(queue->take_list()),
      identity_(next_identity()), retained_references_(retained_references),
      error_options_(error_options), log_state_(log_state) {}

CommandBuffer::~CommandBuffer() {
  if (!committed_ && list_->state() == ListState::Enqueued)
    queue_->executor_queue().cancel(list_);
  ListState state = list_->state();
  if (state == ListState::Committed || state == ListState::Scheduled)
    return;
  release_kept();
  queue_->give_list(std::move(list_));
}

bool CommandBuffer::is_done() const {
  ListState state = list_->state();
  return state == ListState::Completed || state == ListState::Failed;
}

CommandBufferStatus CommandBuffer::status() const {
  switch (list_->state()) {
  case ListState::Recording:
    return CommandBufferStatus::NotEnqueued;
  case ListState::Enqueued:
    return CommandBufferStatus::Enqueued;
  case ListState::Committed:
    return CommandBufferStatus::Committed;
  case ListState::Scheduled:
    return CommandBufferStatus::Scheduled;
  case ListState::Completed:
    return misuse_.empty() ? CommandBufferStatus::Completed : CommandBufferStatus::Error;
  case ListState::Failed:
    return CommandBufferStatus::Error;
  }
  return CommandBufferStatus::Error;
}

ns::Error* CommandBuffer::error() {
  if (status() != CommandBufferStatus::Error)
    return nullptr;
  std::lock_guard lock(error_mutex_);
  if (!error_) {
    // A wrong call comes first: it may be why a kernel failed.
    const ListResult& result = list_->result();
    CommandBufferError code =
        misuse_.empty() ? error_code(result.code) : CommandBufferError::InvalidResource;
    const std::string& text = misuse_.empty() ? result.message : misuse_;
    error_ = make_command_buffer_error(code, text, encoder_labels_);
  }
  return error_.get();
}

double CommandBuffer::gpu_start_time() const {
  return is_done() ? seconds(list_->result().start_nanoseconds) : 0;
}
double CommandBuffer::gpu_end_time() const {
  return is_done() ? seconds(list_->result().end_nanoseconds) : 0;
}
double CommandBuffer::kernel_start_time() const {
  return is_done() ? seconds(commit_nanoseconds_) : 0;
}
double CommandBuffer::kernel_end_time() const {
  return is_done() ? seconds(std::max(commit_nanoseconds_, list_->result().start_nanoseconds)) : 0;
}

bool CommandBuffer::is_recording(const char* where) {
  if (!committed_)
    return true;
  report_misuse(where, "the command buffer is committed");
  return false;
}

void CommandBuffer::fail(std::string text) {
  report_misuse(text);
  if (committed_)
    return; // too late to count
  if (misuse_.empty())
    misuse_ = std::move(text);
  accepts_commands_ = false;
}

void CommandBuffer::keep(objc::Object* object) {
  if (!retained_references_)
    return;
  KeptObjects* kept = kept_.load(std::memory_order_relaxed);
  if (!kept) {
    auto owned = std::make_shared<KeptObjects>(device()->executor());
    kept_.store(kept = owned.get(), std::memory_order_relaxed);
    list_->retain(std::move(owned));
  }
  // A heap is often named again for each dispatch.
  if (kept->objects.empty() || kept->objects.back().get() != object)
    kept->objects.emplace_back(object);
}

// Once completed: clients hold command buffers longer than what those used.
void CommandBuffer::release_kept() {
  if (KeptObjects* kept = kept_.exchange(nullptr, std::memory_order_acquire))
    std::exchange(kept->objects, {}).clear();
}

void CommandBuffer::begin_encoder(const char* where) {
  if (!is_recording(where))
    return;
  if (open_encoder_) {
    fail(misuse_text(where, "the encoder before has not been ended"));
    open_encoder_->end_encoding();
  }
}

ComputeEncoder* CommandBuffer::compute_encoder() {
  return compute_encoder_with_dispatch_type(DispatchType::Serial);
}

ComputeEncoder* CommandBuffer::compute_encoder_with_dispatch_type(DispatchType type) {
  begin_encoder("MTLCommandBuffer computeCommandEncoderWithDispatchType:");
  auto encoder = objc::make<ComputeEncoder>(this, type, nullptr);
  open_encoder_ = committed_ ? nullptr : encoder.get();
  return encoder.autorelease();
}

ComputeEncoder* CommandBuffer::compute_encoder_with_descriptor(ComputePassDescriptor* descriptor) {
  begin_encoder("MTLCommandBuffer computeCommandEncoderWithDescriptor:");
  auto type = descriptor ? descriptor->dispatch_type : DispatchType::Serial;
  auto encoder = objc::make<ComputeEncoder>(
      this, type, descriptor ? descriptor->sample_buffer_attachments.get() : nullptr);
  open_encoder_ = committed_ ? nullptr : encoder.get();
  return encoder.autorelease();
}

BlitEncoder* CommandBuffer::blit_encoder() { return blit_encoder_with_descriptor(nullptr); }

BlitEncoder* CommandBuffer::blit_encoder_with_descriptor(BlitPassDescriptor* descriptor) {
  begin_encoder("MTLCommandBuffer blitCommandEncoder");
  auto encoder = objc::make<BlitEncoder>(
      this, descriptor ? descriptor->sample_buffer_attachments.get() : nullptr);
  open_encoder_ = committed_ ? nullptr : encoder.get();
  return encoder.autorelease();
}

void CommandBuffer::encoder_ended(CommandEncoder* encoder) {
  if (open_encoder_ != encoder)
    return;
  open_encoder_ = nullptr;
  if (committed_)
    return;
  // Encoders follow one another: what one wrote the next one sees.
  list_->barrier();
  if (error_options_ & kCommandBufferErrorOptionEncoderExecutionStatus) {
    ns::String* label = encoder->label();
    encoder_labels_.emplace_back(label ? label : ns::literal<"">());
  }
}

void CommandBuffer::encode_wait(Event* event, uint64_t value) {
  constexpr char kWhere[] = "MTLCommandBuffer encodeWaitForEvent:value:";
  if (!is_recording(kWhere))
    return;
  if (!event || open_encoder_)
    return fail(misuse_text(kWhere, event ? "an encoder is open" : "event is null"));
  list_->wait(event->timeline(), value);
  keep(event);
}

void CommandBuffer::encode_signal(Event* event, uint64_t value) {
  constexpr char kWhere[] = "MTLCommandBuffer encodeSignalEvent:value:";
  if (!is_recording(kWhere))
    return;
  if (!event || open_encoder_)
    return fail(misuse_text(kWhere, event ? "an encoder is open" : "event is null"));
  list_->signal(event->timeline(), value);
  keep(event);
}

void CommandBuffer::enqueue() {
  if (!is_recording("MTLCommandBuffer enqueue") || list_->state() != ListState::Recording)
    return;
  queue_->executor_queue().enqueue(list_);
}

void CommandBuffer::commit() {
  constexpr char kWhere[] = "MTLCommandBuffer commit";
  if (!is_recording(kWhere))
    return;
  if (open_encoder_) {
    fail(misuse_text(kWhere, "an encoder has not been ended"));
    open_encoder_->end_encoding();
  }
  committed_ = true;
  accepts_commands_ = false;
  commit_nanoseconds_ = now_nanoseconds();
  if (!scheduled_handlers_.empty())
    list_->on_scheduled(
        [self = objc::Ref<CommandBuffer>(this)] { self->run_handlers(self->scheduled_handlers_); });
  if (!completed_handlers_.empty())
    list_->on_completed([self = objc::Ref<CommandBuffer>(this)](const ListResult&) {
      self->release_kept();
      self->run_handlers(self->completed_handlers_);
    });
  queue_->committed(list_);
  queue_->executor_queue().commit(list_);
}

void CommandBuffer::run_handlers(std::vector<objc::BlockRef<void(CommandBuffer*)>>& handlers) {
  // Taken away, as a block often holds the command buffer that holds the block.
  auto blocks = std::exchange(handlers, {});
  HandlerScope handler;
  objc::AutoreleaseScope scope;
  for (auto& block : blocks)
    block(this);
  blocks.clear();
}

void CommandBuffer::add_scheduled_handler(Handler* block) {
  if (block && is_recording("MTLCommandBuffer addScheduledHandler:"))
    scheduled_handlers_.emplace_back(block);
}

void CommandBuffer::add_completed_handler(Handler* block) {
  if (block && is_recording("MTLCommandBuffer addCompletedHandler:"))
    completed_handlers_.emplace_back(block);
}

void CommandBuffer::wait_until_scheduled() {
  if (!committed_)
    return report_misuse("MTLCommandBuffer waitUntilScheduled",
                         "the command buffer is not committed");
  list_->wait_scheduled();
}

void CommandBuffer::wait_until_completed() {
  if (!committed_)
    return report_misuse("MTLCommandBuffer waitUntilCompleted",
                         "the command buffer is not committed");
  if (in_clients_handler())
    list_->wait_executed();
  else
    list_->wait_completed();
  release_kept();
}

namespace {

objc::Object* logs(CommandBuffer*) {
  // An empty collection: kernels on this device do not log.
  return ns::array({}).autorelease();
}

objc::Object* refuse(const char* where, const char* what) {
  report_misuse(where, "this device computes only: it has no %s", what);
  return nullptr;
}
objc::Object* render_encoder(CommandBuffer*, objc::Object*) {
  return refuse("MTLCommandBuffer renderCommandEncoderWithDescriptor:", "rendering");
}
objc::Object* parallel_render_encoder(CommandBuffer*, objc::Object*) {
  return refuse("MTLCommandBuffer parallelRenderCommandEncoderWithDescriptor:", "rendering");
}
objc::Object* resource_state_encoder(CommandBuffer*) {
  return refuse("MTLCommandBuffer resourceStateCommandEncoder", "sparse textures");
}
objc::Object* resource_state_encoder_described(CommandBuffer*, objc::Object*) {
  return refuse("MTLCommandBuffer resourceStateCommandEncoderWithDescriptor:", "sparse textures");
}
objc::Object* acceleration_encoder(CommandBuffer*) {
  return refuse("MTLCommandBuffer accelerationStructureCommandEncoder", "ray tracing");
}
objc::Object* acceleration_encoder_described(CommandBuffer*, objc::Object*) {
  return refuse("MTLCommandBuffer accelerationStructureCommandEncoderWithDescriptor:",
                "ray tracing");
}
void present(CommandBuffer*, objc::Object*) {
  refuse("MTLCommandBuffer presentDrawable:", "drawables");
}
void present_at(CommandBuffer*, objc::Object*, double) {
  refuse("MTLCommandBuffer presentDrawable:atTime:", "drawables");
}
void present_after(CommandBuffer*, objc::Object*, double) {
  refuse("MTLCommandBuffer presentDrawable:afterMinimumDuration:", "drawables");
}

void push_debug_group(CommandBuffer*, ns::String*) {}
void pop_debug_group(CommandBuffer*) {}
// All memory is resident.
void use_residency_set(CommandBuffer* buffer, objc::Object* set) {
  if (set)
    buffer->keep(set);
}
void use_residency_sets(CommandBuffer* buffer, objc::Object* const* sets, UInteger count) {
  for (UInteger i = 0; i < count; ++i)
    use_residency_set(buffer, sets[i]);
}

} // namespace

OBJC_DEFINE_CLASS(
    CommandBuffer, "BSMCommandBuffer", DeviceObject,
    .methods =
        {
            objc::method<&CommandBuffer::command_queue>("commandQueue"),
            objc::method<&CommandBuffer::retained_references>("retainedReferences"),
            objc::method<&CommandBuffer::error_options>("errorOptions"),
            objc::method<&CommandBuffer::status>("status"),
            objc::method<&CommandBuffer::error>("error"),
            objc::method<&logs>("logs"),
            objc::method<&CommandBuffer::gpu_start_time>("GPUStartTime"),
            objc::method<&CommandBuffer::gpu_end_time>("GPUEndTime"),
            objc::method<&CommandBuffer::kernel_start_time>("kernelStartTime"),
            objc::method<&CommandBuffer::kernel_end_time>("kernelEndTime"),
            objc::method<&CommandBuffer::compute_encoder>("computeCommandEncoder"),
            objc::method<&CommandBuffer::compute_encoder_with_dispatch_type>(
                "computeCommandEncoderWithDispatchType:"),
            objc::method<&CommandBuffer::compute_encoder_with_descriptor>(
                "computeCommandEncoderWithDescriptor:"),
            objc::method<&CommandBuffer::blit_encoder>("blitCommandEncoder"),
            objc::method<&CommandBuffer::blit_encoder_with_descriptor>(
                "blitCommandEncoderWithDescriptor:"),
            objc::method<&CommandBuffer::encode_wait>("encodeWaitForEvent:value:"),
            objc::method<&CommandBuffer::encode_signal>("encodeSignalEvent:value:"),
            objc::method<&CommandBuffer::enqueue>("enqueue"),
            objc::method<&CommandBuffer::commit>("commit"),
            objc::method<&CommandBuffer::add_scheduled_handler>("addScheduledHandler:"),
            objc::method<&CommandBuffer::add_completed_handler>("addCompletedHandler:"),
            objc::method<&CommandBuffer::wait_until_scheduled>("waitUntilScheduled"),
            objc::method<&CommandBuffer::wait_until_completed>("waitUntilCompleted"),
            objc::method<&push_debug_group>("pushDebugGroup:"),
            objc::method<&pop_debug_group>("popDebugGroup"),
            objc::method<&use_residency_set>("useResidencySet:"),
            objc::method<&use_residency_sets>("useResidencySets:count:"),
            objc::method<&render_encoder>("renderCommandEncoderWithDescriptor:"),
            objc::method<&parallel_render_encoder>("parallelRenderCommandEncoderWithDescriptor:"),
            objc::method<&resource_state_encoder>("resourceStateCommandEncoder"),
            objc::method<&resource_state_encoder_described>(
                "resourceStateCommandEncoderWithDescriptor:"),
            objc::method<&acceleration_encoder>("accelerationStructureCommandEncoder"),
            objc::method<&acceleration_encoder_described>(
                "accelerationStructureCommandEncoderWithDescriptor:"),
            objc::method<&present>("presentDrawable:"),
            objc::method<&present_at>("presentDrawable:atTime:"),
            objc::method<&present_after>("presentDrawable:afterMinimumDuration:"),
        },
    .protocols = {"MTLCommandBuffer"});

} // namespace mtl
