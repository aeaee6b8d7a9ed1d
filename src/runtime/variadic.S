# Functions of stdio that take any number of arguments: from their arguments as they are, those of the function that takes a va_list.

# `named` of the arguments have names. On the stack: the va_list, then the registers that it speaks of.
        .macro  variadic name, named, list
        .globl  hook_\name
        .type   hook_\name, @function
hook_\name:
        .cfi_startproc
        push    %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        mov     %rsp, %rbp
        .cfi_def_cfa_register rbp
        sub     $208, %rsp
        mov     %rdi, 32(%rsp)
        mov     %rsi, 40(%rsp)
        mov     %rdx, 48(%rsp)
        mov     %rcx, 56(%rsp)
        mov     %r8, 64(%rsp)
        mov     %r9, 72(%rsp)
        test    %al, %al
        jz      1f
        movaps  %xmm0, 80(%rsp)
        movaps  %xmm1, 96(%rsp)
        movaps  %xmm2, 112(%rsp)
        movaps  %xmm3, 128(%rsp)
        movaps  %xmm4, 144(%rsp)
        movaps  %xmm5, 160(%rsp)
        movaps  %xmm6, 176(%rsp)
        movaps  %xmm7, 192(%rsp)
1:      movl    $8 * \named, (%rsp)
        movl    $48, 4(%rsp)
        lea     16(%rbp), %rax
        mov     %rax, 8(%rsp)
        lea     32(%rsp), %rax
        mov     %rax, 16(%rsp)
        mov     %rsp, \list
        call    hook_v_\name
        leave
        .cfi_def_cfa rsp, 8
        ret
        .cfi_endproc
        .endm

        .text
        variadic printf, 1, %rsi
        variadic scanf, 1, %rsi
        variadic __isoc99_scanf, 1, %rsi
        variadic __isoc23_scanf, 1, %rsi
        variadic wprintf, 1, %rsi
        variadic fprintf, 2, %rdx
        variadic fscanf, 2, %rdx
        variadic __isoc99_fscanf, 2, %rdx
        variadic __isoc23_fscanf, 2, %rdx
        variadic fwprintf, 2, %rdx
        variadic __printf_chk, 2, %rdx
        variadic __wprintf_chk, 2, %rdx
        variadic __fprintf_chk, 3, %rcx
        variadic __fwprintf_chk, 3, %rcx
        variadic syslog, 2, %rdx
        variadic __syslog_chk, 3, %rcx

        .section .note.GNU-stack, "", @progbits
