// Machine limits: FMA peak and STREAM-like bandwidth, all threads.
#include "suite.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <immintrin.h>
std::string source_dir() { return "kernels"; }

static double cpu() {
  timespec t{0, 400000};
  nanosleep(&t, nullptr); // let workers sleep: their time is then charged
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
template <class F>
static void rep(const char* what, const char* unit, double work, F f, int reps = 41) {
  std::vector<double> t, c;
  f();
  for (int r = 0; r < reps; ++r) {
    double k = cpu(), s = now();
    f();
    t.push_back(now() - s);
    c.push_back((cpu() - k) / pool_threads());
  }
  std::sort(t.begin(), t.end());
  std::sort(c.begin(), c.end());
  // best and median by wall clock, then by CPU time over the threads (what a quiet machine would
  // give)
  printf("micro,%d threads,%s,%s,%.1f,%.1f,%.1f,%.1f\n", pool_threads(), what, unit,
         work / t[0] / 1e9, work / t[reps / 2] / 1e9, work / c[0] / 1e9, work / c[reps / 2] / 1e9);
}

// Twelve independent chains hide the latency.
template <class V>
static void fma_chains(int threads, long iterations) {
  parallel_for(threads, [=](int) {
    V a[12], m = V{} + 0.999f, b = V{} + 1e-3f;
    for (int i = 0; i < 12; ++i)
      a[i] = V{} + (float)i;
    for (long i = 0; i < iterations; ++i) {
#pragma clang loop unroll(full)
      for (auto& chain : a)
        chain = chain * m + b; // contracted
      asm volatile("" ::"v"(a[0]));
    }
    for (auto& chain : a)
      asm volatile("" ::"v"(chain));
  });
}

int main() {
  const int T = pool_threads();
  const long it = 2000000;
  rep("fma_512", "GFLOP/s", 2.0 * 16 * 12 * it * T, [&] { fma_chains<__m512>(T, it); });
  rep("fma_256", "GFLOP/s", 2.0 * 8 * 12 * it * T, [&] { fma_chains<__m256>(T, it); });
  const size_t n = 1 << 25; // 128 MiB an array
  float *a = (float*)aligned_alloc(4096, n * 4), *b = (float*)aligned_alloc(4096, n * 4),
        *c = (float*)aligned_alloc(4096, n * 4);
  for (size_t i = 0; i < n; ++i)
    a[i] = b[i] = c[i] = 1.0f;
  const int ch = 256;
  const size_t per = n / ch;
  rep("read", "GB/s", 4.0 * n, [&] {
    parallel_for(ch, [&](int k) {
      __m512 s[4] = {};
      float* p = a + k * per;
      for (size_t i = 0; i < per; i += 64)
        for (int u = 0; u < 4; ++u)
          s[u] = _mm512_add_ps(s[u], _mm512_load_ps(p + i + 16 * u));
      __m512 t = _mm512_add_ps(_mm512_add_ps(s[0], s[1]), _mm512_add_ps(s[2], s[3]));
      asm volatile("" ::"v"(t));
    });
  });
  rep("read_4streams", "GB/s", 4.0 * n, [&] { // four distant streams a thread
    parallel_for(ch, [&](int k) {
      __m512 s[4] = {};
      float* p = a + k * (per / 4);
      for (size_t i = 0; i < per / 4; i += 16)
        for (int u = 0; u < 4; ++u)
          s[u] = _mm512_add_ps(s[u], _mm512_load_ps(p + u * (n / 4) + i));
      __m512 t = _mm512_add_ps(_mm512_add_ps(s[0], s[1]), _mm512_add_ps(s[2], s[3]));
      asm volatile("" ::"v"(t));
    });
  });
  rep("write_nt", "GB/s", 4.0 * n, [&] {
    parallel_for(ch, [&](int k) {
      float* p = a + k * per;
      for (size_t i = 0; i < per; i += 16)
        _mm512_stream_ps(p + i, _mm512_set1_ps(1));
      _mm_sfence();
    });
  });
  rep("copy_plain", "GB/s", 8.0 * n, [&] {
    parallel_for(ch, [&](int k) {
      size_t o = k * per;
      for (size_t i = 0; i < per; i += 16)
        _mm512_store_ps(b + o + i, _mm512_load_ps(a + o + i));
    });
  });
  rep("copy_nt", "GB/s", 8.0 * n, [&] {
    parallel_for(ch, [&](int k) {
      size_t o = k * per;
      for (size_t i = 0; i < per; i += 16)
        _mm512_stream_ps(b + o + i, _mm512_load_ps(a + o + i));
      _mm_sfence();
    });
  });
  rep("triad_nt", "GB/s", 12.0 * n, [&] {
    parallel_for(ch, [&](int k) {
      size_t o = k * per;
      for (size_t i = 0; i < per; i += 16)
        _mm512_stream_ps(c + o + i, _mm512_fmadd_ps(_mm512_set1_ps(3), _mm512_load_ps(b + o + i),
                                                    _mm512_load_ps(a + o + i)));
      _mm_sfence();
    });
  });
  rep("triad_plain", "GB/s", 12.0 * n, [&] {
    parallel_for(ch, [&](int k) {
      size_t o = k * per;
      for (size_t i = 0; i < per; i += 16)
        _mm512_store_ps(c + o + i, _mm512_fmadd_ps(_mm512_set1_ps(3), _mm512_load_ps(b + o + i),
                                                   _mm512_load_ps(a + o + i)));
    });
  });
}
