// Hand-written AVX-512 reference kernels: the practical limit on this machine.
// They compute what the portable kernels compute, but may fuse, block and stream freely.
#include "suite.h"
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

// exp for |x| well inside the float range; about 1e-7 relative error.
inline V vexp(V x) {
  x = _mm512_max_ps(_mm512_min_ps(x, _mm512_set1_ps(88.0f)), _mm512_set1_ps(-87.0f));
  V n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)), 8);
  V r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), x);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), r);
  V p = _mm512_set1_ps(1.3981999507e-3f);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(8.3334519073e-3f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(4.1665795894e-2f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.6666665459e-1f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.5f));
  p = _mm512_fmadd_ps(p, _mm512_mul_ps(r, r), _mm512_add_ps(r, _mm512_set1_ps(1.0f)));
  return _mm512_scalef_ps(p, n);
}
inline V vrcp(V x) { // one Newton step
  V r = _mm512_rcp14_ps(x);
  return _mm512_mul_ps(r, _mm512_fnmadd_ps(x, r, _mm512_set1_ps(2.0f)));
}
inline V vrsqrt(V x) {
  V r = _mm512_rsqrt14_ps(x);
  V h = _mm512_mul_ps(_mm512_mul_ps(x, r), r);
  return _mm512_mul_ps(_mm512_mul_ps(r, _mm512_set1_ps(0.5f)),
                       _mm512_sub_ps(_mm512_set1_ps(3.0f), h));
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

void n_gelu(const float* x, float* y, int n, int iters) {
  const int C = 1 << 14;
  parallel_for(n / C, [=](int c) {
    for (int i = c * C; i < (c + 1) * C; i += 64) {
      V v[4];
      for (int u = 0; u < 4; ++u)
        v[u] = _mm512_load_ps(x + i + 16 * u);
      for (int t = 0; t < iters; ++t)
        for (int u = 0; u < 4; ++u) {
          V v2 = _mm512_mul_ps(v[u], v[u]);
          V w = _mm512_mul_ps(v[u], _mm512_fmadd_ps(v2, _mm512_set1_ps(-1.5957691216f * 0.044715f),
                                                    _mm512_set1_ps(-1.5957691216f)));
          v[u] = _mm512_mul_ps(v[u], vrcp(_mm512_add_ps(_mm512_set1_ps(1.0f), vexp(w))));
        }
      for (int u = 0; u < 4; ++u)
        _mm512_stream_ps(y + i + 16 * u, v[u]);
    }
    _mm_sfence();
  });
}

void n_transpose(const float* in, float* out, int w, int h) {
  parallel_for(h / 64, [=](int c) {
    int y0 = c * 64;
    for (int x0 = 0; x0 < w; x0 += 16)
      for (int y = y0; y < y0 + 64; y += 16) {
        V r[16];
        for (int i = 0; i < 16; ++i) {
          const float* p = in + (size_t)(y + i) * w + x0;
          _mm_prefetch((const char*)(p + 64), _MM_HINT_T0);
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

void n_sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, K, 1.0f, A, K, B, N, 0.0f, C, N);
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
          V e = vexp(_mm512_sub_ps(_mm512_load_ps(p + i + 16 * u), mx));
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
      for (int i = 0; i < cols; i += 16)
        _mm512_stream_ps(q + i,
                         _mm512_fmadd_ps(_mm512_mul_ps(_mm512_sub_ps(_mm512_load_ps(p + i), vm), k),
                                         _mm512_load_ps(g + i), _mm512_load_ps(b + i)));
    }
    _mm_sfence();
  });
}

// 64 output channels x 7 pixels in registers; border taps read a row of zeros.
void n_conv3x3(const float* in, const float* wt, float* out, int H, int W, int C) {
  static const float zeros[64] = {};
  parallel_for(H, [=](int y) {
    for (int x0 = 0; x0 < W; x0 += 7) {
      V acc[7][4];
      for (auto& a : acc)
        for (auto& v : a)
          v = _mm512_setzero_ps();
      for (int ky = 0; ky < 3; ++ky) {
        int iy = y + ky - 1;
        if (iy < 0 || iy >= H)
          continue;
        for (int kx = 0; kx < 3; ++kx) {
          const float* src[7];
          for (int q = 0; q < 7; ++q) {
            int ix = x0 + q + kx - 1;
            src[q] = ix < 0 || ix >= W ? zeros : in + ((size_t)iy * W + ix) * C;
          }
          const float* w = wt + (size_t)(ky * 3 + kx) * C * C;
          for (int ci = 0; ci < C; ++ci) {
            V w0 = _mm512_load_ps(w + ci * C), w1 = _mm512_load_ps(w + ci * C + 16);
            V w2 = _mm512_load_ps(w + ci * C + 32), w3 = _mm512_load_ps(w + ci * C + 48);
#pragma clang loop unroll(full)
            for (int q = 0; q < 7; ++q) {
              V b = _mm512_set1_ps(src[q][ci]);
              acc[q][0] = _mm512_fmadd_ps(b, w0, acc[q][0]);
              acc[q][1] = _mm512_fmadd_ps(b, w1, acc[q][1]);
              acc[q][2] = _mm512_fmadd_ps(b, w2, acc[q][2]);
              acc[q][3] = _mm512_fmadd_ps(b, w3, acc[q][3]);
            }
          }
        }
      }
      for (int q = 0; q < 7; ++q)
        for (int v = 0; v < 4; ++v)
          _mm512_store_ps(out + ((size_t)y * W + x0 + q) * C + 16 * v, acc[q][v]);
    }
  });
}

void n_mandelbrot(uint32_t* out, int w, int h, int maxit) {
  parallel_for(h / 4, [=](int c) {
    const int U = 4; // four vectors hide the latency
    V lane =
        _mm512_cvtepi32_ps(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    for (int y = c * 4; y < c * 4 + 4; ++y)
      for (int x = 0; x < w; x += 16 * U) {
        V cy = _mm512_set1_ps(-1.25f + 2.5f * (float)y / (float)h), cx[U], zx[U], zy[U];
        I it[U];
        __mmask16 live[U];
        for (int u = 0; u < U; ++u) {
          cx[u] = _mm512_add_ps(
              _mm512_set1_ps(-2.0f),
              _mm512_div_ps(_mm512_mul_ps(_mm512_set1_ps(2.5f),
                                          _mm512_add_ps(lane, _mm512_set1_ps((float)(x + 16 * u)))),
                            _mm512_set1_ps((float)w)));
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
            V t = _mm512_add_ps(zx[u], zx[u]);
            zy[u] = _mm512_fmadd_ps(t, zy[u], cy);
            zx[u] = _mm512_add_ps(_mm512_sub_ps(x2, y2), cx[u]);
          }
          if (!((live[0] | live[1]) | (live[2] | live[3])))
            break;
        }
        for (int u = 0; u < U; ++u)
          _mm512_storeu_si512(out + (size_t)y * w + x + 16 * u, it[u]);
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
        V ir = vrsqrt(r2);
        V s = _mm512_mul_ps(_mm512_mul_ps(om, ir), _mm512_mul_ps(ir, ir));
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
  // Re-lay the activations once: 32 bytes a block, scale, and -8 * scale * sum(a).
  static std::vector<int8_t> q;
  static std::vector<float> da, corr;
  q.resize((size_t)nblk * 32 + 64);
  da.resize(nblk);
  corr.resize(nblk);
  for (int b = 0; b < nblk; ++b) {
    memcpy(&da[b], a + 9 * b, 4);
    memcpy(q.data() + 32 * b, a + 9 * b + 1, 32);
    int s = 0;
    for (int i = 0; i < 32; ++i)
      s += q[32 * b + i];
    corr[b] = -8.0f * s;
  }
  const int8_t* qa = q.data();
  const float *pd = da.data(), *pc = corr.data();
  parallel_for(rows / 64, [=](int c) {
    const __m256i lowm = _mm256_set1_epi8(15);
    for (int r = c * 64; r < (c + 1) * 64; ++r) {
      const uint32_t* p = w + (size_t)r * nblk * 5;
      __m256 acc[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                       _mm256_setzero_ps()};
      float tail = 0.0f;
      for (int b = 0; b < nblk; b += 4)
#pragma clang loop unroll(full)
        for (int u = 0; u < 4; ++u) {
          const uint32_t* blk = p + (b + u) * 5;
          __m128i raw = _mm_loadu_si128((const __m128i*)(blk + 1));
          __m256i n = _mm256_and_si256(lowm, _mm256_inserti128_si256(_mm256_castsi128_si256(raw),
                                                                     _mm_srli_epi16(raw, 4), 1));
          __m256i d = _mm256_dpbusd_epi32(_mm256_setzero_si256(), n,
                                          _mm256_loadu_si256((const __m256i*)(qa + 32 * (b + u))));
          float s = *(const float*)blk * pd[b + u];
          acc[u] = _mm256_fmadd_ps(_mm256_set1_ps(s), _mm256_cvtepi32_ps(d), acc[u]);
          tail += s * pc[b + u];
        }
      __m256 t = _mm256_add_ps(_mm256_add_ps(acc[0], acc[1]), _mm256_add_ps(acc[2], acc[3]));
      __m128 h = _mm_add_ps(_mm256_castps256_ps128(t), _mm256_extractf128_ps(t, 1));
      h = _mm_hadd_ps(h, h);
      h = _mm_hadd_ps(h, h);
      out[r] = _mm_cvtss_f32(h) + tail;
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
  int chunks = n >= (1 << 16) ? 8 : 1;
  if (j >= 16) {
    parallel_for(chunks, [=](int c) {
      int lo = (int)((int64_t)n / 2 * c / chunks), hi = (int)((int64_t)n / 2 * (c + 1) / chunks);
      for (int t = lo; t < hi; t += 16) {
        int i = 2 * t - (t & (j - 1));
        I a = _mm512_load_si512(d + i), b = _mm512_load_si512(d + i + j);
        I mn = _mm512_min_epu32(a, b), mx = _mm512_max_epu32(a, b);
        bool up = (i & k) == 0;
        _mm512_store_si512(d + i, up ? mn : mx);
        _mm512_store_si512(d + i + j, up ? mx : mn);
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
  void reset(const Kernel& k, bool all) override {
    for (size_t i = 0; i < mem.size(); ++i) {
      auto& b = k.bufs[i];
      if (b.role == Role::In && !all)
        continue;
      if (b.init.empty())
        memset(mem[i], 0, b.bytes);
      else
        memcpy(mem[i], b.init.data(), b.bytes);
    }
  }
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
