; Recursion is an error that names the function.
; RUN: (! pass_tool %s --passes=inline-calls 2>&1) | FileCheck %s

; CHECK: error: inline-calls, function 'endless': function calls nest too deeply, or recursively
define void @endless(ptr %buffer, ptr %dispatch, ptr %memory) {
  call void @endless(ptr %buffer, ptr %dispatch, ptr %memory)
  ret void
}
