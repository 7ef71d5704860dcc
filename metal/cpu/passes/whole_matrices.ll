; Sums of products stay whole from one product to the next; lanes' elements are joined before the
; first and taken apart after the last.
; RUN: pass_tool %s --passes=whole-matrices --lanes=32 --threads=32 | FileCheck %s

declare i32 @spmd.thread_index()
declare { float, float } @spmd.matrix_multiply.f32(float, float, float, float, float, float)

; CHECK-LABEL: define void @sum(
; CHECK: loop:
; CHECK: %[[SUM:.*]] = phi <64 x float> [ zeroinitializer, %enter ], [ %[[PRODUCT:.*]], %loop ]
; CHECK: %[[A:.*]] = call <64 x float> @spmd.matrix_join(float %a0, float %a1)
; CHECK: %[[PRODUCT]] = call <64 x float> @spmd.matrix_product(<64 x float> %[[A]], <64 x float> %[[A]], <64 x float> %[[SUM]])
; CHECK-NOT: @spmd.matrix_element
; CHECK: done:
; CHECK: %[[LAST:.*]] = phi <64 x float> [ %[[PRODUCT]], %loop ]
; CHECK: %[[ELEMENT:.*]] = call float @spmd.matrix_element(<64 x float> %[[LAST]], i32 0)
; CHECK: store float %[[ELEMENT]]
define void @sum(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
entry:
  %index = call i32 @spmd.thread_index()
  %wide = zext i32 %index to i64
  %place = getelementptr float, ptr %to, i64 %wide
  br label %enter
enter:
  br label %loop
loop:
  %c0 = phi float [ 0.0, %enter ], [ %d0, %loop ]
  %c1 = phi float [ 0.0, %enter ], [ %d1, %loop ]
  %i = phi i64 [ 0, %enter ], [ %j, %loop ]
  %row = getelementptr float, ptr %from, i64 %i
  %own = getelementptr float, ptr %row, i64 %wide
  %a0 = load float, ptr %own, align 4
  %next = getelementptr float, ptr %own, i64 1
  %a1 = load float, ptr %next, align 4
  %d = call { float, float } @spmd.matrix_multiply.f32(float %a0, float %a1, float %a0, float %a1, float %c0, float %c1)
  %d0 = extractvalue { float, float } %d, 0
  %d1 = extractvalue { float, float } %d, 1
  %j = add i64 %i, 64
  %more = icmp ult i64 %j, 4096
  br i1 %more, label %loop, label %done
done:
  %e0 = phi float [ %d0, %loop ]
  %e1 = phi float [ %d1, %loop ]
  br label %after
after:
  store float %e0, ptr %place, align 4
  store float %e1, ptr %place, align 4
  ret void
}

; Lanes that may come here apart keep their elements.
; CHECK-LABEL: define void @apart(
; CHECK-NOT: @spmd.matrix_product
; CHECK: ret void
define void @apart(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
entry:
  %index = call i32 @spmd.thread_index()
  %wide = zext i32 %index to i64
  %place = getelementptr float, ptr %to, i64 %wide
  %a = load float, ptr %place, align 4
  %some = fcmp ogt float %a, 0.0
  br i1 %some, label %product, label %done
product:
  %d = call { float, float } @spmd.matrix_multiply.f32(float %a, float %a, float %a, float %a, float %a, float %a)
  %d0 = extractvalue { float, float } %d, 0
  store float %d0, ptr %place, align 4
  br label %done
done:
  ret void
}
