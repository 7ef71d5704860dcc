; Of a simdgroup's 8x8 matrix each lane has two neighbours of one row.
; RUN: pass_tool %s --passes=lower-matrices | FileCheck %s

; CHECK-LABEL: define void @mm(
; CHECK: %[[INDEX:.*]] = call i32 @spmd.thread_index()
; CHECK: and i32 %[[INDEX]], 31
; CHECK: %[[A0:.*]] = load float, ptr addrspace(1)
; CHECK-NEXT: %[[A1:.*]] = load float, ptr addrspace(1)
; CHECK: %[[PRODUCT:.*]] = call { float, float } @spmd.matrix_multiply.f32(float %[[A0]], float %[[A1]], float %[[A0]], float %[[A1]], float 2.0{{.*}}, float 2.0{{.*}})
; CHECK: %[[B0:.*]] = extractvalue { float, float } %[[PRODUCT]], 0
; CHECK: %[[B1:.*]] = extractvalue { float, float } %[[PRODUCT]], 1
; CHECK: store float %[[B0]], ptr addrspace(1)
; CHECK-NEXT: store float %[[B1]], ptr addrspace(1)
; CHECK-NOT: <64 x float>
; CHECK: ret void
declare <64 x float> @air.simdgroup_matrix_8x8_init_filled.v64f32.f32(float)
declare <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1), i64, <2 x i64>, i1)
declare <64 x float> @air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32(<64 x float>, <64 x float>, <64 x float>)
declare void @air.simdgroup_matrix_8x8_store.v64f32.p1f32(<64 x float>, ptr addrspace(1), i64, <2 x i64>, i1)
define void @mm(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr %dispatch, ptr %memory) {
entry:
  %two = call <64 x float> @air.simdgroup_matrix_8x8_init_filled.v64f32.f32(float 2.0)
  %x = call <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) %a, i64 8, <2 x i64> zeroinitializer, i1 false)
  %y = call <64 x float> @air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32(<64 x float> %x, <64 x float> %x, <64 x float> %two)
  call void @air.simdgroup_matrix_8x8_store.v64f32.p1f32(<64 x float> %y, ptr addrspace(1) %b, i64 8, <2 x i64> zeroinitializer, i1 false)
  ret void
}
