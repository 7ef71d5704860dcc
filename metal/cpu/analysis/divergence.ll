; Where lanes part, which blocks run under masks, and which values are lanes' own choices.
; RUN: pass_tool %s --passes=print-divergence,print-shapes --lanes=8 --threads=16 | FileCheck %s

declare i32 @spmd.thread_index()
declare i32 @spmd.group.x()

; A branch on a uniform value is none of the lanes' business; one on a lane's own value masks what it
; goes around, and the value that it chooses varies.
; CHECK-LABEL: function 'branches'
; CHECK-NEXT: entry{{$}}
; CHECK-NEXT: uniform{{$}}
; CHECK-NEXT: middle, masked branch{{$}}
; CHECK-NEXT: some, masked from 'middle'{{$}}
; CHECK-NEXT: join{{$}}
; CHECK-NEXT: %second is blended
; CHECK: %first: uniform
; CHECK: %second: varying
define void @branches(ptr %buffer, ptr %dispatch, ptr %memory) {
entry:
  %index = call i32 @spmd.thread_index()
  %group = call i32 @spmd.group.x()
  %same = icmp eq i32 %group, 3
  br i1 %same, label %uniform, label %middle
uniform:
  br label %middle
middle:
  %first = phi i32 [ 1, %entry ], [ 2, %uniform ]
  %odd = trunc i32 %index to i1
  br i1 %odd, label %some, label %join
some:
  br label %join
join:
  %second = phi i32 [ %first, %middle ], [ 7, %some ]
  %sum = add i32 %second, %first
  store i32 %sum, ptr %buffer
  ret void
}

; Lanes leave in different iterations: what is uniform inside varies outside, even the counter.
; CHECK-LABEL: function 'trips'
; CHECK: loop 'loop': lanes leave in different iterations
; CHECK-NEXT: loop, masked branch
; CHECK: %i: uniform
; CHECK: %alike: uniform
; CHECK: %count: varying
; CHECK: %last: varying
define void @trips(ptr %buffer, ptr %dispatch, ptr %memory) {
entry:
  %index = call i32 @spmd.thread_index()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %place = getelementptr i32, ptr %buffer, i32 %i
  %alike = load i32, ptr %place
  %more = icmp ult i32 %next, %index
  br i1 %more, label %loop, label %exit
exit:
  %count = phi i32 [ %next, %loop ]
  %last = phi i32 [ %alike, %loop ]
  br label %after
after:
  %sum = add i32 %count, %last
  store i32 %sum, ptr %buffer
  ret void
}

; A block that can also be reached around the lanes' branch is decided at the branch above both.
; CHECK-LABEL: function 'shortcut'
; CHECK-NEXT: entry, masked branch
; CHECK: second, masked from 'entry', masked branch
; CHECK: shared, masked from 'entry'
define void @shortcut(ptr %buffer, i1 %uniform, ptr %dispatch, ptr %memory) {
entry:
  %index = call i32 @spmd.thread_index()
  br i1 %uniform, label %second, label %shared
second:
  %odd = trunc i32 %index to i1
  br i1 %odd, label %shared, label %join
shared:
  store i32 1, ptr %buffer
  br label %join
join:
  ret void
}
