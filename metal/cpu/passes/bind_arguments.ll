; A kernel's arguments by what they are: buffers by number, positions of threads by computation,
; threadgroup variables in the memory that the caller gives.
; RUN: pass_tool %s --passes=bind-arguments --threads=8,4 | FileCheck %s

; The buffers ascend: [[buffer(0)]] is %0.
; CHECK-LABEL: define internal void @thread(ptr addrspace(1) %0, ptr addrspace(1) %1, ptr %2, ptr addrspace(3) %3)
; CHECK: %[[SHARED:.*]] = getelementptr i8, ptr addrspace(3) %3, i64 0
; CHECK: %[[GROUP:.*]] = call i32 @spmd.group.x()
; CHECK: %[[START:.*]] = mul nuw i32 %[[GROUP]], 8
; CHECK: %[[INDEX:.*]] = call range(i32 0, 32) i32 @spmd.thread_index()
; CHECK: %[[X:.*]] = urem i32 %[[INDEX]], 8
; CHECK: %[[POSITION:.*]] = add nuw i32 %[[START]], %[[X]]
; CHECK: call i32 @spmd.group.y()
; CHECK: getelementptr inbounds nuw float, ptr addrspace(1) %1
; CHECK: getelementptr inbounds nuw float, ptr addrspace(3) %[[SHARED]]
; CHECK: getelementptr inbounds nuw float, ptr addrspace(1) %0
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32"
target triple = "air64-apple-macosx14.0.0"

@shared = internal unnamed_addr addrspace(3) global [8 x float] undef, align 16

; Function Attrs: mustprogress nounwind
define void @add(ptr addrspace(1) noundef %a, ptr addrspace(1) noundef %b, i32 noundef %i, <2 x i32> %g8) local_unnamed_addr #0 {
entry:
  %idxprom = zext i32 %i to i64
  %arrayidx = getelementptr inbounds nuw float, ptr addrspace(1) %a, i64 %idxprom
  %0 = load float, ptr addrspace(1) %arrayidx, align 4
  %and = and i32 %i, 7
  %idxprom1 = zext nneg i32 %and to i64
  %arrayidx2 = getelementptr inbounds nuw float, ptr addrspace(3) @shared, i64 %idxprom1
  store float %0, ptr addrspace(3) %arrayidx2, align 4
  %1 = extractelement <2 x i32> %g8, i64 0
  %idxprom3 = zext i32 %1 to i64
  %arrayidx4 = getelementptr inbounds nuw float, ptr addrspace(3) @shared, i64 %idxprom3
  %2 = load float, ptr addrspace(3) %arrayidx4, align 4
  %3 = extractelement <2 x i32> %g8, i64 1
  %add = add i32 %3, %i
  %idxprom6 = zext i32 %add to i64
  %arrayidx7 = getelementptr inbounds nuw float, ptr addrspace(1) %b, i64 %idxprom6
  store float %2, ptr addrspace(1) %arrayidx7, align 4
  ret void
}

attributes #0 = { mustprogress nounwind "no-signed-zeros-fp-math"="true" }

!llvm.module.flags = !{!0}
!llvm.errno.tbaa = !{!1}
!air.kernel = !{!5}
!air.version = !{!12}
!air.language_version = !{!13}
!air.compile_options = !{!14, !15}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{!2, !2, i64 0}
!2 = !{!"int", !3, i64 0}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"Simple C++ TBAA"}
!5 = !{ptr @add, !6, !7}
!6 = !{}
!7 = !{!8, !9, !10, !11}
!8 = !{i32 0, !"air.buffer", !"air.location_index", i32 2, i32 1, !"air.read", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"a"}
!9 = !{i32 1, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"b"}
!10 = !{i32 2, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"i"}
!11 = !{i32 3, !"air.threadgroup_position_in_grid", !"air.arg_type_name", !"uint2", !"air.arg_name", !"g"}
!12 = !{i32 2, i32 6, i32 0}
!13 = !{!"Metal", i32 3, i32 2, i32 0}
!14 = !{!"air.compile.denorms_disable"}
!15 = !{!"air.compile.fast_math_enable"}
!16 = !{!17, !17, i64 0}
!17 = !{!"float", !3, i64 0}
