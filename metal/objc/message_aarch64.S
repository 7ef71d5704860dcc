// objc_msgSend for AAPCS64. Class::dispatch is at byte 64; a selector's first word is its index in
// that table. x8, the address of a struct result, passes through untouched.
#if defined(__aarch64__)

  .text
  .globl objc_msgSend
  .type objc_msgSend, %function
  .p2align 5
objc_msgSend:
  .cfi_startproc
  cbz x0, 1f
  tst x0, #7
  b.ne 2f
  ldr x16, [x0]
  ldr x17, [x1]
  ldr x16, [x16, #64]
  lsr x15, x17, #15 // 32768 entries
  cbnz x15, 2f
  ldr x16, [x16, x17, lsl #3]
  cbz x16, 2f
  br x16
1:
  mov x1, #0
  movi d0, #0
  movi d1, #0
  movi d2, #0
  movi d3, #0
  ret
2:
  stp x29, x30, [sp, #-224]!
  .cfi_def_cfa_offset 224
  .cfi_offset x29, -224
  .cfi_offset x30, -216
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  bl bessemer_objc_find_target
  mov x16, x0
  mov x17, x1
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  mov x0, x17
  ldp x29, x30, [sp], #224
  .cfi_def_cfa_offset 0
  br x16
  .cfi_endproc
  .size objc_msgSend, . - objc_msgSend

  .hidden bessemer_objc_find_target
  .globl objc_msgSend_stret
  .type objc_msgSend_stret, %function
  .set objc_msgSend_stret, objc_msgSend
  .globl objc_msgSend_fpret
  .type objc_msgSend_fpret, %function
  .set objc_msgSend_fpret, objc_msgSend

#endif
  .section .note.GNU-stack, "", %progbits
