#include "metal/cpu/reference/threads.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdlib>

namespace bessemer::metal::cpu::reference {
namespace {

constexpr size_t kStackBytes = 256 * 1024;

// Stacks with a guard page below, kept for the next threadgroup.
class StackPool {
public:
  void* take() {
    if (!free_.empty()) {
      void* stack = free_.back();
      free_.pop_back();
      return stack;
    }
    const size_t guard = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* memory = mmap(nullptr, kStackBytes + guard, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      std::abort(); // a test tool out of address space has nothing better to do
    mprotect(memory, guard, PROT_NONE);
    return static_cast<char*>(memory) + guard;
  }
  void give(void* stack) { free_.push_back(stack); }

private:
  std::vector<void*> free_;
};

StackPool& stacks() {
  static thread_local StackPool pool;
  return pool;
}

} // namespace

struct Threadgroup::Fiber {
  enum class State : uint8_t { New, Running, Meeting, AtBarrier, Done } state = State::New;
  ucontext_t context;
  ucontext_t scheduler;
  void* stack = nullptr;
  const CallShape* shape = nullptr;
  CallData* data = nullptr;
  Position position;
};

Threadgroup::Threadgroup(unsigned threads, std::function<void(unsigned)> body)
    : count_(threads), body_(std::move(body)) {
  for (unsigned i = 0; i < threads; ++i)
    fibers_.push_back(std::make_unique<Fiber>());
}

Threadgroup::~Threadgroup() {
  for (auto& fiber : fibers_) {
    if (fiber->stack)
      stacks().give(fiber->stack);
  }
}

void Threadgroup::start(unsigned index) {
  Fiber& fiber = *fibers_[index];
  fiber.stack = stacks().take();
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack;
  fiber.context.uc_stack.ss_size = kStackBytes;
  fiber.context.uc_link = &fiber.scheduler;
  // makecontext passes ints only.
  const auto self = reinterpret_cast<uintptr_t>(this);
  auto entry = +[](unsigned high, unsigned low, unsigned thread) {
    auto* group = reinterpret_cast<Threadgroup*>(static_cast<uintptr_t>(high) << 32 | low);
    group->body_(thread);
    group->fibers_[thread]->state = Fiber::State::Done;
  };
  makecontext(&fiber.context, reinterpret_cast<void (*)()>(entry), 3,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self), index);
}

void Threadgroup::resume(unsigned index) {
  Fiber& fiber = *fibers_[index];
  if (fiber.state == Fiber::State::New)
    start(index);
  fiber.state = Fiber::State::Running;
  current_ = index;
  swapcontext(&fiber.scheduler, &fiber.context);
}

void Threadgroup::meet(const CallShape& shape, CallData& data, std::span<const uint32_t> position) {
  Fiber& fiber = *fibers_[current_];
  fiber.shape = &shape;
  fiber.data = &data;
  fiber.position.assign(position.begin(), position.end());
  fiber.state = shape.intrinsic.operation == air::Operation::ThreadgroupBarrier
                    ? Fiber::State::AtBarrier
                    : Fiber::State::Meeting;
  swapcontext(&fiber.context, &fiber.scheduler);
}

bool Threadgroup::serveSimdgroup(unsigned first) {
  const unsigned last = std::min(first + kSimdgroup, count_);
  const Fiber* behind = nullptr;
  for (unsigned i = first; i < last; ++i) {
    const Fiber& fiber = *fibers_[i];
    if (fiber.state == Fiber::State::Meeting && (!behind || fiber.position < behind->position))
      behind = &fiber;
  }
  if (!behind)
    return false;
  std::array<CallData*, kSimdgroup> lanes{};
  for (unsigned i = first; i < last; ++i) {
    const Fiber& fiber = *fibers_[i];
    if (fiber.state == Fiber::State::Meeting && fiber.position == behind->position)
      lanes[i - first] = fiber.data;
  }
  evaluateTogether(*behind->shape, lanes);
  for (unsigned i = first; i < last; ++i) {
    if (lanes[i - first])
      resume(i);
  }
  return true;
}

std::string Threadgroup::run() {
  for (unsigned i = 0; i < count_; ++i)
    resume(i);
  for (;;) {
    for (unsigned first = 0; first < count_; first += kSimdgroup) {
      while (serveSimdgroup(first)) {
      }
    }
    // All threads are at a barrier or done.
    const Fiber* waiting = nullptr;
    for (auto& fiber : fibers_) {
      if (fiber->state != Fiber::State::AtBarrier)
        continue;
      if (waiting && fiber->position != waiting->position)
        return "threads of one threadgroup wait at different barriers";
      waiting = fiber.get();
    }
    if (!waiting)
      return {};
    for (unsigned i = 0; i < count_; ++i) {
      if (fibers_[i]->state == Fiber::State::AtBarrier)
        resume(i);
    }
  }
}

} // namespace bessemer::metal::cpu::reference
