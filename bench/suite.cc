// The kernel suite: sizes, inputs, launches, tolerances.
#include "suite.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

void n_saxpy(const float*, float*, int, float);
void n_gelu(const float*, float*, int, int);
void n_transpose(const float*, float*, int, int);
void n_reduce(const float*, float*, int);
void n_sgemm(const float*, const float*, float*, int, int, int);
void n_softmax(const float*, float*, int, int);
void n_layernorm(const float*, const float*, const float*, float*, int, int);
void n_conv3x3(const float*, const float*, float*, int, int, int);
void n_mandelbrot(uint32_t*, int, int, int);
void n_nbody(const float*, float*, int);
void n_histogram(const uint32_t*, uint32_t*, int);
void n_q4_matvec(const uint32_t*, const uint32_t*, float*, int, int);
void n_gather(const float*, const int*, float*, int);
void n_bitonic_step(uint32_t*, int, int, int);

namespace {
struct Rng { // xorshift32, fixed seed
  uint32_t s = 2463534242u;
  uint32_t u() {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return s;
  }
  float f(float lo, float hi) { return lo + (hi - lo) * (float)(u() >> 8) * (1.0f / 16777216.0f); }
};
Buffer in_f(size_t n, float lo, float hi, uint32_t seed = 1) {
  Buffer b{Role::In, n * 4, std::vector<uint8_t>(n * 4)};
  Rng r;
  r.s += seed * 7919u;
  float* p = (float*)b.init.data();
  for (size_t i = 0; i < n; ++i)
    p[i] = r.f(lo, hi);
  return b;
}
Buffer in_u(size_t n, uint32_t mod = 0, Role role = Role::In) {
  Buffer b{role, n * 4, std::vector<uint8_t>(n * 4)};
  Rng r;
  uint32_t* p = (uint32_t*)b.init.data();
  for (size_t i = 0; i < n; ++i)
    p[i] = mod ? r.u() % mod : r.u();
  return b;
}
Buffer out(size_t n) { return {Role::Out, n * 4, {}}; }
void dims(Kernel& k, uint32_t a, uint32_t b, uint32_t c) {
  k.local[0] = a;
  k.local[1] = b;
  k.local[2] = c;
}
template <class T>
T* at(const std::vector<void*>& m, int i) {
  return (T*)m[i];
}
} // namespace

std::vector<std::string> kernel_names() {
  return {"saxpy",       "gelu",        "transpose",      "reduce_local", "reduce_subgroup",
          "sgemm_naive", "sgemm_tiled", "sgemm_regblock", "softmax",      "layernorm",
          "conv3x3",     "mandelbrot",  "nbody",          "histogram",    "q4_matvec",
          "gather",      "bitonic"};
}

Kernel make_kernel(const std::string& name) {
  Kernel k;
  k.name = name;
  dims(k, 256, 1, 1);
  using M = std::vector<void*>;
  if (name == "saxpy") {
    const int n = 1 << 24;
    k.bufs = {in_f(n, -1, 1), in_f(n, -1, 1, 2)};
    k.bufs[1].role = Role::InOut;
    k.launches = {{{n / 256, 1, 1}, {wi(n), wf(0.5f)}}};
    k.flops = 2.0 * n;
    k.bytes = 12.0 * n;
    k.out = 1;
    k.native = [=](const M& m) { n_saxpy(at<float>(m, 0), at<float>(m, 1), n, 0.5f); };
  } else if (name == "gelu") {
    const int n = 1 << 22, it = 4;
    k.bufs = {in_f(n, -4, 4), out(n)};
    k.launches = {{{n / 256, 1, 1}, {wi(n), wi(it)}}};
    k.flops = 10.0 * n * it;
    k.bytes = 8.0 * n;
    k.out = 1;
    k.native = [=](const M& m) { n_gelu(at<float>(m, 0), at<float>(m, 1), n, it); };
  } else if (name == "transpose") {
    const int w = 4096, h = 4096;
    dims(k, 32, 8, 1);
    k.bufs = {in_f((size_t)w * h, -1, 1), out((size_t)w * h)};
    k.launches = {{{w / 32, h / 32, 1}, {wi(w), wi(h)}}};
    k.bytes = 8.0 * w * h;
    k.out = 1;
    k.tol = 0;
    k.native = [=](const M& m) { n_transpose(at<float>(m, 0), at<float>(m, 1), w, h); };
  } else if (name == "reduce_local" || name == "reduce_subgroup") {
    const int n = 1 << 25;
    k.bufs = {in_f(n, 0, 1), out(n / 1024)};
    k.launches = {{{n / 1024, 1, 1}, {wi(n)}}};
    k.flops = n;
    k.bytes = 4.0 * n;
    k.out = 1;
    k.native = [=](const M& m) { n_reduce(at<float>(m, 0), at<float>(m, 1), n); };
  } else if (name.rfind("sgemm", 0) == 0 || name == "gemm_simdgroup") {
    const bool matrices = name == "gemm_simdgroup"; // which the peers do not have
    const bool reg = name == "sgemm_regblock" || matrices;
    const int n = reg ? 1024 : 512;
    const uint32_t t = reg ? 64 : 16;
    if (matrices)
      dims(k, 128, 1, 1);
    else
      dims(k, 16, 16, 1);
    k.bufs = {in_f((size_t)n * n, -1, 1), in_f((size_t)n * n, -1, 1, 3), out((size_t)n * n)};
    k.launches = {{{n / t, n / t, 1}, {wi(n), wi(n), wi(n)}}};
    k.flops = 2.0 * n * n * n;
    k.bytes = 12.0 * n * n;
    k.out = 2;
    k.native = [=](const M& m) {
      n_sgemm(at<float>(m, 0), at<float>(m, 1), at<float>(m, 2), n, n, n);
    };
  } else if (name == "softmax") {
    const int rows = 4096, cols = 4096;
    k.bufs = {in_f((size_t)rows * cols, -8, 8), out((size_t)rows * cols)};
    k.launches = {{{rows, 1, 1}, {wi(cols)}}};
    k.flops = 12.0 * rows * cols;
    k.bytes = 8.0 * rows * cols;
    k.out = 1;
    k.native = [=](const M& m) { n_softmax(at<float>(m, 0), at<float>(m, 1), rows, cols); };
  } else if (name == "layernorm") {
    const int rows = 4096, cols = 4096;
    k.bufs = {in_f((size_t)rows * cols, -2, 3), in_f(cols, 0.5f, 1.5f, 4), in_f(cols, -1, 1, 5),
              out((size_t)rows * cols)};
    k.launches = {{{rows, 1, 1}, {wi(cols)}}};
    k.flops = 8.0 * rows * cols;
    k.bytes = 8.0 * rows * cols;
    k.out = 3;
    k.native = [=](const M& m) {
      n_layernorm(at<float>(m, 0), at<float>(m, 1), at<float>(m, 2), at<float>(m, 3), rows, cols);
    };
  } else if (name == "conv3x3") {
    const int H = 56, W = 56, C = 64;
    dims(k, 64, 4, 1);
    k.bufs = {in_f((size_t)H * W * C, -1, 1), in_f((size_t)9 * C * C, -1, 1, 6),
              out((size_t)H * W * C)};
    k.launches = {{{C / 64, W / 4, H}, {wi(H), wi(W), wi(C)}}};
    k.flops = 2.0 * 9 * C * C * H * W;
    k.bytes = 8.0 * H * W * C;
    k.out = 2;
    k.native = [=](const M& m) {
      n_conv3x3(at<float>(m, 0), at<float>(m, 1), at<float>(m, 2), H, W, C);
    };
  } else if (name == "mandelbrot") {
    const int w = 1024, h = 1024, it = 512;
    dims(k, 16, 16, 1);
    k.bufs = {out((size_t)w * h)};
    k.launches = {{{w / 16, h / 16, 1}, {wi(w), wi(h), wi(it)}}};
    k.is_float = false;
    k.mismatch = 0.02; // rounding (fma) moves the border pixels
    k.native = [=](const M& m) { n_mandelbrot(at<uint32_t>(m, 0), w, h, it); };
  } else if (name == "nbody") {
    const int n = 8192;
    k.bufs = {in_f((size_t)n * 4, 0, 1), out((size_t)n * 4)};
    k.launches = {{{n / 256, 1, 1}, {wi(n)}}};
    k.flops = 20.0 * n * n;
    k.out = 1;
    k.native = [=](const M& m) { n_nbody(at<float>(m, 0), at<float>(m, 1), n); };
  } else if (name == "histogram") {
    const int words = 1 << 23;
    k.bufs = {in_u(words), out(256)};
    k.launches = {{{words / 4096, 1, 1}, {wi(words)}}};
    k.reset = true;
    k.bytes = 4.0 * words;
    k.out = 1;
    k.is_float = false;
    k.native = [=](const M& m) { n_histogram(at<uint32_t>(m, 0), at<uint32_t>(m, 1), words); };
  } else if (name == "q4_matvec") {
    const int rows = 32768, nblk = 128;
    dims(k, 32, 1, 1);
    Buffer w = in_u((size_t)rows * nblk * 5), a = in_u((size_t)nblk * 9);
    Rng r;
    for (size_t b = 0; b < (size_t)rows * nblk; ++b)
      ((float*)w.init.data())[b * 5] = r.f(0.001f, 0.01f);
    for (int b = 0; b < nblk; ++b)
      ((float*)a.init.data())[b * 9] = r.f(0.001f, 0.01f);
    k.bufs = {w, a, out(rows)};
    k.launches = {{{rows, 1, 1}, {wi(nblk)}}};
    k.flops = 64.0 * rows * nblk;
    k.bytes = 20.0 * rows * nblk;
    k.out = 2;
    k.native = [=](const M& m) {
      n_q4_matvec(at<uint32_t>(m, 0), at<uint32_t>(m, 1), at<float>(m, 2), rows, nblk);
    };
  } else if (name == "gather") {
    const int n = 1 << 21, tab = 1 << 22;
    k.bufs = {in_f(tab, -1, 1), in_u((size_t)n * 4, tab), out(n)};
    k.launches = {{{n / 256, 1, 1}, {wi(n)}}};
    k.flops = 3.0 * n;
    k.bytes = 4.0 * n * 4 + 4.0 * n * 4 + 4.0 * n;
    k.out = 2;
    k.native = [=](const M& m) { n_gather(at<float>(m, 0), at<int>(m, 1), at<float>(m, 2), n); };
  } else if (name == "bitonic") {
    const int n = 1 << 19;
    k.bufs = {in_u(n, 0, Role::InOut)};
    for (int kk = 2; kk <= n; kk *= 2)
      for (int j = kk / 2; j > 0; j /= 2)
        k.launches.push_back({{n / 512, 1, 1}, {wi(j), wi(kk)}});
    k.reset = true;
    k.bytes = 8.0 * n * k.launches.size();
    k.is_float = false;
    k.native = [=](const M& m) {
      for (int kk = 2; kk <= n; kk *= 2)
        for (int j = kk / 2; j > 0; j /= 2)
          n_bitonic_step(at<uint32_t>(m, 0), n, j, kk);
    };
  } else if (name == "empty") {
    dims(k, 1, 1, 1);
    k.bufs = {out(64)};
    k.launches = {{{1, 1, 1}, {}}};
    k.is_float = false;
    k.native = [](const M& m) { at<uint32_t>(m, 0)[0] = 1; };
  } else {
    throw std::runtime_error("no kernel " + name);
  }
  return k;
}

void restore(const Buffer& buffer, void* memory) {
  if (buffer.init.empty())
    memset(memory, 0, buffer.bytes);
  else
    memcpy(memory, buffer.init.data(), buffer.bytes);
}

void restore(const Kernel& k, const std::vector<void*>& memory, bool all) {
  for (size_t i = 0; i < memory.size(); ++i)
    if (all || k.bufs[i].role != Role::In)
      restore(k.bufs[i], memory[i]);
}

void expect_zero(const char* api, int result, std::source_location where) {
  if (result == 0)
    return;
  fprintf(stderr, "%s:%u: %s error %d\n", where.file_name(), where.line(), api, result);
  exit(1);
}
