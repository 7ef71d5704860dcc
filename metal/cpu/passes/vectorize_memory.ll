; Memory accesses of neighbouring lanes: whole vectors, windows taken apart, masks, gathers.
; RUN: pass_tool %s --passes=vectorize --lanes=8 --threads=8 | FileCheck %s
; RUN: pass_tool %s --passes=vectorize --lanes=8 --threads=8 --cpu=x86-64-v2 | FileCheck %s --check-prefix=PLAIN

declare i32 @spmd.thread_index()
declare void @spmd.mask(i1)

; Four floats for each lane: four loads of neighbours, no gather.
; CHECK-LABEL: define internal void @vector(
; CHECK-COUNT-4: load <8 x float>
; CHECK: shufflevector
; CHECK-NOT: gather
; CHECK: store <8 x float>
define void @xyzw(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %wide = zext i32 %index to i64
  %place = getelementptr <4 x float>, ptr %from, i64 %wide
  %value = load <4 x float>, ptr %place
  %y = extractelement <4 x float> %value, i64 1
  %target = getelementptr float, ptr %to, i64 %wide
  store float %y, ptr %target
  ret void
}

; Backwards: a vector, turned around.
; CHECK-LABEL: define internal void @vector.1(
; CHECK: load <8 x i32>
; CHECK: shufflevector {{.*}} <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
; CHECK: store <8 x i32>
define void @backwards(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %turned = sub i32 7, %index
  %place = getelementptr i32, ptr %from, i32 %turned
  %value = load i32, ptr %place
  %target = getelementptr i32, ptr %to, i32 %index
  store i32 %value, ptr %target
  ret void
}

; Lanes that are off touch nothing.
; CHECK-LABEL: define internal void @vector.2(
; CHECK: call <8 x i32> @llvm.masked.load
; CHECK: call void @llvm.masked.store
define void @masked(ptr %from, ptr %to, i32 %count, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %inside = icmp ult i32 %index, %count
  call void @spmd.mask(i1 %inside)
  %place = getelementptr i32, ptr %from, i32 %index
  %value = load i32, ptr %place
  %target = getelementptr i32, ptr %to, i32 %index
  store i32 %value, ptr %target
  ret void
}

; Anywhere: a gather, where the processor has one and addresses turn out not to be neighbours; else
; lane by lane.
; CHECK-LABEL: define internal void @vector.3(
; CHECK: call <8 x i32> @llvm.masked.gather
; PLAIN-LABEL: define internal void @vector.3(
; PLAIN-NOT: gather
; PLAIN-COUNT-8: load i32, ptr
define void @anywhere(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %place = getelementptr i32, ptr %from, i32 %index
  %at = load i32, ptr %place
  %wide = sext i32 %at to i64
  %source = getelementptr i32, ptr %from, i64 %wide
  %value = load i32, ptr %source
  %target = getelementptr i32, ptr %to, i32 %index
  store i32 %value, ptr %target
  ret void
}

; One address for all: one load.
; CHECK-LABEL: define internal void @vector.4(
; CHECK: load i32
; CHECK-NOT: load
; CHECK: store <8 x i32>
define void @uniform(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %value = load i32, ptr %from
  %target = getelementptr i32, ptr %to, i32 %index
  store i32 %value, ptr %target
  ret void
}
