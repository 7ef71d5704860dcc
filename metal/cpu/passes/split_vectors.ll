; Vectors of 32 lanes become two of a register each: memory, masks, shuffles and loops alike.
; RUN: pass_tool %s --passes=split-vectors | FileCheck %s

declare <32 x float> @llvm.masked.load.v32f32.p0(ptr, <32 x i1>, <32 x float>)
declare void @llvm.masked.store.v32f32.p0(<32 x float>, ptr, <32 x i1>)

; CHECK-LABEL: define void @arithmetic(
; CHECK: %[[A0:.*]] = load <16 x float>, ptr %from, align 4
; CHECK: %[[NEXT:.*]] = getelementptr i8, ptr %from, i64 64
; CHECK: %[[A1:.*]] = load <16 x float>, ptr %[[NEXT]], align 4
; CHECK: %[[B0:.*]] = fadd contract <16 x float> %[[A0]], splat (float 1.000000e+00)
; CHECK: %[[B1:.*]] = fadd contract <16 x float> %[[A1]], splat (float 1.000000e+00)
; CHECK: store <16 x float> %[[B0]], ptr %to, align 4
; CHECK: store <16 x float> %[[B1]]
; CHECK-NOT: <32 x
; CHECK: ret void
define void @arithmetic(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %a = load <32 x float>, ptr %from, align 4
  %b = fadd contract <32 x float> %a, splat (float 1.0)
  store <32 x float> %b, ptr %to, align 4
  ret void
}

; Does any lane, do all lanes: one test of the parts together.
; CHECK-LABEL: define void @masks(
; CHECK: %[[M0:.*]] = fcmp ogt <16 x float>
; CHECK: %[[M1:.*]] = fcmp ogt <16 x float>
; CHECK-DAG: %[[ANY:.*]] = or <16 x i1> %[[M0]], %[[M1]]
; CHECK-DAG: %[[BITS:.*]] = bitcast <16 x i1> %[[ANY]] to i16
; CHECK-DAG: icmp ne i16 %[[BITS]], 0
; CHECK-DAG: %[[ALL:.*]] = and <16 x i1> %[[M0]], %[[M1]]
; CHECK-DAG: %[[EACH:.*]] = bitcast <16 x i1> %[[ALL]] to i16
; CHECK-DAG: icmp eq i16 %[[EACH]], -1
; CHECK-NOT: <32 x
; CHECK: ret void
define void @masks(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %a = load <32 x float>, ptr %from, align 4
  %mask = fcmp ogt <32 x float> %a, zeroinitializer
  %bits = bitcast <32 x i1> %mask to i32
  %any = icmp ne i32 %bits, 0
  %all = icmp eq i32 %bits, -1
  %one = zext i1 %any to i8
  %two = zext i1 %all to i8
  store i8 %one, ptr %to, align 1
  store i8 %two, ptr %to, align 1
  ret void
}

; The lanes of the first part are all on, those of the second all off.
; CHECK-LABEL: define void @constant_masks(
; CHECK: %[[HALF:.*]] = load <16 x float>, ptr %from, align 4
; CHECK-NEXT: store <16 x float> %[[HALF]], ptr %to, align 4
; CHECK-NEXT: ret void
define void @constant_masks(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %a = call <32 x float> @llvm.masked.load.v32f32.p0(ptr align 4 %from, <32 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>, <32 x float> zeroinitializer)
  call void @llvm.masked.store.v32f32.p0(<32 x float> %a, ptr align 4 %to, <32 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  ret void
}

; Halves that are added need no shuffle; a part with lanes of both does.
; CHECK-LABEL: define void @shuffles(
; CHECK: %[[LOW:.*]] = load <16 x float>, ptr %from
; CHECK: %[[HIGH:.*]] = load <16 x float>
; CHECK: %[[SUM:.*]] = fadd <16 x float> %[[LOW]], %[[HIGH]]
; CHECK: store <16 x float> %[[SUM]], ptr %to
; CHECK: %[[EVEN:.*]] = shufflevector <16 x float> %[[LOW]], <16 x float> %[[HIGH]], <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
; CHECK: store <16 x float> %[[EVEN]], ptr %to
; CHECK-NOT: <32 x
; CHECK: ret void
define void @shuffles(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %a = load <32 x float>, ptr %from, align 4
  %low = shufflevector <32 x float> %a, <32 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %high = shufflevector <32 x float> %a, <32 x float> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %sum = fadd <16 x float> %low, %high
  store <16 x float> %sum, ptr %to, align 4
  %even = shufflevector <32 x float> %a, <32 x float> poison, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  store <16 x float> %even, ptr %to, align 4
  ret void
}

; CHECK-LABEL: define void @loops(
; CHECK: loop:
; CHECK: phi <16 x float> [ zeroinitializer, %entry ], [ %[[NEXT0:.*]], %loop ]
; CHECK-NEXT: phi <16 x float> [ zeroinitializer, %entry ], [ %[[NEXT1:.*]], %loop ]
; CHECK: %[[NEXT0]] = fadd <16 x float>
; CHECK: %[[NEXT1]] = fadd <16 x float>
; CHECK-NOT: <32 x
; CHECK: ret void
define void @loops(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
entry:
  br label %loop
loop:
  %sum = phi <32 x float> [ zeroinitializer, %entry ], [ %next, %loop ]
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %place = getelementptr i8, ptr %from, i64 %i
  %a = load <32 x float>, ptr %place, align 4
  %next = fadd <32 x float> %sum, %a
  %j = add i64 %i, 128
  %more = icmp ult i64 %j, 4096
  br i1 %more, label %loop, label %done
done:
  store <32 x float> %next, ptr %to, align 4
  ret void
}

; What cannot be split has whole vectors, put together.
; CHECK-LABEL: define void @whole(
; CHECK: %[[P0:.*]] = load <16 x float>
; CHECK: %[[P1:.*]] = load <16 x float>
; CHECK: %[[JOINED:.*]] = shufflevector <16 x float> %[[P0]], <16 x float> %[[P1]], <32 x i32>
; CHECK: extractelement <32 x float> %[[JOINED]], i64 %index
define void @whole(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %a = load <32 x float>, ptr %from, align 4
  %index = load i64, ptr %to, align 8
  %one = extractelement <32 x float> %a, i64 %index
  store float %one, ptr %to, align 4
  ret void
}
