; Operations among the lanes of a simdgroup stay in registers.
; RUN: pass_tool %s --passes=vectorize --lanes=32 --threads=32 | FileCheck %s

declare i32 @spmd.thread_index()
declare void @spmd.mask(i1)
declare i32 @air.simd_sum.u.i32(i32)
declare i32 @air.simd_shuffle_xor.u.i32(i32, i16)

; CHECK-LABEL: define internal void @vector(
; CHECK: %[[VALUE:.*]] = load <32 x i32>
; CHECK: add <16 x i32>
; CHECK: add <8 x i32>
; CHECK: add <4 x i32>
; CHECK: add <2 x i32>
; CHECK: add <1 x i32>
; CHECK: shufflevector <32 x i32> %[[VALUE]], <32 x i32> poison, <32 x i32> <i32 1, i32 0, i32 3, i32 2,
define void @sum(ptr %from, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %place = getelementptr i32, ptr %from, i32 %index
  %value = load i32, ptr %place
  %sum = call i32 @air.simd_sum.u.i32(i32 %value)
  %other = call i32 @air.simd_shuffle_xor.u.i32(i32 %value, i16 1)
  %both = add i32 %sum, %other
  store i32 %both, ptr %place
  ret void
}

; Lanes that are off add nothing.
; CHECK-LABEL: define internal void @vector.1(
; CHECK: select <32 x i1> %{{.*}}, <32 x i32> %{{.*}}, <32 x i32> zeroinitializer
; CHECK: add <16 x i32>
define void @some(ptr %from, i32 %count, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %place = getelementptr i32, ptr %from, i32 %index
  %value = load i32, ptr %place
  %inside = icmp ult i32 %index, %count
  call void @spmd.mask(i1 %inside)
  %sum = call i32 @air.simd_sum.u.i32(i32 %value)
  store i32 %sum, ptr %place
  ret void
}
