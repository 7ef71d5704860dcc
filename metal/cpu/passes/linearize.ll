; Lanes' branches become masks, with a way around what no lane runs.
; RUN: pass_tool %s --passes=linearize --lanes=8 --threads=8 | FileCheck %s

declare i32 @spmd.thread_index()

; CHECK-LABEL: define void @skip(
; CHECK: %[[ANY:.*]] = call i1 @spmd.any(i1 %odd)
; CHECK-NEXT: br i1 %[[ANY]], label %some, label %[[SKIP:.*]]
; CHECK: some:
; CHECK-NEXT: call void @spmd.mask(i1 %odd)
; CHECK-NEXT: store i32 5
; CHECK: %[[CHOICE:.*]] = select i1 %odd, i32 2, i32 1
; CHECK: store i32 %[[VALUE:.*]], ptr %other
; CHECK: [[SKIP]]:
; CHECK-NEXT: %[[VALUE]] = phi i32 [ %[[CHOICE]], %some ], [ 1, %entry ]
define void @skip(ptr %buffer, ptr %dispatch, ptr %memory) {
entry:
  %index = call i32 @spmd.thread_index()
  %odd = trunc i32 %index to i1
  %place = getelementptr i32, ptr %buffer, i32 %index
  br i1 %odd, label %some, label %join
some:
  store i32 5, ptr %place
  br label %join
join:
  %value = phi i32 [ 1, %entry ], [ 2, %some ]
  %other = getelementptr i32, ptr %place, i32 64
  store i32 %value, ptr %other
  ret void
}

; A loop that lanes leave one by one goes on while any lane does, each keeping what it left with.
; CHECK-LABEL: define void @leave(
; CHECK: loop:
; CHECK: %[[LIVE:.*]] = phi i1
; CHECK: call void @spmd.mask(i1 %[[LIVE]])
; CHECK: %[[NEXT_LIVE:.*]] = {{and|select}} i1 %[[LIVE]], {{.*}}%more
; CHECK: %[[GO_ON:.*]] = call i1 @spmd.any(i1 %[[NEXT_LIVE]])
; CHECK: br i1 %[[GO_ON]], label %loop, label %exit
define void @leave(ptr %buffer, ptr %dispatch, ptr %memory) {
entry:
  %index = call i32 @spmd.thread_index()
  %place = getelementptr i32, ptr %buffer, i32 %index
  br label %enter
enter:
  br label %loop
loop:
  %i = phi i32 [ 0, %enter ], [ %next, %loop ]
  store i32 %i, ptr %place
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %index
  br i1 %more, label %loop, label %exit
exit:
  %count = phi i32 [ %next, %loop ]
  br label %after
after:
  store i32 %count, ptr %place
  ret void
}

; A uniform branch stays one.
; CHECK-LABEL: define void @uniform(
; CHECK-NOT: spmd.mask
; CHECK: br i1 %same, label %some, label %join
; CHECK-NOT: spmd.mask
; CHECK: ret void
define void @uniform(ptr %buffer, i1 %same, ptr %dispatch, ptr %memory) {
entry:
  br i1 %same, label %some, label %join
some:
  store i32 5, ptr %buffer
  br label %join
join:
  ret void
}

; Where all live lanes leave a divergent loop together, those that left before keep what they took
; along, also behind a block that has a way around it.
; CHECK-LABEL: define void @leave_together(
; CHECK: middle:
; CHECK: %[[KEPT:.*]] = select i1 %[[LIVE:.*]], i32 1, i32 %
; CHECK-NEXT: br i1 %stop, label %[[LEAVE:.*]], label %last
; CHECK: loop.end:
; CHECK: phi i32 [ %[[KEPT]], %[[LEAVE]] ]
; CHECK: [[LEAVE]]:
; CHECK-NEXT: br label %loop.end
define void @leave_together(ptr %buffer, ptr %dispatch, ptr %memory) {
entry:
  %index = call i32 @spmd.thread_index()
  %odd = trunc i32 %index to i1
  %place = getelementptr i32, ptr %buffer, i32 %index
  %flag = load i32, ptr %dispatch
  %stop = icmp eq i32 %flag, 0
  br label %enter

enter:
  br label %loop

loop:
  %i = phi i32 [ 0, %enter ], [ %next, %last ]
  br i1 %odd, label %some, label %middle

some:
  store i32 %i, ptr %place
  br label %middle

middle:
  br i1 %stop, label %exit, label %last

last:
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %index
  br i1 %more, label %loop, label %exit

exit:
  %result = phi i32 [ 1, %middle ], [ 2, %last ]
  br label %after

after:
  store i32 %result, ptr %place
  ret void
}
