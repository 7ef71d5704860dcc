; Shapes of integer arithmetic on the thread's index.
; RUN: pass_tool %s --passes=print-shapes --lanes=8 --threads=16 | FileCheck %s
; RUN: pass_tool %s --passes=print-shapes --lanes=16 --threads=16 | FileCheck %s --check-prefix=WHOLE

declare i32 @spmd.thread_index()
declare i32 @spmd.group.x()

; CHECK-LABEL: shapes of 'arithmetic'
define void @arithmetic(ptr %buffer, ptr %dispatch, ptr %memory) {
; CHECK: %index: one base, step 1, base a multiple of 8
  %index = call i32 @spmd.thread_index()
; CHECK: %group: uniform
  %group = call i32 @spmd.group.x()
; CHECK: %scaled: one base, step 12, base a multiple of 32
  %scaled = mul i32 %index, 12
; CHECK: %sum: one base, step 12
  %sum = add i32 %scaled, %group
; CHECK: %back: one base, step -1
  %back = sub i32 %group, %index
; CHECK: %pairs: one base, offsets 0 0 1 1 2 2 3 3, base a multiple of 4
  %pairs = lshr i32 %index, 1
; CHECK: %parity: one base, offsets 0 1 0 1 0 1 0 1, base zero
  %parity = and i32 %index, 1
; CHECK: %row: uniform
  %row = udiv i32 %index, 8
; CHECK: %column: one base, step 1
  %column = urem i32 %index, 8
; CHECK: %square: varying
  %square = mul i32 %index, %index
; CHECK: %product: varying
  %product = mul i32 %index, %group
; CHECK: %high: uniform
  %high = icmp ult i32 %index, 8
  ret void
}

; Offsets wrap as their type does: what is said of their size and sign is said of the wrapped ones.
; CHECK-LABEL: shapes of 'wrapping'
; WHOLE-LABEL: shapes of 'wrapping'
define void @wrapping(ptr %buffer, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
; WHOLE: %large: one base, offsets 0 196608000 393216000 589824000 786432000 983040000 1179648000 1376256000 1572864000 1769472000 1966080000 -2132279296 -1935671296 -1739063296 -1542455296 -1345847296, base zero
  %large = mul i32 %index, 196608000
; No offset below zero may be shifted by itself.
; WHOLE: %shifted: varying
  %shifted = ashr i32 %large, 20
; WHOLE: %logical: varying
  %logical = lshr i32 %large, 20
; WHOLE: %byte: one base, offsets 0 64 -128 -64 0 64 -128 -64 0 64 -128 -64 0 64 -128 -64, base zero
  %wide = mul i32 %index, 64
  %byte = trunc i32 %wide to i8
; WHOLE: %extended: varying
  %extended = zext i8 %byte to i32
  ret void
}

; A base with no more low bits than these is not known to be zero.
; CHECK-LABEL: shapes of 'long_bases'
define void @long_bases(ptr %buffer, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %group = call i32 @spmd.group.x()
  %wide = zext i32 %group to i64
; CHECK: %shifted: uniform, base a multiple of 549755813888
  %shifted = shl i64 %wide, 45
  %lane = zext i32 %index to i64
  %low = and i64 %lane, 7
; CHECK: %sum: one base, step 1, base a multiple of 549755813888
  %sum = or disjoint i64 %shifted, %low
; CHECK: %seventh: varying
  %seventh = udiv i64 %sum, 7
  ret void
}
