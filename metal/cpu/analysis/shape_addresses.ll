; Shapes of addresses, and of indices that are extended to 64 bits to make one.
; RUN: pass_tool %s --passes=print-shapes --lanes=8 --threads=16 | FileCheck %s

declare i32 @spmd.thread_index()
declare i32 @spmd.group.x()

; CHECK-LABEL: shapes of 'pointers'
define void @pointers(ptr %buffer, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %group = call i32 @spmd.group.x()
; CHECK: %wide: one base, step 1, base a multiple of 8
  %wide = zext i32 %index to i64
; CHECK: %element: one base, step 4
  %element = getelementptr i32, ptr %buffer, i64 %wide
; CHECK: %field: one base, step 16
  %field = getelementptr {i32, [3 x float]}, ptr %buffer, i64 %wide, i32 1, i32 2
; CHECK: %same: uniform
  %same = getelementptr i32, ptr %buffer, i32 %group
; CHECK: %all: uniform
  %all = load i32, ptr %same
; CHECK: %own: varying
  %own = load i32, ptr %element
  %far = sext i32 %own to i64
; CHECK: %anywhere: varying
  %anywhere = getelementptr i32, ptr %buffer, i64 %far
  %two = load i32, ptr %anywhere
  %three = load i32, ptr %field
  %sum = add i32 %two, %three
  store i32 %sum, ptr %element
  ret void
}

; An index of unknown size may wrap between two lanes. As an address alone that does not matter:
; lanes on both sides cannot both be in the buffer.
; CHECK-LABEL: shapes of 'may_wrap'
define void @may_wrap(ptr %buffer, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %group = call i32 @spmd.group.x()
  %sum = add i32 %index, %group
; CHECK: %address: one base, step 1
  %address = zext i32 %sum to i64
; CHECK: %place: one base, step 4
  %place = getelementptr i32, ptr %buffer, i64 %address
; Used as a number: each lane for itself.
; CHECK: %number: varying
  %number = zext i32 %sum to i64
  store i64 %number, ptr %place
  ret void
}

; The upper half of an index, computed in words, makes up for the wrap of the lower one.
; CHECK-LABEL: shapes of 'carries'
define void @carries(ptr %buffer, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %group = call i32 @spmd.group.x()
  %low = add i32 %index, %group
  %carry = icmp ult i32 %low, %index
  %upper = zext i1 %carry to i64
  %high = shl i64 %upper, 32
; CHECK: %lower: varying
  %lower = zext i32 %low to i64
; CHECK: %both: varying
  %both = add i64 %high, %lower
  %place = getelementptr i8, ptr %buffer, i64 %both
  store i8 1, ptr %place
  ret void
}

; Rows as long as a vector are the same for all its lanes.
; CHECK-LABEL: shapes of 'rows'
define void @rows(ptr %buffer, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %column = and i32 %index, 7
  %row = lshr i32 %index, 3
; CHECK: %line: uniform
  %line = mul i32 %row, %row
  ret void
}
