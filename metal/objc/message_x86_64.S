// objc_msgSend for System V x86-64. Class::dispatch is at byte 64; a selector's first word is its
// index in that table.
#if defined(__x86_64__)

  .text

  // \self: register of the receiver; \selfb its low byte; \sel: register of the selector.
  .macro SEND name, self, selfb, sel
  .globl \name
  .type \name, @function
  .p2align 5
\name:
  .cfi_startproc
  endbr64
  testq \self, \self
  jz .Lnull_\name
  testb $7, \selfb
  jnz .Lslow_\name
  movq (\self), %r10
  movq (\sel), %r11
  movq 64(%r10), %r10
  cmpq $32768, %r11
  jae .Lslow_\name
  movq (%r10,%r11,8), %r11
  testq %r11, %r11
  jz .Lslow_\name
  jmpq *%r11
.Lnull_\name:
  // A struct returned through memory keeps what the caller put there, as clang's own callers test
  // the receiver first; the address must still come back in rax.
  .ifc \name, objc_msgSend_stret
  movq %rdi, %rax
  .else
  xorl %eax, %eax
  .endif
  xorl %edx, %edx
  xorps %xmm0, %xmm0
  xorps %xmm1, %xmm1
  retq
.Lslow_\name:
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $192, %rsp
  movq %rdi, (%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %rax, 48(%rsp)
  movups %xmm0, 64(%rsp)
  movups %xmm1, 80(%rsp)
  movups %xmm2, 96(%rsp)
  movups %xmm3, 112(%rsp)
  movups %xmm4, 128(%rsp)
  movups %xmm5, 144(%rsp)
  movups %xmm6, 160(%rsp)
  movups %xmm7, 176(%rsp)
  .ifc \name, objc_msgSend_stret
  movq %rsi, %rdi
  movq %rdx, %rsi
  .endif
  callq bessemer_objc_find_target
  movq %rax, %r11
  movq %rdx, %r10
  movq (%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movq 48(%rsp), %rax
  movups 64(%rsp), %xmm0
  movups 80(%rsp), %xmm1
  movups 96(%rsp), %xmm2
  movups 112(%rsp), %xmm3
  movups 128(%rsp), %xmm4
  movups 144(%rsp), %xmm5
  movups 160(%rsp), %xmm6
  movups 176(%rsp), %xmm7
  movq %r10, \self
  leave
  .cfi_def_cfa %rsp, 8
  jmpq *%r11
  .cfi_endproc
  .size \name, . - \name
  .endm

  .hidden bessemer_objc_find_target
  SEND objc_msgSend, %rdi, %dil, %rsi
  SEND objc_msgSend_stret, %rsi, %sil, %rdx

  .globl objc_msgSend_fpret
  .type objc_msgSend_fpret, @function
  .set objc_msgSend_fpret, objc_msgSend

#endif
  .section .note.GNU-stack, "", @progbits
