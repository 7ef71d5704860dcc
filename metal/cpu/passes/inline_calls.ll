; Every call becomes its body, whatever its attributes say: vectors have no calling convention.
; RUN: pass_tool %s --passes=inline-calls | FileCheck %s

; CHECK-LABEL: define void @f(
; CHECK-NOT: call
; CHECK: shl i32 %x, 1
define internal i32 @twice(i32 %x) noinline {
  %y = shl i32 %x, 1
  ret i32 %y
}
define void @f(ptr %buffer, ptr %dispatch, ptr %memory) {
  %x = load i32, ptr %buffer
  %y = call i32 @twice(i32 %x)
  store i32 %y, ptr %buffer
  ret void
}
