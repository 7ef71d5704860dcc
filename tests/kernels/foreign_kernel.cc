#include "tests/kernels/foreign_kernel.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include "kernel_generated.h"

namespace bessemer::kernels {
namespace {

constexpr uint64_t kPage = 65536; // no processor's are larger

uint64_t pages(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

bool writeAt(int file, const void* data, uint64_t size, uint64_t offset) {
  return pwrite(file, data, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

} // namespace

ForeignKernel::ForeignKernel(const ForeignTarget& target, std::span<const uint8_t> bitcode,
                             std::string function, const std::array<uint32_t, 3>& threads)
    : target_(target), compiler_(std::string(), std::string()), bitcode_(bitcode),
      function_(std::move(function)), threads_(threads) {}

std::expected<std::vector<uint8_t>, std::string> ForeignKernel::compile(bool distinct_buffers) {
  auto compiler = compiler_.open();
  if (!compiler)
    return std::unexpected(compiler.error().message);
  const bessemer_kernel_request_t request = {
      .bitcode = bitcode_.data(),
      .bitcode_size = bitcode_.size(),
      .function = function_.c_str(),
      .constant_count = 0,
      .constants = nullptr,
      .threads = {threads_[0], threads_[1], threads_[2]},
      .distinct_buffers = distinct_buffers,
      .triple = target_.triple.c_str(),
      .cpu = target_.cpu.c_str(),
      .features = "",
      .output = BESSEMER_OUTPUT_KERNEL,
  };
  bessemer_bytes_t out = {}, text = {};
  const bool failed = (*compiler)->compile_kernel(&request, &out, &text) != 0;
  std::string message(reinterpret_cast<const char*>(text.data), text.size);
  std::vector<uint8_t> bytes(out.data, out.data + out.size);
  (*compiler)->release(&out);
  (*compiler)->release(&text);
  if (failed)
    return std::unexpected(message);
  return bytes;
}

std::string ForeignKernel::run(KernelJob job, bool distinct_buffers,
                               std::span<uint8_t* const> regions) {
  std::vector<uint8_t>& code = code_[distinct_buffers];
  if (code.empty()) {
    auto compiled = compile(distinct_buffers);
    if (!compiled)
      return "code: " + compiled.error();
    code = std::move(*compiled);
  }
  const metal::Kernel& kernel = *metal::GetKernel(code.data());
  std::snprintf(job.entry, sizeof job.entry, "%s", kernel.entry()->c_str());
  for (int d = 0; d < 3; ++d)
    job.threads[d] = threads_[static_cast<size_t>(d)];
  job.frame_bytes = kernel.frame_bytes();
  job.frame_alignment = kernel.frame_alignment();
  job.threadgroup_bytes = kernel.threadgroup_bytes();
  job.flush_denormals = kernel.flush_denormals();
  job.region_count = static_cast<uint32_t>(regions.size());
  job.object_offset = pages(sizeof job);
  job.object_size = kernel.object()->size();
  job.regions_offset = pages(job.object_offset + job.object_size);

  std::string path = std::filesystem::temp_directory_path() / "kernel_job.XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0)
    return "cannot make a file like " + path;
  bool done = writeAt(file, &job, sizeof job, 0) &&
              writeAt(file, kernel.object()->data(), job.object_size, job.object_offset);
  for (size_t i = 0; i < regions.size(); ++i)
    done = done && writeAt(file, regions[i], job.filled, job.regions_offset + i * job.filled);
  std::string problem;
  if (!done) {
    problem = "cannot write " + path;
  } else if (const int status = std::system((target_.runner + " " + path).c_str()); status != 0) {
    problem = "the runner ended with status " + std::to_string(status);
  } else {
    for (size_t i = 0; i < regions.size() && problem.empty(); ++i)
      if (pread(file, regions[i], job.filled,
                static_cast<off_t>(job.regions_offset + i * job.filled)) !=
          static_cast<ssize_t>(job.filled))
        problem = "cannot read " + path;
  }
  close(file);
  unlink(path.c_str());
  return problem;
}

} // namespace bessemer::kernels
