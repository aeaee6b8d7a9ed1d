# void runtime_call_guarded(void (*function)(Guard&), Guard&): see unwinding.h.
        .text
        .globl  runtime_call_guarded
        .type   runtime_call_guarded, @function
runtime_call_guarded:
        .cfi_startproc
        .cfi_personality 0x1b, runtime_unwound
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register rbp
        mov     %rdi, %rax
        mov     %rsi, %rdi
        call    *%rax
        pop     %rbp
        .cfi_def_cfa rsp, 8
        ret
        .cfi_endproc

# void pthread_exit(result), prepared. Nobody stays on the stack.
        .globl  hook_pthread_exit
        .type   hook_pthread_exit, @function
hook_pthread_exit:
        .cfi_startproc
        push    %rdi
        .cfi_adjust_cfa_offset 8
        call    runtime_prepare_exit
        pop     %rdi
        .cfi_adjust_cfa_offset -8
        jmp     *%rax
        .cfi_endproc

        .section .note.GNU-stack, "", @progbits
