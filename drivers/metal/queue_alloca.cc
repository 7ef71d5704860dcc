// Storage that queues allocate and free.
#include "drivers/metal/queue_operations.h"
#include "drivers/metal/submission.h"
#include "drivers/metal/submission_profile.h"
#include "drivers/metal/transient_buffer.h"
#include "iree/async/notification.h"

namespace bessemer::metal_driver {
namespace {

/// What gives a transient buffer its storage or takes it away.
class StorageOperation : public Submission {
protected:
  StorageOperation(Device* device, Queue* queue, iree_hal_profile_queue_event_type_t type,
                   iree_hal_buffer_t* buffer)
      : Submission(device, queue), buffer_(HalPtr<iree_hal_buffer_t>::Retain(buffer)), type_(type) {
  }

  iree_hal_buffer_t* buffer() const { return buffer_.get(); }

  /// Tells profiles, if there are any, of a step.
  void Report(iree_hal_profile_memory_event_type_t type, const iree_status_t& status,
              iree_hal_pool_t* pool = nullptr,
              const iree_hal_pool_reservation_t* reservation = nullptr,
              iree_hal_profile_memory_event_flags_t flags = 0) const {
    if (!profiler())
      return;
    const Profiler::Operation& operation = profile().operation;
    auto event = iree_hal_profile_memory_event_default();
    event.type = type;
    event.flags = flags | IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_QUEUE_OPERATION;
    event.result = iree_status_code(status);
    event.allocation_id = operation.info.allocation_id;
    event.submission_id = operation.submission_id;
    event.queue_ordinal = operation.queue_ordinal;
    event.memory_type = iree_hal_buffer_memory_type(buffer());
    event.buffer_usage = iree_hal_buffer_allowed_usage(buffer());
    event.length = iree_hal_buffer_allocation_size(buffer());
    if (reservation) {
      event.flags |= IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_POOL_RESERVATION;
      event.backing_id = reservation->block_handle;
      event.offset = reservation->offset;
      event.length = reservation->length;
    }
    pool ? profiler()->RecordMemory(event, pool) : profiler()->RecordMemory(event);
  }

private:
  OperationInfo Info() const final {
    OperationInfo info;
    info.type = type_;
    info.payload_length = iree_hal_buffer_allocation_size(buffer());
    info.allocation_id = TransientId(buffer());
    return info;
  }

  void Retire() override { buffer_ = {}; }

  HalPtr<iree_hal_buffer_t> buffer_;
  iree_hal_profile_queue_event_type_t type_;
};

class Alloca : public StorageOperation {
public:
  /// `frees_at_once`: what the pool gets back needs no waiting for.
  Alloca(Device* device, Queue* queue, iree_hal_pool_t* pool, bool frees_at_once,
         const iree_hal_buffer_params_t& params, iree_device_size_t size,
         iree_hal_alloca_flags_t flags, iree_hal_buffer_t* buffer)
      : StorageOperation(device, queue, IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_ALLOCA, buffer),
        pool_(pool), frees_at_once_(frees_at_once), params_(params), size_(size),
        reserve_flags_(iree_any_bit_set(flags, IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER)
                           ? IREE_HAL_POOL_RESERVE_FLAG_ALLOW_WAIT_FRONTIER
                           : IREE_HAL_POOL_RESERVE_FLAG_NONE) {
    if (pool_)
      iree_hal_pool_retain(pool_);
  }

  ~Alloca() override {
    Abandon();
    iree_hal_pool_release(pool_);
  }

  /// What the caller of queue_alloca can be told at once.
  enum class Attempt { kDone, kExhausted, kWaits };

  /// One try to get the storage. On kWaits the frontier in `wait_frontier` must be reached first.
  iree_status_t TryReserve(const iree_async_frontier_t* requester, Attempt* out_attempt) {
    iree_hal_pool_acquire_info_t info = {};
    iree_hal_pool_acquire_result_t result = IREE_HAL_POOL_ACQUIRE_EXHAUSTED;
    IREE_RETURN_IF_ERROR(iree_hal_pool_acquire_reservation(
        pool_, size_, iree_max(params_.min_alignment, 16u), requester, reserve_flags_,
        &reservation_, &info, &result));
    switch (result) {
    case IREE_HAL_POOL_ACQUIRE_OK:
    case IREE_HAL_POOL_ACQUIRE_OK_FRESH:
      *out_attempt = Attempt::kDone;
      break;
    case IREE_HAL_POOL_ACQUIRE_OK_NEEDS_WAIT: {
      // The frontier is the pool's; ours to keep until it is reached.
      *out_attempt = Attempt::kWaits;
      auto* copy = iree_async_fixed_frontier_as_frontier(&wait_frontier_);
      iree_async_frontier_initialize(copy, 0);
      if (info.wait_frontier &&
          !iree_async_frontier_merge(copy, IREE_ARRAYSIZE(wait_frontier_.entries),
                                     info.wait_frontier)) {
        iree_hal_pool_release_reservation(pool_, &reservation_, info.wait_frontier);
        return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                                "the memory of the pool is behind too many queues");
      }
      break;
    }
    default:
      *out_attempt = Attempt::kExhausted;
      // Memory comes free behind work of others, and to wait for that has to be allowed.
      if (reserve_flags_ & IREE_HAL_POOL_RESERVE_FLAG_ALLOW_WAIT_FRONTIER)
        return iree_ok_status();
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                              "the pool has no %" PRIdsz " bytes now, and the allocation does not "
                              "allow to wait for them",
                              size_);
    }
    has_reservation_ = true;
    return iree_ok_status();
  }

  /// Before anything was waited for: reserves at once, so that errors are the caller's. False when
  /// that has to wait.
  iree_status_t ReserveNow(const iree_hal_semaphore_list_t& waits) {
    if (!pool_ || !iree_hal_semaphore_list_poll(waits))
      return iree_ok_status();
    Attempt attempt = Attempt::kDone;
    SubmissionFrontier requester = {};
    AddQueueTo(&requester);
    for (iree_host_size_t i = 0; i < waits.count; ++i) {
      SubmissionFrontier known;
      auto* frontier = iree_async_fixed_frontier_as_frontier(&known);
      if (iree_async_semaphore_query_frontier(
              reinterpret_cast<iree_async_semaphore_t*>(waits.semaphores[i]), frontier,
              IREE_ARRAYSIZE(known.entries))) {
        iree_async_frontier_merge(iree_async_fixed_frontier_as_frontier(&requester),
                                  IREE_ARRAYSIZE(requester.entries), frontier);
      }
    }
    IREE_RETURN_IF_ERROR(
        TryReserve(iree_async_fixed_frontier_as_const_frontier(&requester), &attempt));
    return iree_ok_status();
  }

private:
  void Run() override {
    if (!pool_) {
      iree_hal_buffer_t* storage = nullptr;
      iree_status_t status =
          iree_hal_allocator_allocate_buffer(device()->allocator.get(), params_, size_, &storage);
      if (iree_status_is_ok(status)) {
        CommitTransient(buffer(), HalPtr<iree_hal_buffer_t>::Take(storage), {});
      }
      Report(IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_ALLOCA, status);
      Complete(status);
      return;
    }
    if (!has_reservation_) {
      AddQueueTo(nullptr);
      // The token comes before the attempt, so that a release between the two is not missed.
      uint32_t token = iree_async_notification_begin_observe(iree_hal_pool_notification(pool_));
      Attempt attempt = Attempt::kDone;
      iree_status_t status = TryReserve(history(), &attempt);
      if (!iree_status_is_ok(status) || attempt != Attempt::kExhausted) {
        iree_async_notification_end_observe(iree_hal_pool_notification(pool_));
      }
      if (!iree_status_is_ok(status)) {
        Complete(status);
        return;
      }
      if (attempt == Attempt::kExhausted) {
        Report(IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_WAIT, iree_ok_status(), pool_, nullptr,
               IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_WAIT_NOTIFICATION);
        // A thread waits for the pool: it says that something was freed, not for whom.
        device()->workers->Post([this, token] {
          iree_async_notification_wait_for_token(iree_hal_pool_notification(pool_), token,
                                                 iree_infinite_timeout());
          iree_async_notification_end_observe(iree_hal_pool_notification(pool_));
          Run();
        });
        return;
      }
    }
    Report(IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_RESERVE, iree_ok_status(), pool_, &reservation_);
    if (wait_frontier_.entry_count == 0) {
      Materialize(iree_ok_status());
      return;
    }
    if (!queue()->tracker()) {
      Materialize(iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                                   "memory behind other queues needs a device in a group"));
      return;
    }
    Report(IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_WAIT, iree_ok_status(), pool_, &reservation_,
           IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_WAIT_FRONTIER);
    iree_status_t status = iree_async_frontier_tracker_wait(
        queue()->tracker(), iree_async_fixed_frontier_as_const_frontier(&wait_frontier_),
        +[](void* self, iree_status_t status) { static_cast<Alloca*>(self)->Materialize(status); },
        this, &waiter_);
    if (!iree_status_is_ok(status))
      Materialize(status);
  }

  void Materialize(iree_status_t status) {
    iree_hal_buffer_t* storage = nullptr;
    if (iree_status_is_ok(status)) {
      status = iree_hal_pool_materialize_reservation(pool_, params_, &reservation_,
                                                     IREE_HAL_POOL_MATERIALIZE_FLAG_NONE, &storage);
      Report(IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_MATERIALIZE, status, pool_, &reservation_);
    }
    if (iree_status_is_ok(status)) {
      CommitTransient(buffer(), HalPtr<iree_hal_buffer_t>::Take(storage),
                      {HalPtr<iree_hal_pool_t>::Retain(pool_), reservation_, frees_at_once_});
      has_reservation_ = false;
    } else {
      Abandon();
    }
    Report(IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_ALLOCA, status);
    Complete(status);
  }

  void Abandon() final {
    if (std::exchange(has_reservation_, false)) {
      // Not used by us: whoever had it before still may.
      auto* frontier = wait_frontier_.entry_count
                           ? iree_async_fixed_frontier_as_const_frontier(&wait_frontier_)
                           : nullptr;
      iree_hal_pool_release_reservation(pool_, &reservation_, frontier);
      Report(IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_RELEASE, iree_ok_status(), pool_,
             &reservation_);
    }
  }

  /// Everything that this queue has completed happened before what it runs now.
  void AddQueueTo(SubmissionFrontier* frontier) {
    if (!queue()->tracker() || queue()->epoch() == 0)
      return;
    iree_async_single_frontier_t self;
    iree_async_single_frontier_initialize(&self, queue()->axis(), queue()->epoch());
    iree_async_frontier_t* target =
        frontier ? iree_async_fixed_frontier_as_frontier(frontier) : history();
    iree_async_frontier_merge(target, IREE_ARRAYSIZE(wait_frontier_.entries),
                              iree_async_single_frontier_as_const_frontier(&self));
  }

  iree_hal_pool_t* pool_;
  bool frees_at_once_;
  iree_hal_buffer_params_t params_;
  iree_device_size_t size_;
  iree_hal_pool_reserve_flags_t reserve_flags_;
  iree_hal_pool_reservation_t reservation_ = {};
  bool has_reservation_ = false;
  SubmissionFrontier wait_frontier_ = {};
  iree_async_frontier_waiter_t waiter_ = {};
};

class Dealloca : public StorageOperation {
public:
  Dealloca(Device* device, Queue* queue, iree_hal_buffer_t* buffer)
      : StorageOperation(device, queue, IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DEALLOCA, buffer) {}

private:
  void Run() override {
    HalPtr<iree_hal_pool_t> pool = DecommitTransient(buffer(), Stamp());
    if (pool)
      Report(IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_RELEASE, iree_ok_status(), pool.get());
    Report(IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_DEALLOCA, iree_ok_status());
    Complete(iree_ok_status());
  }
  void Abandon() override { CancelTransientDealloca(buffer()); }
};

} // namespace

iree_status_t QueueAlloca(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                          const iree_hal_semaphore_list_t waits,
                          const iree_hal_semaphore_list_t signals, iree_hal_pool_t* pool,
                          iree_hal_buffer_params_t params, iree_device_size_t allocation_size,
                          iree_hal_alloca_flags_t flags, iree_hal_buffer_t** out_buffer) {
  *out_buffer = nullptr;
  Device* device = Device::From(base);
  Queue* queue = nullptr;
  IREE_RETURN_IF_ERROR(device->SelectQueue(queue_affinity, &queue));
  iree_device_size_t size = allocation_size;
  if (!device->memory->Resolve(params, size)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "no memory of the device can be both mapped and local to it");
  }
  params.queue_affinity = iree_hal_queue_affinity_t{1} << queue->ordinal;
  iree_hal_buffer_placement_t placement = {base, params.queue_affinity,
                                           IREE_HAL_BUFFER_PLACEMENT_FLAG_ASYNCHRONOUS, 0};
  if (iree_any_bit_set(flags, IREE_HAL_ALLOCA_FLAG_INDETERMINATE_LIFETIME))
    placement.flags |= IREE_HAL_BUFFER_PLACEMENT_FLAG_INDETERMINATE_LIFETIME;
  iree_hal_buffer_t* raw_buffer = nullptr;
  IREE_RETURN_IF_ERROR(CreateTransient(placement, params, size, allocation_size,
                                       device->host_allocator, &raw_buffer));
  auto buffer = HalPtr<iree_hal_buffer_t>::Take(raw_buffer);
  bool is_default = !pool;
  if (is_default)
    pool = device->DefaultPool(params, size);
  auto alloca =
      std::make_unique<Alloca>(device, queue, pool, is_default, params, size, flags, buffer.get());
  IREE_RETURN_IF_ERROR(alloca->ReserveNow(waits));
  IREE_RETURN_IF_ERROR(Submission::Start(std::move(alloca), waits, {}, signals));
  *out_buffer = buffer.release();
  return iree_ok_status();
}

iree_status_t QueueDealloca(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                            const iree_hal_semaphore_list_t waits,
                            const iree_hal_semaphore_list_t signals, iree_hal_buffer_t* buffer,
                            iree_hal_dealloca_flags_t) {
  Device* device = Device::From(base);
  Queue* queue = nullptr;
  IREE_RETURN_IF_ERROR(device->SelectQueue(queue_affinity, &queue));
  iree_hal_buffer_t* root = iree_hal_buffer_allocated_buffer(buffer);
  if (!IsTransient(root)) {
    // Another driver's: its storage goes with its last owner, and the timeline goes on.
    return QueueExecute(base, queue_affinity, waits, signals, nullptr,
                        iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE);
  }
  IREE_RETURN_IF_ERROR(BeginTransientDealloca(root));
  iree_status_t status =
      Submission::Start(std::make_unique<Dealloca>(device, queue, root), waits, {}, signals);
  if (!iree_status_is_ok(status))
    CancelTransientDealloca(root);
  return status;
}

} // namespace bessemer::metal_driver
