// MTLCommandBuffer: records into a command list of the executor, which the queue runs.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "metal/cpu/executor/command_list.h"
#include "metal/foundation/error.h"
#include "metal/objc/block.h"
#include "metal/runtime/command_queue.h"
#include "metal/runtime/resource.h"

namespace mtl {

class BlitEncoder;
class BlitPassDescriptor;
class CommandEncoder;
class ComputeEncoder;
class ComputePassDescriptor;
class Event;

class CommandBuffer : public DeviceObject {
public:
  OBJC_CLASS(CommandBuffer, "BSMCommandBuffer");

  using Handler = objc::Block<void(CommandBuffer*)>;

  CommandBuffer(CommandQueue* queue, bool retained_references, UInteger error_options,
                LogState* log_state);
  ~CommandBuffer();

  CommandQueue* command_queue() const { return queue_.get(); }
  bool retained_references() const { return retained_references_; }
  UInteger error_options() const { return error_options_; }
  CommandBufferStatus status() const;
  /// Null unless status is Error.
  ns::Error* error();

  // Seconds on the clock of MTLDevice sampleTimestamps:gpuTimestamp:; 0 until completed.
  double gpu_start_time() const;
  double gpu_end_time() const;
  double kernel_start_time() const;
  double kernel_end_time() const;

  // Encoders, autoreleased; the one before must have ended.
  ComputeEncoder* compute_encoder();
  ComputeEncoder* compute_encoder_with_dispatch_type(DispatchType type);
  ComputeEncoder* compute_encoder_with_descriptor(ComputePassDescriptor* descriptor);
  BlitEncoder* blit_encoder();
  BlitEncoder* blit_encoder_with_descriptor(BlitPassDescriptor* descriptor);
  void encode_wait(Event* event, uint64_t value);
  void encode_signal(Event* event, uint64_t value);

  void enqueue();
  void commit();
  void add_scheduled_handler(Handler* block);
  void add_completed_handler(Handler* block);
  /// Both return when the handlers have, unless called by a handler, which would be waiting for
  /// itself.
  void wait_until_scheduled();
  void wait_until_completed();

  // ---- For encoders ----
  bessemer::metal::cpu::CommandList& list() { return *list_; }
  /// Whether encoders may still record: false once a call was wrong, so that nothing runs on what
  /// that call should have set up, and after commit.
  bool accepts_commands() const { return accepts_commands_; }
  bool is_committed() const { return committed_; }
  /// Reports wrong use; the command buffer ends with an error that says the same.
  void fail(std::string text);
  /// Keeps a resource until the command buffer has completed, if it retains references.
  void use(Resource* resource) {
    if (retained_references_ && resource->mark_retained_by(identity_))
      keep(resource);
  }
  /// The same for other objects.
  void keep(objc::Object* object);
  void encoder_ended(CommandEncoder* encoder);

private:
  struct KeptObjects;

  void begin_encoder(const char* where);
  void run_handlers(std::vector<objc::BlockRef<void(CommandBuffer*)>>& handlers);
  bool is_recording(const char* where);
  bool is_done() const;
  void release_kept();

  objc::Ref<CommandQueue> queue_;
  std::shared_ptr<bessemer::metal::cpu::CommandList> list_;
  uint64_t identity_; // unique; marks the resources that are kept
  bool retained_references_;
  bool accepts_commands_ = true;
  bool committed_ = false;
  UInteger error_options_;
  objc::Ref<LogState> log_state_;
  CommandEncoder* open_encoder_ = nullptr;  // keeps this object
  std::atomic<KeptObjects*> kept_{nullptr}; // owned by the list
  std::vector<objc::BlockRef<void(CommandBuffer*)>> scheduled_handlers_;
  std::vector<objc::BlockRef<void(CommandBuffer*)>> completed_handlers_;
  std::vector<objc::Ref<objc::Object>> encoder_labels_; // with kCommandBufferErrorOption...
  int64_t commit_nanoseconds_ = 0;
  std::string misuse_; // the first wrong call's text
  std::mutex error_mutex_;
  objc::Ref<ns::Error> error_;
};

} // namespace mtl
