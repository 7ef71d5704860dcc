; The copy for all lanes comes before the guard of the loop, where lanes still go together; what the
; guarded blocks compute for the loop comes before both, in its order.
; RUN: pass_tool %s --passes=main-loops --lanes=32 --threads=64 | FileCheck %s

declare i32 @spmd.thread_index()

; CHECK-LABEL: define void @guarded(
; CHECK: entry:
; CHECK: %some = icmp slt i32 %index, %count
; CHECK: %one = add i32 %count, 1
; CHECK-NEXT: %two = mul i32 %one, 3
; CHECK: %[[ALL:.*]] = call i1 @spmd.all(i1 %some)
; CHECK: br i1 %{{.*}}, label %main.enter, label %main.rest
; CHECK: loop:
; CHECK: phi i32 [ %[[START:.*]], %enter ]
; CHECK: main.rest:
; CHECK: %[[START]] = phi i32 [ %index, %entry ], [ %{{.*}}, %main.exit ]
; CHECK: br i1 %{{.*}}, label %before, label %join
; CHECK: loop.full:
; CHECK: call i1 @spmd.all(
; CHECK: br i1 %{{.*}}, label %loop.full, label %main.exit
define void @guarded(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
entry:
  %index = call i32 @spmd.thread_index()
  %count = load i32, ptr %from, align 4
  %some = icmp slt i32 %index, %count
  br i1 %some, label %before, label %join
before:
  %one = add i32 %count, 1
  %two = mul i32 %one, 3
  br label %enter
enter:
  br label %loop
loop:
  %i = phi i32 [ %index, %enter ], [ %j, %loop ]
  %sum = phi i32 [ 0, %enter ], [ %next, %loop ]
  %next = add i32 %sum, %two
  %j = add nsw i32 %i, 64
  %more = icmp slt i32 %j, %count
  br i1 %more, label %loop, label %exit
exit:
  %left = phi i32 [ %next, %loop ]
  br label %after
after:
  br label %join
join:
  %result = phi i32 [ 7, %entry ], [ %left, %after ]
  %wide = zext i32 %index to i64
  %place = getelementptr i32, ptr %to, i64 %wide
  store i32 %result, ptr %place, align 4
  ret void
}
