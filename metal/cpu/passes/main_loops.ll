; A loop that lanes leave at its end runs without masks until the first lane leaves.
; RUN: pass_tool %s --passes=main-loops --lanes=8 --threads=64 | FileCheck %s

; CHECK-LABEL: define void @rows(
; CHECK: %[[FULL:.*]] = call i1 @spmd.full()
; CHECK-NEXT: br i1 %[[FULL]], label %main.enter, label %main.join
; The tail goes on where the copy ended.
; CHECK: %i = phi i32 [ %[[START:.*]], %tail.enter ], [ %next, %loop ]
; CHECK: loop.full:
; CHECK: %[[ALL:.*]] = call i1 @spmd.all(i1 %more.full)
; CHECK-NEXT: br i1 %[[ALL]], label %loop.full, label %main.exit
; CHECK: main.join:
; CHECK-NEXT: %[[START]] = phi i32 [ %index, %enter ], [ %{{.*}}, %main.exit ]
; CHECK-NEXT: %[[MORE:.*]] = phi i1 [ true, %enter ], [ %{{.*}}, %main.exit ]
; CHECK-NEXT: br i1 %[[MORE]], label %tail.enter, label %tail.end
declare i32 @spmd.thread_index()
define void @rows(ptr %buffer, i32 %count, ptr %dispatch, ptr %memory) {
entry:
  %index = call i32 @spmd.thread_index()
  br label %enter
enter:
  br label %loop
loop:
  %i = phi i32 [ %index, %enter ], [ %next, %loop ]
  %place = getelementptr i32, ptr %buffer, i32 %i
  store i32 %i, ptr %place
  %next = add i32 %i, 64
  %more = icmp ult i32 %next, %count
  br i1 %more, label %loop, label %exit
exit:
  br label %after
after:
  ret void
}

; A loop with the same trips for all lanes needs no copy.
; CHECK-LABEL: define void @alike(
; CHECK-NOT: loop.full
define void @alike(ptr %buffer, i32 %count, ptr %dispatch, ptr %memory) {
entry:
  br label %enter
enter:
  br label %loop
loop:
  %i = phi i32 [ 0, %enter ], [ %next, %loop ]
  store i32 %i, ptr %buffer
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %loop, label %exit
exit:
  br label %after
after:
  ret void
}
