; A thread's array becomes one of the vector, element by element, lane beside lane: an index that
; varies then reads neighbouring words where lanes agree.
; RUN: pass_tool %s --passes=private-arrays --lanes=8 --threads=8 | FileCheck %s

declare i32 @spmd.thread_index()

; CHECK-LABEL: define void @array(
; CHECK-NOT: alloca
; CHECK: %[[BASE:.*]] = call ptr @spmd.private(i64 0)
; CHECK: %[[LANE:.*]] = call i32 @spmd.lane()
; CHECK: %[[ROW:.*]] = mul i64 %{{.*}}, 32
; CHECK: %[[PLACE:.*]] = getelementptr i8, ptr %[[BASE]], i64 %[[ROW]]
; CHECK: %[[COLUMN:.*]] = mul i64 %{{.*}}, 4
; CHECK: %[[OWN:.*]] = getelementptr i8, ptr %[[PLACE]], i64 %[[COLUMN]]
; CHECK: store i32 %index, ptr %[[OWN]]
; The third element of every lane: two rows of eight words further on.
; CHECK: %[[THIRD:.*]] = getelementptr i8, ptr %[[BASE]], i64 64
; CHECK: getelementptr i8, ptr %[[THIRD]]
define void @array(ptr %buffer, ptr %dispatch, ptr %memory) {
  %array = alloca [4 x i32]
  %index = call i32 @spmd.thread_index()
  %element = and i32 %index, 3
  %place = getelementptr [4 x i32], ptr %array, i32 0, i32 %element
  store i32 %index, ptr %place
  %third = getelementptr [4 x i32], ptr %array, i32 0, i32 2
  %value = load i32, ptr %third
  %out = getelementptr i32, ptr %buffer, i32 %index
  store i32 %value, ptr %out
  ret void
}

; The second array lies behind the first.
; CHECK-LABEL: define void @two(
; CHECK: call ptr @spmd.private(i64 0)
; CHECK: call ptr @spmd.private(i64 128)
define void @two(ptr %buffer, ptr %dispatch, ptr %memory) {
  %a = alloca [4 x i32]
  %b = alloca [4 x i32]
  %index = call i32 @spmd.thread_index()
  %element = and i32 %index, 3
  %x = getelementptr [4 x i32], ptr %a, i32 0, i32 %element
  %y = getelementptr [4 x i32], ptr %b, i32 0, i32 %element
  store i32 1, ptr %x
  store i32 2, ptr %y
  %value = load i32, ptr %x
  store i32 %value, ptr %y
  ret void
}
