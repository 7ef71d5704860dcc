// Shared description of the benchmark suite: what each kernel reads, writes and launches.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

enum class Role { In, Out, InOut }; // InOut and Out are restored before each timed run

struct Buffer {
  Role role;
  size_t bytes;
  std::vector<uint8_t> init; // empty: zero filled
};

union Word {
  int32_t i;
  float f;
};
inline Word wi(int v) {
  Word w;
  w.i = v;
  return w;
}
inline Word wf(float v) {
  Word w;
  w.f = v;
  return w;
}

struct Launch { // one dispatch
  uint32_t groups[3];
  std::vector<Word> params; // 32-bit scalars, in kernel argument order
};

struct Kernel {
  std::string name;
  uint32_t local[3];
  std::vector<Buffer> bufs;
  std::vector<Launch> launches; // run in order, one submission
  bool reset = false;           // restore writable buffers before every run
  double flops = 0, bytes = 0;  // work per run, for the derived rates
  int out = 0;                  // index of the buffer that is checked
  bool is_float = true;
  double tol = 1e-3;   // relative to the largest reference magnitude
  double mismatch = 0; // allowed fraction of wrong elements
  std::function<void(const std::vector<void*>&)> native;
};

std::vector<std::string> kernel_names();
Kernel make_kernel(const std::string& name);

// A backend prepares one kernel at a time and runs all its launches to completion.
struct Backend {
  virtual ~Backend() {}
  virtual std::string name() = 0;
  virtual double prepare(const Kernel& k) = 0;       // returns build seconds
  virtual void reset(const Kernel& k, bool all) = 0; // restore initial contents
  virtual void run(const Kernel& k) = 0;             // blocking
  virtual void read(const Kernel& k, int buf, void* dst) = 0;
  virtual void release() = 0;
  // seconds per dispatch: batch in one submission, or one submission and wait each
  virtual double empty_batched(int n) = 0;
  virtual double empty_each(int n) = 0;
};

// Writes a buffer's initial contents; those of all a kernel's buffers, or of the writable ones.
void restore(const Buffer& buffer, void* memory);
void restore(const Kernel& k, const std::vector<void*>& memory, bool all);

// Ends the program where a call of a peer's API failed.
void expect_zero(const char* api, int result, std::source_location where);

std::unique_ptr<Backend> make_native();
std::unique_ptr<Backend> make_metal();
std::unique_ptr<Backend> make_opencl();
std::unique_ptr<Backend> make_vulkan();

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Two-thread (NATIVE_THREADS) pool; chunks are claimed dynamically.
void parallel_for(int chunks, const std::function<void(int)>& fn);
int pool_threads();
std::string source_dir(); // .../kernels
