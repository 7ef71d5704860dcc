// Hand-written AVX-512 reference kernels: the practical limit on this machine.
// They compute what the portable kernels compute, but may fuse, block and stream freely.
#include "suite.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <immintrin.h>
#include <sys/mman.h>
extern "C" {
#include <cblas.h>
}
#ifndef __AVX512VNNI__
#error "the native references need AVX-512 F/DQ/BW/VL and VNNI"
#endif

namespace {
using V = __m512;
using I = __m512i;

// 2^x below 2^127; 0 far below. About 2e-7 relative error (Taylor's series on [-1/2, 1/2]).
inline V vexp2(V x) {
  x = _mm512_min_ps(x, _mm512_set1_ps(126.9f));
  V n = _mm512_roundscale_ps(x, 8);
  V r = _mm512_sub_ps(x, n);
  V p = _mm512_set1_ps(1.5403530e-4f);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.3333558e-3f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(9.6181291e-3f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(5.5504109e-2f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(2.4022651e-1f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(6.9314718e-1f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
  return _mm512_scalef_ps(p, n);
}
constexpr float log2e = 1.44269504f;
inline V vrcp(V x) { // one Newton step
  V r = _mm512_rcp14_ps(x);
  return _mm512_mul_ps(r, _mm512_fnmadd_ps(x, r, _mm512_set1_ps(2.0f)));
}

void transpose16(V r[16]) {
  V t[16];
  for (int i = 0; i < 16; i += 4) {
    V a = _mm512_unpacklo_ps(r[i], r[i + 1]), b = _mm512_unpackhi_ps(r[i], r[i + 1]);
    V c = _mm512_unpacklo_ps(r[i + 2], r[i + 3]), d = _mm512_unpackhi_ps(r[i + 2], r[i + 3]);
    auto D = [](V v) { return _mm512_castps_pd(v); };
    t[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(D(a), D(c)));
    t[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(D(a), D(c)));
    t[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(D(b), D(d)));
    t[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(D(b), D(d)));
  }
  for (int i = 0; i < 4; ++i) {
    V a = _mm512_shuffle_f32x4(t[i], t[i + 4], 0x88),
      b = _mm512_shuffle_f32x4(t[i], t[i + 4], 0xdd);
    V c = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0x88),
      d = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0xdd);
    r[i] = _mm512_shuffle_f32x4(a, c, 0x88);
    r[i + 8] = _mm512_shuffle_f32x4(a, c, 0xdd);
    r[i + 4] = _mm512_shuffle_f32x4(b, d, 0x88);
    r[i + 12] = _mm512_shuffle_f32x4(b, d, 0xdd);
  }
}
} // namespace

void n_saxpy(const float* x, float* y, int n, float a) {
  const int C = 1 << 16;
  parallel_for(n / C, [=](int c) {
    V va = _mm512_set1_ps(a);
    for (int i = c * C; i < (c + 1) * C; i += 64)
      for (int u = 0; u < 64; u += 16)
        _mm512_store_ps(y + i + u,
                        _mm512_fmadd_ps(va, _mm512_load_ps(x + i + u), _mm512_load_ps(y + i + u)));
  });
}

// x / (1 + exp(-2 u)), u = sqrt(2/pi) (x + 0.044715 x^3)
void n_gelu(const float* x, float* y, int n, int iters) {
  const int C = 1 << 14, U = 8; // eight vectors hide the latency
  const V linear = _mm512_set1_ps(-1.5957691216f * log2e);
  const V cubic = _mm512_set1_ps(-1.5957691216f * 0.044715f * log2e);
  parallel_for(n / C, [=](int c) {
    for (int i = c * C; i < (c + 1) * C; i += 16 * U) {
      V v[U];
      for (int u = 0; u < U; ++u)
        v[u] = _mm512_load_ps(x + i + 16 * u);
      for (int t = 0; t < iters; ++t)
        for (int u = 0; u < U; ++u) {
          V e =
              vexp2(_mm512_mul_ps(v[u], _mm512_fmadd_ps(_mm512_mul_ps(v[u], v[u]), cubic, linear)));
          v[u] = _mm512_mul_ps(v[u], vrcp(_mm512_add_ps(_mm512_set1_ps(1.0f), e)));
        }
      for (int u = 0; u < U; ++u)
        _mm512_stream_ps(y + i + 16 * u, v[u]);
    }
    _mm_sfence();
  });
}

// 256 rows at a time, so that each page of the output is visited once for a kilobyte.
void n_transpose(const float* in, float* out, int w, int h) {
  const int rows = 256;
  parallel_for(h / rows, [=](int c) {
    for (int x0 = 0; x0 < w; x0 += 16)
      for (int y = c * rows; y < (c + 1) * rows; y += 16) {
        V r[16];
        for (int i = 0; i < 16; ++i) {
          const float* p = in + (size_t)(y + i) * w + x0;
          _mm_prefetch((const char*)(p + 32), _MM_HINT_T0);
          r[i] = _mm512_load_ps(p);
        }
        transpose16(r);
        for (int i = 0; i < 16; ++i)
          _mm512_stream_ps(out + (size_t)(x0 + i) * h + y, r[i]);
      }
    _mm_sfence();
  });
}

// Four distant streams a thread: one stream does not fill the memory pipeline of this core.
void n_reduce(const float* in, float* out, int n) {
  const int quarter = n / 1024 / 4;
  parallel_for(quarter / 16, [=](int c) {
    for (int g = c * 16; g < (c + 1) * 16; ++g) {
      V a[4][2];
      for (auto& r : a)
        r[0] = r[1] = _mm512_setzero_ps();
      for (int i = 0; i < 1024; i += 32)
        for (int q = 0; q < 4; ++q) {
          const float* p = in + (size_t)(g + q * quarter) * 1024 + i;
          a[q][0] = _mm512_add_ps(a[q][0], _mm512_load_ps(p));
          a[q][1] = _mm512_add_ps(a[q][1], _mm512_load_ps(p + 16));
        }
      for (int q = 0; q < 4; ++q)
        out[g + q * quarter] = _mm512_reduce_add_ps(_mm512_add_ps(a[q][0], a[q][1]));
    }
  });
}

// OpenBLAS on our own threads: its own spin for 20 ms after a product, at the next backend's cost.
void n_sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
  openblas_set_num_threads(1);
  const int chunks = pool_threads();
  parallel_for(chunks, [=](int c) {
    const int begin = M * c / chunks, end = M * (c + 1) / chunks;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, end - begin, N, K, 1.0f,
                A + (size_t)begin * K, K, B, N, 0.0f, C + (size_t)begin * N, N);
  });
}

void n_softmax(const float* in, float* out, int rows, int cols) {
  parallel_for(rows / 16, [=](int c) {
    alignas(64) float tmp[8192];
    for (int r = c * 16; r < (c + 1) * 16; ++r) {
      const float* p = in + (size_t)r * cols;
      float* q = out + (size_t)r * cols;
      V m[4], s[4];
      for (int u = 0; u < 4; ++u)
        m[u] = _mm512_set1_ps(-3e38f), s[u] = _mm512_setzero_ps();
      for (int i = 0; i < cols; i += 64)
        for (int u = 0; u < 4; ++u)
          m[u] = _mm512_max_ps(m[u], _mm512_load_ps(p + i + 16 * u));
      V mx = _mm512_set1_ps(_mm512_reduce_max_ps(
          _mm512_max_ps(_mm512_max_ps(m[0], m[1]), _mm512_max_ps(m[2], m[3]))));
      for (int i = 0; i < cols; i += 64)
        for (int u = 0; u < 4; ++u) {
          _mm_prefetch((const char*)(p + cols + i + 16 * u), _MM_HINT_T1); // the next row
          V e = vexp2(_mm512_mul_ps(_mm512_sub_ps(_mm512_load_ps(p + i + 16 * u), mx),
                                    _mm512_set1_ps(log2e)));
          _mm512_store_ps(tmp + i + 16 * u, e);
          s[u] = _mm512_add_ps(s[u], e);
        }
      V k = _mm512_set1_ps(1.0f / _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(s[0], s[1]),
                                                                     _mm512_add_ps(s[2], s[3]))));
      for (int i = 0; i < cols; i += 16)
        _mm512_stream_ps(q + i, _mm512_mul_ps(k, _mm512_load_ps(tmp + i)));
    }
    _mm_sfence();
  });
}

void n_layernorm(const float* in, const float* g, const float* b, float* out, int rows, int cols) {
  parallel_for(rows / 16, [=](int c) {
    for (int r = c * 16; r < (c + 1) * 16; ++r) {
      const float* p = in + (size_t)r * cols;
      float* q = out + (size_t)r * cols;
      V s[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
      for (int i = 0; i < cols; i += 64)
        for (int u = 0; u < 4; ++u)
          s[u] = _mm512_add_ps(s[u], _mm512_load_ps(p + i + 16 * u));
      float mean = _mm512_reduce_add_ps(
                       _mm512_add_ps(_mm512_add_ps(s[0], s[1]), _mm512_add_ps(s[2], s[3]))) /
                   cols;
      V vm = _mm512_set1_ps(mean);
      for (int u = 0; u < 4; ++u)
        s[u] = _mm512_setzero_ps();
      for (int i = 0; i < cols; i += 64)
        for (int u = 0; u < 4; ++u) {
          V t = _mm512_sub_ps(_mm512_load_ps(p + i + 16 * u), vm);
          s[u] = _mm512_fmadd_ps(t, t, s[u]);
        }
      float var = _mm512_reduce_add_ps(
                      _mm512_add_ps(_mm512_add_ps(s[0], s[1]), _mm512_add_ps(s[2], s[3]))) /
                  cols;
      V k = _mm512_set1_ps(1.0f / __builtin_sqrtf(var + 1e-5f));
      for (int i = 0; i < cols; i += 16) {
        _mm_prefetch((const char*)(p + cols + i), _MM_HINT_T1); // the next row
        _mm512_stream_ps(q + i,
                         _mm512_fmadd_ps(_mm512_mul_ps(_mm512_sub_ps(_mm512_load_ps(p + i), vm), k),
                                         _mm512_load_ps(g + i), _mm512_load_ps(b + i)));
      }
    }
    _mm_sfence();
  });
}

// One tap of a 3x3 convolution: 14 pixels x 32 output channels, in registers. Pixels outside
// [Begin, End) lie beyond the image's border.
namespace {
template <int Begin, int End>
inline void conv_tap(V (&sum)[14][2], const float* in, const float* weights, int C) {
  for (int ci = 0; ci < C; ++ci) {
    V w0 = _mm512_load_ps(weights + ci * C), w1 = _mm512_load_ps(weights + ci * C + 16);
#pragma clang loop unroll(full)
    for (int q = Begin; q < End; ++q) {
      V b = _mm512_set1_ps(in[q * 64 + ci]);
      sum[q][0] = _mm512_fmadd_ps(b, w0, sum[q][0]);
      sum[q][1] = _mm512_fmadd_ps(b, w1, sum[q][1]);
    }
  }
}
} // namespace

void n_conv3x3(const float* in, const float* wt, float* out, int H, int W, int C) {
  parallel_for(H / 2, [=](int c) {
    for (int half = 0; half < C; half += 32)
      for (int y = 2 * c; y < 2 * c + 2; ++y)
        for (int x0 = 0; x0 < W; x0 += 14) {
          V sum[14][2];
          for (auto& pixel : sum)
            pixel[0] = pixel[1] = _mm512_setzero_ps();
          for (int ky = 0; ky < 3; ++ky) {
            int iy = y + ky - 1;
            if (iy < 0 || iy >= H)
              continue;
            const float* row = in + ((ptrdiff_t)iy * W + x0 - 1) * 64;
            const float* weights = wt + (ptrdiff_t)ky * 3 * C * C + half;
            if (x0 == 0)
              conv_tap<1, 14>(sum, row, weights, C);
            else
              conv_tap<0, 14>(sum, row, weights, C);
            conv_tap<0, 14>(sum, row + 64, weights + C * C, C);
            if (x0 + 14 == W)
              conv_tap<0, 13>(sum, row + 128, weights + 2 * C * C, C);
            else
              conv_tap<0, 14>(sum, row + 128, weights + 2 * C * C, C);
          }
          for (int q = 0; q < 14; ++q)
            for (int v = 0; v < 2; ++v)
              _mm512_store_ps(out + ((size_t)y * W + x0 + q) * C + half + 16 * v, sum[q][v]);
        }
  });
}

void n_mandelbrot(uint32_t* out, int w, int h, int maxit) {
  constexpr int U = 4; // four vectors hide the latency; 16 x 4 pixels end sooner than 64 x 1
  parallel_for(h / U, [=](int c) {
    const int y = c * U;
    const V lane =
        _mm512_cvtepi32_ps(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    for (int x = 0; x < w; x += 16) {
      const V cx =
          _mm512_fmadd_ps(_mm512_set1_ps(2.5f / (float)w),
                          _mm512_add_ps(lane, _mm512_set1_ps((float)x)), _mm512_set1_ps(-2.0f));
      V cy[U], zx[U], zy[U];
      I it[U];
      __mmask16 live[U];
      for (int u = 0; u < U; ++u) {
        cy[u] = _mm512_set1_ps(-1.25f + 2.5f * (float)(y + u) / (float)h);
        zx[u] = zy[u] = _mm512_setzero_ps();
        it[u] = _mm512_setzero_si512();
        live[u] = 0xffff;
      }
      for (int i = 0; i < maxit; ++i) {
        for (int u = 0; u < U; ++u) {
          V x2 = _mm512_mul_ps(zx[u], zx[u]), y2 = _mm512_mul_ps(zy[u], zy[u]);
          live[u] = _mm512_mask_cmp_ps_mask(live[u], _mm512_add_ps(x2, y2), _mm512_set1_ps(4.0f),
                                            _CMP_LE_OQ);
          it[u] = _mm512_mask_add_epi32(it[u], live[u], it[u], _mm512_set1_epi32(1));
          zy[u] = _mm512_fmadd_ps(_mm512_add_ps(zx[u], zx[u]), zy[u], cy[u]);
          zx[u] = _mm512_add_ps(_mm512_sub_ps(x2, y2), cx);
        }
        if (!((live[0] | live[1]) | (live[2] | live[3])))
          break;
      }
      for (int u = 0; u < U; ++u)
        _mm512_storeu_si512(out + (size_t)(y + u) * w + x, it[u]);
    }
  });
}

void n_nbody(const float* p, float* acc, int n) {
  parallel_for(n / 64, [=](int c) {
    alignas(64) float px[64], py[64], pz[64], rx[64], ry[64], rz[64];
    for (int i = 0; i < 64; ++i) {
      const float* q = p + 4 * (size_t)(c * 64 + i);
      px[i] = q[0];
      py[i] = q[1];
      pz[i] = q[2];
    }
    V x[4], y[4], z[4], ax[4], ay[4], az[4];
    for (int u = 0; u < 4; ++u) {
      x[u] = _mm512_load_ps(px + 16 * u);
      y[u] = _mm512_load_ps(py + 16 * u);
      z[u] = _mm512_load_ps(pz + 16 * u);
      ax[u] = ay[u] = az[u] = _mm512_setzero_ps();
    }
    for (int j = 0; j < n; ++j) {
      V ox = _mm512_set1_ps(p[4 * j]), oy = _mm512_set1_ps(p[4 * j + 1]),
        oz = _mm512_set1_ps(p[4 * j + 2]), om = _mm512_set1_ps(p[4 * j + 3]);
      for (int u = 0; u < 4; ++u) {
        V dx = _mm512_sub_ps(ox, x[u]), dy = _mm512_sub_ps(oy, y[u]), dz = _mm512_sub_ps(oz, z[u]);
        V r2 = _mm512_fmadd_ps(
            dx, dx, _mm512_fmadd_ps(dy, dy, _mm512_fmadd_ps(dz, dz, _mm512_set1_ps(0.01f))));
        // r2^-3/2 from an estimate e of r2^-1/2: e^3 (1 - d)^-3/2 with d = 1 - r2 e^2 < 2^-13.
        V e = _mm512_rsqrt14_ps(r2), e2 = _mm512_mul_ps(e, e);
        V d = _mm512_fnmadd_ps(r2, e2, _mm512_set1_ps(1.0f));
        V s = _mm512_mul_ps(_mm512_mul_ps(om, e), e2);
        s = _mm512_fmadd_ps(_mm512_mul_ps(s, _mm512_set1_ps(1.5f)), d, s);
        ax[u] = _mm512_fmadd_ps(dx, s, ax[u]);
        ay[u] = _mm512_fmadd_ps(dy, s, ay[u]);
        az[u] = _mm512_fmadd_ps(dz, s, az[u]);
      }
    }
    for (int u = 0; u < 4; ++u) {
      _mm512_store_ps(rx + 16 * u, ax[u]);
      _mm512_store_ps(ry + 16 * u, ay[u]);
      _mm512_store_ps(rz + 16 * u, az[u]);
    }
    for (int i = 0; i < 64; ++i) {
      float* q = acc + 4 * (size_t)(c * 64 + i);
      q[0] = rx[i];
      q[1] = ry[i];
      q[2] = rz[i];
      q[3] = 0.0f;
    }
  });
}

void n_histogram(const uint32_t* in, uint32_t* hist, int nwords) {
  const int chunks = 64;
  parallel_for(chunks, [=](int c) {
    alignas(64) static thread_local uint32_t h[8][256];
    memset(h, 0, sizeof h);
    const uint64_t* p = (const uint64_t*)in;
    size_t n = (size_t)nwords / 2, b = n * c / chunks, e = n * (c + 1) / chunks;
    for (size_t i = b; i < e; ++i) {
      uint64_t v = p[i];
      ++h[0][v & 255];
      ++h[1][(v >> 8) & 255];
      ++h[2][(v >> 16) & 255];
      ++h[3][(v >> 24) & 255];
      ++h[4][(v >> 32) & 255];
      ++h[5][(v >> 40) & 255];
      ++h[6][(v >> 48) & 255];
      ++h[7][v >> 56];
    }
    for (int i = 0; i < 256; ++i) {
      uint32_t s = 0;
      for (int k = 0; k < 8; ++k)
        s += h[k][i];
      __atomic_fetch_add(&hist[i], s, __ATOMIC_RELAXED);
    }
  });
}

void n_q4_matvec(const uint32_t* w, const uint32_t* a, float* out, int rows, int nblk) {
  // Re-lay the activations once: 32 bytes a block, its scale, and -8 * sum(a) in one lane of eight.
  static std::vector<int8_t> q;
  static std::vector<float> da;
  static std::vector<int> corr;
  q.resize((size_t)nblk * 32);
  da.resize(nblk);
  corr.assign((size_t)nblk * 8, 0);
  for (int b = 0; b < nblk; ++b) {
    memcpy(&da[b], a + 9 * b, 4);
    memcpy(q.data() + 32 * b, a + 9 * b + 1, 32);
    for (int i = 0; i < 32; ++i)
      corr[8 * b] -= 8 * q[32 * b + i];
  }
  // Two blocks in a vector, four distant rows at a time (as n_reduce).
  const int8_t* qa = q.data();
  const float* pd = da.data();
  const int* pc = corr.data();
  const int quarter = rows / 4;
  parallel_for(quarter / 16, [=](int c) {
    const I low = _mm512_set1_epi8(15);
    for (int r = c * 16; r < (c + 1) * 16; ++r) {
      V sum[4];
      for (auto& s : sum)
        s = _mm512_setzero_ps();
      for (int b = 0; b < nblk; b += 2) {
        const I x = _mm512_loadu_si512(qa + 32 * b), offset = _mm512_loadu_si512(pc + 8 * b);
#pragma clang loop unroll(full)
        for (int k = 0; k < 4; ++k) {
          const uint32_t* block = w + ((size_t)(r + k * quarter) * nblk + b) * 5;
          _mm_prefetch((const char*)(block + 64), _MM_HINT_T0);
          __m128i n0 = _mm_loadu_si128((const __m128i*)(block + 1));
          __m128i n1 = _mm_loadu_si128((const __m128i*)(block + 6));
          __m256i lo =
              _mm256_inserti128_si256(_mm256_castsi128_si256(n0), _mm_srli_epi16(n0, 4), 1);
          __m256i hi =
              _mm256_inserti128_si256(_mm256_castsi128_si256(n1), _mm_srli_epi16(n1, 4), 1);
          I n = _mm512_and_si512(low, _mm512_inserti64x4(_mm512_castsi256_si512(lo), hi, 1));
          I d = _mm512_dpbusd_epi32(offset, n, x);
          float s0 = *(const float*)block * pd[b], s1 = *(const float*)(block + 5) * pd[b + 1];
          V s = _mm512_insertf32x8(_mm512_set1_ps(s0), _mm256_set1_ps(s1), 1);
          sum[k] = _mm512_fmadd_ps(s, _mm512_cvtepi32_ps(d), sum[k]);
        }
      }
      for (int k = 0; k < 4; ++k)
        out[r + k * quarter] = _mm512_reduce_add_ps(sum[k]);
    }
  });
}

// Scalar loads: on Zen 4 they beat vpgatherdd, and the out-of-order core overlaps the misses.
void n_gather(const float* t, const int* idx, float* out, int n) {
  const int C = 1 << 13;
  parallel_for(n / C, [=](int c) {
#pragma clang loop vectorize(disable) unroll_count(4)
    for (int i = c * C; i < (c + 1) * C; ++i) {
      const int* q = idx + 4 * i;
      out[i] = (t[q[0]] + t[q[1]]) + (t[q[2]] + t[q[3]]);
    }
  });
}

// One network step, as the portable kernel; j < 16 is done inside a register.
void n_bitonic_step(uint32_t* d, int n, int j, int k) {
  const int chunks = n >= (1 << 16) ? 4 : 1;
  if (j >= 16) {
    // Runs of j elements meet the next j. The direction changes every k >= 2 j of them.
    parallel_for(chunks, [=](int c) {
      const int run = std::min(j, n / 2 / chunks);
      for (int t = n / 2 / chunks * c; t < n / 2 / chunks * (c + 1); t += run) {
        const int i = 2 * t - (t & (j - 1));
        const bool up = (i & k) == 0;
        uint32_t *lesser = d + i + (up ? 0 : j), *greater = d + i + (up ? j : 0);
        for (int u = 0; u < run; u += 16) {
          I a = _mm512_load_si512(lesser + u), b = _mm512_load_si512(greater + u);
          _mm512_store_si512(lesser + u, _mm512_min_epu32(a, b));
          _mm512_store_si512(greater + u, _mm512_max_epu32(a, b));
        }
      }
    });
    return;
  }
  uint32_t px[16];
  __mmask16 keep = 0, kup = 0; // lanes keeping the minimum when "up"
  for (int l = 0; l < 16; ++l) {
    px[l] = l ^ j;
    if (!(l & j))
      keep |= 1 << l;
    if (!(l & k))
      kup |= 1 << l;
  }
  I perm = _mm512_loadu_si512(px);
  parallel_for(chunks, [=](int c) {
    int lo = (int)((int64_t)n * c / chunks), hi = (int)((int64_t)n * (c + 1) / chunks);
#pragma clang loop unroll_count(4)
    for (int i = lo; i < hi; i += 16) {
      __mmask16 up = k >= 16 ? ((i & k) == 0 ? 0xffff : 0) : kup;
      __mmask16 m = ~(keep ^ up);
      I a = _mm512_load_si512(d + i), b = _mm512_permutexvar_epi32(perm, a);
      _mm512_store_si512(
          d + i, _mm512_mask_blend_epi32(m, _mm512_max_epu32(a, b), _mm512_min_epu32(a, b)));
    }
  });
}

namespace {
struct Native : Backend {
  std::vector<void*> mem;
  std::string name() override { return "native"; }
  double prepare(const Kernel& k) override {
    for (auto& b : k.bufs) {
      // NATIVE_HUGEPAGES=1 shows what transparent huge pages (madvise) would give.
      size_t al = getenv("NATIVE_HUGEPAGES") ? 2 << 20 : 4096, sz = (b.bytes + al - 1) & ~(al - 1);
      void* p = aligned_alloc(al, sz);
      if (al > 4096)
        madvise(p, sz, MADV_HUGEPAGE);
      mem.push_back(p);
    }
    reset(k, true);
    return 0;
  }
  void reset(const Kernel& k, bool all) override { restore(k, mem, all); }
  void run(const Kernel& k) override { k.native(mem); }
  void read(const Kernel& k, int i, void* dst) override { memcpy(dst, mem[i], k.bufs[i].bytes); }
  void release() override {
    for (auto p : mem)
      free(p);
    mem.clear();
  }
  // Fork and join of the pool with two chunks: the floor for a two-thread dispatch.
  double empty_batched(int n) override {
    volatile int sink = 0;
    double t = now();
    for (int i = 0; i < n; ++i)
      parallel_for(2, [&](int) { sink = 1; });
    return (now() - t) / n;
  }
  double empty_each(int n) override { return empty_batched(n); }
};
} // namespace
std::unique_ptr<Backend> make_native() { return std::make_unique<Native>(); }
