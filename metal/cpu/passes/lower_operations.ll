; AIR's operations become LLVM's, or calls of the built-in library.
; RUN: pass_tool %s --passes=lower-operations | FileCheck %s
; RUN: pass_tool %s --passes=lower-operations,link-builtins,inline-calls | FileCheck %s --check-prefix=INLINED

; CHECK-LABEL: define void @f(
; CHECK: call {{.*}}float @bessemer.math.fast_exp(float %x)
; CHECK: call float @llvm.fma.f32(
; CHECK: call i32 @llvm.ctpop.i32(i32 %n)
; CHECK-NOT: @air.
; The exponential is arithmetic without branches.
; INLINED-LABEL: define void @f(
; INLINED-NOT: br
; INLINED-NOT: @bessemer
; INLINED: call noundef float @llvm.rint.f32(
; INLINED: ret void
declare float @air.fast_exp.f32(float)
declare float @air.fma.f32(float, float, float)
declare i32 @air.popcount.i32(i32)
define void @f(ptr %buffer, ptr %dispatch, ptr %memory) {
  %x = load float, ptr %buffer
  %e = call float @air.fast_exp.f32(float %x)
  %m = call float @air.fma.f32(float %e, float %x, float 1.0)
  store float %m, ptr %buffer
  %n = load i32, ptr %buffer
  %p = call i32 @air.popcount.i32(i32 %n)
  store i32 %p, ptr %buffer
  ret void
}
