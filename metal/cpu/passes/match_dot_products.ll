; Sums of products of an unsigned byte and the signed byte at the same place of another word.
; RUN: pass_tool %s --passes=match-dot-products | FileCheck %s

; CHECK-LABEL: define void @four(
; CHECK: %[[DOT:.*]] = call i32 @spmd.dot4(i32 %n, i32 %x, i32 %y)
; CHECK-NOT: mul
; CHECK: store i32 %[[DOT]]
define void @four(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %x = load i32, ptr %from
  %there = getelementptr i8, ptr %from, i64 4
  %y = load i32, ptr %there
  %n = load i32, ptr %to
  %a0 = and i32 %x, 255
  %bs0 = shl i32 %y, 24
  %b0 = ashr i32 %bs0, 24
  %p0 = mul i32 %a0, %b0
  %as1 = lshr i32 %x, 8
  %a1 = and i32 %as1, 255
  %bs1 = shl i32 %y, 16
  %b1 = ashr i32 %bs1, 24
  %p1 = mul i32 %a1, %b1
  %as2 = lshr i32 %x, 16
  %a2 = and i32 %as2, 255
  %bs2 = shl i32 %y, 8
  %b2 = ashr i32 %bs2, 24
  %p2 = mul i32 %a2, %b2
  %a3 = lshr i32 %x, 24
  %b3 = ashr i32 %y, 24
  %p3 = mul i32 %a3, %b3
  %s0 = add i32 %n, %p0
  %s1 = add i32 %s0, %p1
  %s2 = add i32 %s1, %p2
  %s3 = add i32 %s2, %p3
  store i32 %s3, ptr %to
  ret void
}

; The fourth byte takes no part; the constant is a sum of its own, taken away at the end.
; CHECK-LABEL: define void @three_less_a_constant(
; CHECK: %[[BYTES:.*]] = and i32 %x, 16777215
; CHECK: %[[DOT:.*]] = call i32 @spmd.dot4(i32 %n, i32 %[[BYTES]], i32 %y)
; CHECK: %[[LESS:.*]] = call i32 @spmd.dot4(i32 0, i32 526344, i32 %y)
; CHECK: %[[SUM:.*]] = sub i32 %[[DOT]], %[[LESS]]
; CHECK: store i32 %[[SUM]]
define void @three_less_a_constant(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %x = load i32, ptr %from
  %there = getelementptr i8, ptr %from, i64 4
  %y = load i32, ptr %there
  %n = load i32, ptr %to
  %a0 = and i32 %x, 255
  %bs0 = shl i32 %y, 24
  %b0 = ashr i32 %bs0, 24
  %ac0 = add i32 %a0, -8
  %p0 = mul i32 %ac0, %b0
  %as1 = lshr i32 %x, 8
  %a1 = and i32 %as1, 255
  %bs1 = shl i32 %y, 16
  %b1 = ashr i32 %bs1, 24
  %ac1 = add i32 %a1, -8
  %p1 = mul i32 %ac1, %b1
  %as2 = lshr i32 %x, 16
  %a2 = and i32 %as2, 255
  %bs2 = shl i32 %y, 8
  %b2 = ashr i32 %bs2, 24
  %ac2 = add i32 %a2, -8
  %p2 = mul i32 %ac2, %b2
  %s0 = add i32 %n, %p0
  %s1 = add i32 %s0, %p1
  %s2 = add i32 %s1, %p2
  store i32 %s2, ptr %to
  ret void
}

; CHECK-LABEL: define void @one(
; CHECK: mul i32
; CHECK-NOT: spmd.dot4(i32 %
; CHECK: ret void
define void @one(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %x = load i32, ptr %from
  %there = getelementptr i8, ptr %from, i64 4
  %y = load i32, ptr %there
  %n = load i32, ptr %to
  %a0 = and i32 %x, 255
  %bs0 = shl i32 %y, 24
  %b0 = ashr i32 %bs0, 24
  %p0 = mul i32 %a0, %b0
  %s0 = add i32 %n, %p0
  store i32 %s0, ptr %to
  ret void
}
