; Four neighbouring words of records that lie apart are one load; what may have changed between two
; loads is not, nor what other lanes load too.
; RUN: pass_tool %s --passes=merge-loads --lanes=8 --threads=8 | FileCheck %s

declare i32 @spmd.thread_index()

; CHECK-LABEL: define void @records(
; CHECK: %[[PLACE:.*]] = getelementptr i8, ptr %third, i64 -8
; CHECK-NEXT: %[[WHOLE:.*]] = load <4 x i32>, ptr %[[PLACE]], align 4
; CHECK: extractelement <4 x i32> %[[WHOLE]], i64 0
; CHECK: bitcast i32 %{{.*}} to float
; CHECK: extractelement <4 x i32> %[[WHOLE]], i64 3
; CHECK-NOT: load i32
; CHECK: ret void
define void @records(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %wide = zext i32 %index to i64
  %first = getelementptr [5 x i32], ptr %from, i64 %wide
  %third = getelementptr i8, ptr %first, i64 8
  %c = load i32, ptr %third, align 4
  %second = getelementptr i8, ptr %first, i64 4
  %b = load float, ptr %second, align 4
  %a = load i32, ptr %first, align 4
  %fourth = getelementptr i8, ptr %first, i64 12
  %d = load i32, ptr %fourth, align 4
  %bi = fptosi float %b to i32
  %ab = add i32 %a, %bi
  %cd = add i32 %c, %d
  %sum = add i32 %ab, %cd
  store i32 %sum, ptr %to
  ret void
}

; CHECK-LABEL: define void @written_between(
; CHECK-NOT: <4 x i32>
; CHECK: ret void
define void @written_between(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %wide = zext i32 %index to i64
  %first = getelementptr [5 x i32], ptr %from, i64 %wide
  %a = load i32, ptr %first, align 4
  %second = getelementptr i8, ptr %first, i64 4
  %b = load i32, ptr %second, align 4
  store i32 %a, ptr %to
  %third = getelementptr i8, ptr %first, i64 8
  %c = load i32, ptr %third, align 4
  %fourth = getelementptr i8, ptr %first, i64 12
  %d = load i32, ptr %fourth, align 4
  %bc = add i32 %b, %c
  %sum = add i32 %bc, %d
  store i32 %sum, ptr %to
  ret void
}

; CHECK-LABEL: define void @neighbours(
; CHECK-NOT: <4 x i32>
; CHECK: ret void
define void @neighbours(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %wide = zext i32 %index to i64
  %first = getelementptr i32, ptr %from, i64 %wide
  %a = load i32, ptr %first, align 4
  %second = getelementptr i8, ptr %first, i64 4
  %b = load i32, ptr %second, align 4
  %third = getelementptr i8, ptr %first, i64 8
  %c = load i32, ptr %third, align 4
  %fourth = getelementptr i8, ptr %first, i64 12
  %d = load i32, ptr %fourth, align 4
  %ab = add i32 %a, %b
  %cd = add i32 %c, %d
  %sum = add i32 %ab, %cd
  store i32 %sum, ptr %to
  ret void
}
