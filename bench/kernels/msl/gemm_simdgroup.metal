// C = A*B by simdgroup matrices, as libraries of GPU kernels do it: a 64x64 tile a threadgroup of
// four simdgroups, K in steps of 16 through padded threadgroup memory, 4x4 fragments a simdgroup.
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

struct Params { int M; int N; int K; };

constant constexpr int BM = 64, BN = 64, BK = 16, WM = 2, WN = 2;
constant constexpr int threads = WM * WN * 32;
constant constexpr int lda = BK + 4, ldb = BN + 4;
constant constexpr int TM = BM / (8 * WM), TN = BN / (8 * WN);

typedef float2 Fragment;

// Copies a tile of rows x columns; each thread moves four neighbours at a time.
template <int rows, int columns, int ld>
METAL_FUNC void load_tile(threadgroup float *tile, device const float *source, int stride,
                          int thread_index) {
  constexpr int across = columns / 4, step = threads / across;
  int row = thread_index / across, column = thread_index % across * 4;
  for (int r = 0; r < rows; r += step)
    for (int i = 0; i < 4; ++i)
      tile[(row + r) * ld + column + i] = source[(row + r) * stride + column + i];
}

METAL_FUNC void multiply_add(thread Fragment &d, Fragment a, Fragment b) {
  simdgroup_float8x8 am, bm, cm, dm;
  am.thread_elements() = a;
  bm.thread_elements() = b;
  cm.thread_elements() = d;
  simdgroup_multiply_accumulate(dm, am, bm, cm);
  d = dm.thread_elements();
}

// Dispatch with threads per threadgroup (128, 1, 1).
[[max_total_threads_per_threadgroup(128)]]
kernel void gemm_simdgroup(device const float *A [[buffer(0)]],
                           device const float *B [[buffer(1)]],
                           device float *C [[buffer(2)]],
                           constant Params &p [[buffer(3)]],
                           uint3 tgid [[threadgroup_position_in_grid]],
                           uint lid [[thread_index_in_threadgroup]],
                           uint sg [[simdgroup_index_in_threadgroup]],
                           uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float As[BM * lda];
  threadgroup float Bs[BK * ldb];
  int row0 = int(tgid.y) * BM, column0 = int(tgid.x) * BN;
  A += row0 * p.K;
  B += column0;
  C += row0 * p.N + column0;
  short quad = short(lane) / 4;
  short fragment_row = (quad & 4) + (short(lane) / 2) % 4;
  short fragment_column = (quad & 2) * 2 + (short(lane) % 2) * 2;
  int tile_row = 8 * int(sg / WN) + fragment_row, tile_column = 8 * int(sg % WN) + fragment_column;
  Fragment c[TM][TN];
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j)
      c[i][j] = Fragment(0);
  for (int k0 = 0; k0 < p.K; k0 += BK) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    load_tile<BM, BK, lda>(As, A + k0, p.K, int(lid));
    load_tile<BK, BN, ldb>(Bs, B + k0 * p.N, p.N, int(lid));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int kk = 0; kk < BK; kk += 8) {
      Fragment a[TM], b[TN];
      simdgroup_barrier(mem_flags::mem_none);
      for (int i = 0; i < TM; ++i) {
        threadgroup const float *q = As + (tile_row + i * 8 * WM) * lda + kk + fragment_column;
        a[i] = Fragment(q[0], q[1]);
      }
      simdgroup_barrier(mem_flags::mem_none);
      for (int j = 0; j < TN; ++j) {
        threadgroup const float *q = Bs + (kk + fragment_row) * ldb + tile_column + j * 8 * WN;
        b[j] = Fragment(q[0], q[1]);
      }
      simdgroup_barrier(mem_flags::mem_none);
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
          int serpentine = i % 2 ? TN - 1 - j : j;
          multiply_add(c[i][serpentine], a[i], b[serpentine]);
        }
    }
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) {
      device float *q = C + (tile_row + i * 8 * WM) * p.N + tile_column + j * 8 * WN;
      q[0] = c[i][j][0];
      q[1] = c[i][j][1];
    }
}
