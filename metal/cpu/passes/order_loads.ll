; Straight-line code reads memory upwards, however the sums that use it are written.
; RUN: pass_tool %s --passes=order-loads | FileCheck %s

; CHECK-LABEL: define void @upwards(
; CHECK: load <16 x float>, ptr %p0,
; CHECK: load <16 x float>, ptr %p1,
; CHECK: load <16 x float>, ptr %p2,
; CHECK: load <16 x float>, ptr %p3,
; CHECK: load <16 x float>, ptr %p4,
; CHECK: load <16 x float>, ptr %p5,
; CHECK: load <16 x float>, ptr %p6,
; CHECK: load <16 x float>, ptr %p7,
; CHECK: ret void
define void @upwards(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %p0 = getelementptr i8, ptr %from, i64 0
  %v0 = load <16 x float>, ptr %p0, align 4
  %p4 = getelementptr i8, ptr %from, i64 256
  %v4 = load <16 x float>, ptr %p4, align 4
  %s0 = fadd <16 x float> %v0, %v4
  %p1 = getelementptr i8, ptr %from, i64 64
  %v1 = load <16 x float>, ptr %p1, align 4
  %p5 = getelementptr i8, ptr %from, i64 320
  %v5 = load <16 x float>, ptr %p5, align 4
  %s1 = fadd <16 x float> %v1, %v5
  %p2 = getelementptr i8, ptr %from, i64 128
  %v2 = load <16 x float>, ptr %p2, align 4
  %p6 = getelementptr i8, ptr %from, i64 384
  %v6 = load <16 x float>, ptr %p6, align 4
  %s2 = fadd <16 x float> %v2, %v6
  %p3 = getelementptr i8, ptr %from, i64 192
  %v3 = load <16 x float>, ptr %p3, align 4
  %p7 = getelementptr i8, ptr %from, i64 448
  %v7 = load <16 x float>, ptr %p7, align 4
  %s3 = fadd <16 x float> %v3, %v7
  %a = fadd <16 x float> %s0, %s1
  %b = fadd <16 x float> %s2, %s3
  %c = fadd <16 x float> %a, %b
  store <16 x float> %c, ptr %to, align 4
  ret void
}

; A store between them may change what is read.
; CHECK-LABEL: define void @stays(
; CHECK: load <16 x float>, ptr %p7,
; CHECK: store <16 x float> %v7,
; CHECK: load <16 x float>, ptr %p0,
; CHECK: ret void
define void @stays(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %p7 = getelementptr i8, ptr %from, i64 448
  %v7 = load <16 x float>, ptr %p7, align 4
  store <16 x float> %v7, ptr %to, align 4
  %p0 = getelementptr i8, ptr %from, i64 0
  %v0 = load <16 x float>, ptr %p0, align 4
  store <16 x float> %v0, ptr %to, align 4
  ret void
}

; The load that comes later is the memory operand, the second.
; CHECK-LABEL: define void @operands(
; CHECK: fadd <16 x float> %v0, %v1
; CHECK: fsub <16 x float> %v1, %v0
define void @operands(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %p0 = getelementptr i8, ptr %from, i64 0
  %v0 = load <16 x float>, ptr %p0, align 4
  %p1 = getelementptr i8, ptr %from, i64 64
  %v1 = load <16 x float>, ptr %p1, align 4
  %sum = fadd <16 x float> %v1, %v0
  %difference = fsub <16 x float> %v1, %v0
  store <16 x float> %sum, ptr %to, align 4
  store <16 x float> %difference, ptr %to, align 4
  ret void
}
