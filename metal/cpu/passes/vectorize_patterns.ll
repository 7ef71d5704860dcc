; Addresses that differ by bits of lane numbers and a uniform value: a window of memory is permuted
; where its lanes ascend, and a gather is left for what does not.
; RUN: pass_tool %s --passes=vectorize --lanes=32 --threads=256 --cpu=znver4 | FileCheck %s

declare i32 @spmd.thread_index()

; CHECK-LABEL: define internal void @vector(
; The offsets depend on lane numbers and the uniform value alone.
; CHECK: %[[BITS:.*]] = and <32 x i32> <i32 0, i32 1, i32 2, {{.*}}>, %{{.*}}
; CHECK: sub <32 x i32> <i32 0, i32 2, i32 4, {{.*}}>, %{{.*}}
; Consecutive: one run.
; CHECK: load <32 x i32>, ptr
; Ascending within 64 words: only what lanes own is loaded.
; CHECK: icmp ult <32 x i32>
; CHECK: icmp ult i32 %{{.*}}, 64
; CHECK: call i64 @llvm.vector.reduce.or.v32i64
; CHECK-COUNT-4: call <16 x i32> @llvm.masked.load.v16i32
; CHECK-COUNT-4: call <16 x i32> @llvm.x86.avx512.vpermi2var.d.512
; CHECK: call <32 x i32> @llvm.masked.gather.v32i32
define void @halves(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %step = load i32, ptr %to
  %below = add i32 %step, -1
  %twice = shl i32 %index, 1
  %low = and i32 %index, %below
  %word = sub i32 %twice, %low
  %wide = sext i32 %word to i64
  %place = getelementptr i32, ptr %from, i64 %wide
  %value = load i32, ptr %place
  %own = zext i32 %index to i64
  %target = getelementptr i32, ptr %to, i64 %own
  store i32 %value, ptr %target
  ret void
}
