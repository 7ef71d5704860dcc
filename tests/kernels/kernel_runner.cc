// Runs one KernelJob, on whatever processor this is built for: with the executor's loader, without
// LLVM.
//
//   kernel_runner JOB
#include "tests/kernels/kernel_job.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "metal/compiler/kernel_abi.h"
#include "metal/cpu/executor/floating_point_mode.h"
#include "metal/cpu/executor/object_loader.h"

namespace bessemer::kernels {
namespace {

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void* memory(uint64_t size, uint32_t alignment) {
  void* block = nullptr;
  if (posix_memalign(&block, alignment < 64 ? 64 : alignment, size + 64) != 0)
    fail("posix_memalign");
  return block;
}

int run(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  struct stat info;
  if (file < 0 || fstat(file, &info) != 0)
    fail(path);
  const auto size = static_cast<size_t>(info.st_size);
  void* view = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (view == MAP_FAILED)
    fail("mmap of the job");
  const auto& job = *static_cast<const KernelJob*>(view);
  if (size < sizeof job || job.version != KernelJob::kVersion) {
    std::fprintf(stderr, "%s: not a job of this runner\n", path);
    return 1;
  }

  std::vector<uint8_t*> regions;
  for (uint32_t i = 0; i < job.region_count; ++i) {
    auto* around = static_cast<uint8_t*>(mmap(nullptr, 2 * job.reach, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (around == MAP_FAILED)
      fail("mmap around a region");
    const auto offset = static_cast<off_t>(job.regions_offset + i * job.filled);
    void* data = mmap(around + job.reach, job.filled, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED, file, offset);
    if (data == MAP_FAILED)
      fail("mmap of a region");
    regions.push_back(static_cast<uint8_t*>(data));
  }

  bessemer_dispatch_t dispatch = {};
  uint32_t constants[32];
  std::memcpy(constants, job.constants, sizeof constants);
  for (int n = 0; n < BESSEMER_MAX_BUFFERS; ++n) {
    const int32_t what = job.buffers[n];
    if (what >= 0)
      dispatch.buffers[n] = regions[static_cast<size_t>(what)];
    else if (what == KernelJob::kConstants)
      dispatch.buffers[n] = constants;
    else if (what == KernelJob::kArguments)
      dispatch.buffers[n] = std::calloc(1, KernelJob::kArgumentBytes);
  }
  for (uint32_t i = 0; i < job.pointer_count; ++i) {
    const KernelJob::Pointer& pointer = job.pointers[i];
    std::memcpy(static_cast<uint8_t*>(dispatch.buffers[pointer.buffer]) + pointer.offset,
                &regions[pointer.region], sizeof(void*));
  }
  uint64_t groups = 1;
  for (int d = 0; d < 3; ++d) {
    dispatch.threads_per_threadgroup[d] = job.threads[d];
    dispatch.threadgroups_per_grid[d] = dispatch.region_size[d] = job.threadgroups[d];
    dispatch.threads_per_grid[d] = job.threadgroups[d] * job.threads[d];
    groups *= job.threadgroups[d];
  }

  auto object = metal::cpu::LoadedObject::load(
      {static_cast<const uint8_t*>(view) + job.object_offset, job.object_size}, job.entry,
      job.entry);
  if (!object) {
    std::fprintf(stderr, "%s\n", object.error().message.c_str());
    return 1;
  }
  void* threadgroup_memory = memory(job.threadgroup_bytes, 64);
  void* frame = memory(job.frame_bytes, job.frame_alignment);
  const metal::cpu::FloatingPointMode mode(job.flush_denormals != 0);
  reinterpret_cast<bessemer_kernel_entry_t>(object->entry())(&dispatch, 0, groups,
                                                             threadgroup_memory, frame);
  return 0;
}

} // namespace
} // namespace bessemer::kernels

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s JOB\n", argv[0]);
    return 2;
  }
  return bessemer::kernels::run(argv[1]);
}
