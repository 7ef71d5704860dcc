#include "metal/cpu/executor/kernel_thread.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "metal/cpu/executor/floating_point_mode.h"

namespace bessemer::metal::cpu {

// ---- Scratch memory ----

ScratchMemory::~ScratchMemory() {
  if (data_)
    munmap(data_, size_);
}

void* ScratchMemory::reserve(size_t size, size_t alignment) {
  const size_t page = 4096;
  // Mappings are page aligned; more is had by leaving room.
  size_t needed = size + (alignment > page ? alignment : 0);
  if (needed < size)
    return nullptr;
  if (needed > size_) {
    if (data_)
      munmap(data_, size_);
    data_ = nullptr;
    size_ = 0;
    needed = std::max<size_t>((needed + page - 1) / page * page, 64 * 1024);
    void* data = mmap(nullptr, needed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
      return nullptr;
    data_ = data;
    size_ = needed;
  }
  const uintptr_t start = reinterpret_cast<uintptr_t>(data_);
  return reinterpret_cast<void*>((start + alignment - 1) & ~uintptr_t{alignment - 1});
}

// ---- Registry ----

// Never destroyed: threads may outlive static objects.
static std::mutex& registry_mutex() {
  static std::mutex* mutex = new std::mutex;
  return *mutex;
}

void KernelThreadRegistry::lock() { registry_mutex().lock(); }
void KernelThreadRegistry::unlock() { registry_mutex().unlock(); }
KernelThread*& KernelThreadRegistry::first() {
  static KernelThread* first = nullptr;
  return first;
}

// ---- Signals ----

// Its default action is to be ignored, so one that arrives late harms nobody.
static constexpr int kWatchdogSignal = SIGURG;

// Set only while a kernel runs on this thread. Initial-exec: a signal handler must not allocate, as
// the first access to the thread-local storage of a shared library may.
[[gnu::tls_model("initial-exec")]] static thread_local KernelThread* volatile running = nullptr;

class FaultHandler {
public:
  static void install() {
    static std::once_flag once;
    std::call_once(once, [] {
      for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, kWatchdogSignal}) {
        struct sigaction action = {};
        action.sa_sigaction = &handle;
        // The alternate stack is for kernels that ran out of stack. The handler is left by a jump.
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
        sigemptyset(&action.sa_mask);
        sigaction(signal, &action, &previous_[signal]);
      }
    });
  }

private:
  static void handle(int signal, siginfo_t* info, void* context) {
    KernelThread* thread = running;
    if (thread) {
      if (signal == kWatchdogSignal) {
        if (thread->interrupted_.load(std::memory_order_relaxed) == thread->sequence()) {
          thread->fault_ = {.signal = 0, .address = 0, .instruction = instruction(context)};
          leave(thread, context);
        }
      } else if (info->si_code > 0) { // by the processor, not sent by a process
        thread->fault_ = {.signal = signal,
                          .address = reinterpret_cast<uintptr_t>(info->si_addr),
                          .instruction = instruction(context)};
        leave(thread, context);
      }
    }
    pass_on(signal, info, context);
  }

  [[noreturn]] static void leave(KernelThread* thread, void* context) {
    running = nullptr;
    // What was blocked before the signal: a sanitizer's wrapper blocks all while a handler runs.
    // The system writes only as many bytes as it has signals.
    sigemptyset(&thread->signal_mask_);
    std::memcpy(&thread->signal_mask_, &static_cast<ucontext_t*>(context)->uc_sigmask, NSIG / 8);
    siglongjmp(thread->return_point_, 1);
  }

  static uintptr_t instruction(void* context) {
    auto* state = static_cast<ucontext_t*>(context);
#if defined(__x86_64__)
    return static_cast<uintptr_t>(state->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return static_cast<uintptr_t>(state->uc_mcontext.pc);
#endif
  }

  // The signal is not ours: whoever had it before gets it as if we were not here.
  static void pass_on(int signal, siginfo_t* info, void* context) {
    const struct sigaction& previous = previous_[signal];
    const bool plain = !(previous.sa_flags & SA_SIGINFO);
    if (plain && (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN)) {
      const bool ignored =
          signal == kWatchdogSignal || (previous.sa_handler == SIG_IGN && info->si_code <= 0);
      if (ignored)
        return;
      struct sigaction action = {};
      action.sa_handler = SIG_DFL;
      sigaction(signal, &action, nullptr);
      // A fault happens again when the instruction is run again; one that was sent does not.
      if (info->si_code <= 0)
        raise(signal);
      return;
    }
    sigset_t mask = previous.sa_mask, before;
    if (!(previous.sa_flags & SA_NODEFER))
      sigaddset(&mask, signal);
    pthread_sigmask(SIG_BLOCK, &mask, &before);
    if (plain)
      previous.sa_handler(signal);
    else
      previous.sa_sigaction(signal, info, context);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  static struct sigaction previous_[NSIG];
};

struct sigaction FaultHandler::previous_[NSIG];

// ---- Calls ----

KernelThread& KernelThread::current() {
  thread_local KernelThread thread;
  return thread;
}

// A thread that gets the memory of one that ended must not be taken for it.
static std::atomic<uint64_t> thread_count{0};

KernelThread::KernelThread() : sequence_(thread_count.fetch_add(1) << 40), thread_(pthread_self()) {
  FaultHandler::install();
  stack_t stack = {};
  // A thread that has an alternate stack keeps its own.
  if (sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_DISABLE)) {
    const size_t size = std::max<size_t>(static_cast<size_t>(sysconf(_SC_SIGSTKSZ)), 64 * 1024);
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) {
      stack = {.ss_sp = memory, .ss_flags = 0, .ss_size = size};
      if (sigaltstack(&stack, nullptr) == 0)
        signal_stack_ = memory;
      else
        munmap(memory, size);
    }
  }
  std::lock_guard lock(registry_mutex());
  KernelThread*& first = KernelThreadRegistry::first();
  next_ = first;
  if (next_)
    next_->previous_ = this;
  first = this;
}

KernelThread::~KernelThread() {
  {
    std::lock_guard lock(registry_mutex());
    (previous_ ? previous_->next_ : KernelThreadRegistry::first()) = next_;
    if (next_)
      next_->previous_ = previous_;
  }
  stack_t stack = {};
  if (signal_stack_ && sigaltstack(nullptr, &stack) == 0 && stack.ss_sp == signal_stack_) {
    const stack_t off = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    sigaltstack(&off, nullptr);
    munmap(signal_stack_, stack.ss_size);
  }
}

bool KernelThread::run(void (*body)(void* context), void* context, bool flush_denormals,
                       KernelFault* fault) {
  const FloatingPointMode mode(flush_denormals);
  sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  bool returned = true;
  // The mask is not saved (a system call each time); the handler knows it.
  if (sigsetjmp(return_point_, 0) == 0) {
    running = this;
    body(context);
    running = nullptr;
  } else {
    pthread_sigmask(SIG_SETMASK, &signal_mask_, nullptr);
    returned = false;
    *fault = fault_;
  }
  sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return returned;
}

void KernelThread::interrupt(uint64_t sequence) {
  interrupted_.store(sequence, std::memory_order_relaxed);
  pthread_kill(thread_, kWatchdogSignal);
}

std::string describe(const KernelFault& fault) {
  const char* what = "";
  switch (fault.signal) {
  case 0:
    return "the kernel did not end in time";
  case SIGSEGV:
    what = "access to memory that is not mapped or not allowed (SIGSEGV)";
    break;
  case SIGBUS:
    what = "access to memory that has no backing (SIGBUS)";
    break;
  case SIGFPE:
    what = "arithmetic fault (SIGFPE)";
    break;
  case SIGILL:
    what = "illegal instruction (SIGILL)";
    break;
  }
  char text[160];
  std::snprintf(text, sizeof text, "%s at address 0x%zx", what, fault.address);
  return text;
}

} // namespace bessemer::metal::cpu
