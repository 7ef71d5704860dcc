; A kernel with a barrier in two parts, each a loop over the threadgroup's vectors.
; RUN: pass_tool %s --passes=vectorize,split-barriers --lanes=32 --threads=64 | FileCheck %s
; RUN: pass_tool %s --passes=vectorize,split-barriers --lanes=32 --threads=32 | FileCheck %s --check-prefix=ONE

declare i32 @spmd.thread_index()
declare void @air.wg.barrier(i32, i32)

; CHECK-LABEL: define internal i32 @region0(
; CHECK: store <32 x i32>
; CHECK: ret i32 1
; What the second part can compute anew is not kept in memory.
; CHECK-LABEL: define internal i32 @region1(
; CHECK: mul <32 x i32>
; CHECK: ret i32 2
; CHECK-LABEL: define internal void @threadgroup(
; CHECK: call i32 @region0(
; CHECK: icmp ult i32 %{{.*}}, 2
; CHECK: call i32 @region1(
; CHECK: icmp ult i32 %{{.*}}, 2
; One vector meets nobody.
; ONE-NOT: @region0
; ONE-NOT: barrier(){{$}}
define void @two(ptr %from, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %place = getelementptr i32, ptr %memory, i32 %index
  %value = mul i32 %index, %index
  store i32 %value, ptr %place
  call void @air.wg.barrier(i32 2, i32 1)
  %turned = sub i32 63, %index
  %other = getelementptr i32, ptr %memory, i32 %turned
  %read = load i32, ptr %other
  %sum = add i32 %read, %value
  %target = getelementptr i32, ptr %from, i32 %index
  store i32 %sum, ptr %target
  ret void
}
