# long runtime_copy(to, from, n): bytes that could not be copied because the memory is not there (as in the kernel)
# A number is written in one go, if it is aligned, or for the most part: for who watches it, each instruction that writes
# to it is a stop, and each round of one that repeats. Still to be copied are %rdx bytes, and %rcx times 8 before them.
        .text
        .globl  runtime_copy, runtime_copy_bytes, runtime_copy_fault, runtime_copy_end
        .macro  COPY move, register, size
        \move   (%rsi), \register
        \move   \register, (%rdi)
        add     $\size, %rsi
        add     $\size, %rdi
        sub     $\size, %rdx
        .endm
runtime_copy:
        xor     %ecx, %ecx
        mov     %edi, %eax
        and     $7, %eax
        cmp     $4, %eax
        jne     1f
        cmp     $4, %rdx
        jb      3f
        COPY    movl, %eax, 4
1:      cmp     $256, %rdx
        ja      7f
2:      cmp     $8, %rdx
        jb      3f
        COPY    movq, %rax, 8
        jmp     2b
3:      test    $4, %dl
        jz      4f
        COPY    movl, %eax, 4
4:      test    $2, %dl
        jz      5f
        COPY    movw, %ax, 2
5:      test    $1, %dl
        jz      6f
        COPY    movb, %al, 1
6:      xor     %eax, %eax
        ret
7:      mov     %rdx, %rcx
        shr     $3, %rcx
        and     $7, %edx
        rep movsq
        jmp     3b
# After a fault: whether some bytes of the number are there.
runtime_copy_bytes:
        lea     (%rdx,%rcx,8), %rcx
        rep movsb
runtime_copy_fault:
        mov     %rcx, %rax
        ret
runtime_copy_end:

        .section .note.GNU-stack, "", @progbits
