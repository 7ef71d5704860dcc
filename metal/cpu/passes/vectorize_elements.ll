; Vectors of Metal's own (float4, long3) become one vector of lanes for each element.
; RUN: pass_tool %s --passes=vectorize --lanes=8 --threads=8 | FileCheck %s

declare i32 @spmd.thread_index()

; A long3 whose parts were read as words: a whole of 256 bits.
; CHECK-LABEL: define internal void @vector(
; CHECK: load <8 x i64>
; CHECK: zext <8 x i64> %{{.*}} to <8 x i256>
; CHECK: trunc <8 x i256> %{{.*}} to <8 x i192>
; CHECK: lshr <8 x i192> %{{.*}}, splat (i192 96)
; CHECK: store <8 x i32>
define void @words(ptr %from, ptr %to, ptr %dispatch, ptr %memory) {
  %index = call i32 @spmd.thread_index()
  %wide = zext i32 %index to i64
  %place = getelementptr i64, ptr %from, i64 %wide
  %element = load i64, ptr %place
  %first = insertelement <4 x i64> poison, i64 %element, i64 0
  %all = shufflevector <4 x i64> %first, <4 x i64> poison, <4 x i32> zeroinitializer
  %whole = bitcast <4 x i64> %all to i256
  %part = trunc i256 %whole to i192
  %words = bitcast i192 %part to <6 x i32>
  %word = extractelement <6 x i32> %words, i64 3
  %target = getelementptr i32, ptr %to, i64 %wide
  store i32 %word, ptr %target
  ret void
}
