// OpenCL backend (PoCL).
#define CL_TARGET_OPENCL_VERSION 120
#include "suite.h"
#include <CL/cl.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace {
void CK(cl_int result, std::source_location where = std::source_location::current()) {
  expect_zero("OpenCL", result, where);
}

struct OpenCL : Backend {
  cl_device_id dev{};
  cl_context ctx{};
  cl_command_queue q{};
  cl_program prog{};
  cl_kernel kern{};
  std::vector<cl_mem> mem;
  std::vector<void*> host;

  OpenCL() {
    cl_platform_id p;
    cl_int e;
    CK(clGetPlatformIDs(1, &p, nullptr));
    CK(clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &dev, nullptr));
    ctx = clCreateContext(nullptr, 1, &dev, nullptr, nullptr, &e);
    CK(e);
    q = clCreateCommandQueue(ctx, dev, 0, &e);
    CK(e);
  }
  std::string name() override { return "pocl"; }
  double prepare(const Kernel& k) override {
    std::ifstream f(source_dir() + "/opencl/" + k.name + ".cl");
    std::stringstream ss;
    ss << f.rdbuf();
    std::string src = ss.str();
    const char* s = src.c_str();
    size_t len = src.size();
    cl_int e;
    const char* opt = getenv("BENCH_CL_OPTIONS");
    double t = now();
    prog = clCreateProgramWithSource(ctx, 1, &s, &len, &e);
    CK(e);
    if (clBuildProgram(prog, 1, &dev, opt ? opt : "-cl-fast-relaxed-math -cl-mad-enable", nullptr,
                       nullptr) != CL_SUCCESS) {
      static char log[65536];
      clGetProgramBuildInfo(prog, dev, CL_PROGRAM_BUILD_LOG, sizeof log, log, nullptr);
      fprintf(stderr, "%s: %s\n", k.name.c_str(), log);
      exit(1);
    }
    kern = clCreateKernel(prog, k.name.c_str(), &e);
    CK(e);
    t = now() - t;
    // Zero-copy: PoCL's CPU device uses the host allocation directly.
    for (size_t i = 0; i < k.bufs.size(); ++i) {
      void* h = aligned_alloc(4096, (k.bufs[i].bytes + 4095) & ~(size_t)4095);
      host.push_back(h);
    }
    reset(k, true);
    for (size_t i = 0; i < k.bufs.size(); ++i) {
      mem.push_back(clCreateBuffer(ctx, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, k.bufs[i].bytes,
                                   host[i], &e));
      CK(e);
      CK(clSetKernelArg(kern, i, sizeof(cl_mem), &mem[i]));
    }
    return t;
  }
  void reset(const Kernel& k, bool all) override {
    for (size_t i = 0; i < host.size(); ++i) {
      auto& b = k.bufs[i];
      if (!all && b.role == Role::In)
        continue;
      void* p = host[i];
      cl_int e;
      if (i < mem.size()) {
        p = clEnqueueMapBuffer(q, mem[i], CL_TRUE, CL_MAP_WRITE, 0, b.bytes, 0, nullptr, nullptr,
                               &e);
        CK(e);
      }
      restore(b, p);
      if (i < mem.size()) {
        CK(clEnqueueUnmapMemObject(q, mem[i], p, 0, nullptr, nullptr));
        CK(clFinish(q));
      }
    }
  }
  void enqueue(const Kernel& k, const Launch& l) {
    for (size_t i = 0; i < l.params.size(); ++i)
      CK(clSetKernelArg(kern, k.bufs.size() + i, 4, &l.params[i]));
    size_t g[3], lo[3];
    for (int d = 0; d < 3; ++d) {
      lo[d] = k.local[d];
      g[d] = (size_t)l.groups[d] * k.local[d];
    }
    CK(clEnqueueNDRangeKernel(q, kern, 3, nullptr, g, lo, 0, nullptr, nullptr));
  }
  void run(const Kernel& k) override {
    for (auto& l : k.launches)
      enqueue(k, l);
    CK(clFinish(q));
  }
  void read(const Kernel& k, int i, void* dst) override {
    CK(clEnqueueReadBuffer(q, mem[i], CL_TRUE, 0, k.bufs[i].bytes, dst, 0, nullptr, nullptr));
  }
  void release() override {
    for (auto m : mem)
      clReleaseMemObject(m);
    for (auto h : host)
      free(h);
    mem.clear();
    host.clear();
    clReleaseKernel(kern);
    clReleaseProgram(prog);
  }
  double empty_batched(int n) override {
    Kernel k = make_kernel("empty");
    double t = now();
    for (int i = 0; i < n; ++i)
      enqueue(k, k.launches[0]);
    CK(clFinish(q));
    return (now() - t) / n;
  }
  double empty_each(int n) override {
    Kernel k = make_kernel("empty");
    double t = now();
    for (int i = 0; i < n; ++i) {
      enqueue(k, k.launches[0]);
      CK(clFinish(q));
    }
    return (now() - t) / n;
  }
};
} // namespace
std::unique_ptr<Backend> make_opencl() { return std::make_unique<OpenCL>(); }
