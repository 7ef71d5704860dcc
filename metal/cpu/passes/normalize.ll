; Control flow as the analyses want it: two-way branches, one way into and out of each loop, one end.
; RUN: pass_tool %s --passes=normalize | FileCheck %s

declare i32 @spmd.thread_index()
; CHECK-LABEL: define void @choose(
; CHECK-NOT: switch
; CHECK-DAG: icmp eq i32 %index, 5
; CHECK-DAG: icmp eq i32 %index, 1
; CHECK: ret void
; CHECK-NOT: ret void
; CHECK: }
define void @choose(ptr %buffer, ptr %dispatch, ptr %memory) {
entry:
  %index = call i32 @spmd.thread_index()
  switch i32 %index, label %other [ i32 1, label %one
                                    i32 5, label %five ]
one:
  ret void
five:
  store i32 5, ptr %buffer
  br label %other
other:
  ret void
}
; The inner loop also leaves the outer one: by way of the block behind it, with a guard.
; CHECK-LABEL: define void @nest(
; CHECK: inner:
; CHECK: br i1 %leave, label %[[EXIT:.*]], label %body
; CHECK: body:
; CHECK: br i1 %more, label %inner, label %[[EXIT]]
; CHECK: detour:
; CHECK-NEXT: %[[ALWAYS:.*]] = call i1 @spmd.always()
; CHECK: [[EXIT]]:
; CHECK-NEXT: %[[GUARD:.*]] = phi i1
; CHECK: br i1 %[[GUARD]], label %detour, label %latch
define void @nest(ptr %buffer, ptr %dispatch, ptr %memory) {
entry:
  %index = call i32 @spmd.thread_index()
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %latch ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %body ]
  %leave = icmp eq i32 %j, %index
  br i1 %leave, label %done, label %body
body:
  %j.next = add i32 %j, 1
  %more = icmp ult i32 %j.next, 9
  br i1 %more, label %inner, label %latch
latch:
  %i.next = add i32 %i, 1
  %again = icmp ult i32 %i.next, 4
  br i1 %again, label %outer, label %done
done:
  store i32 1, ptr %buffer
  ret void
}
