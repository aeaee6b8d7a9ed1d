# The ways into and out of the runtime.
#include "offsets.h"

        .section .entry, "ax", @progbits

# --- from a patched `syscall`, at the address that patch/abi.h names; also where SIGSYS is diverted to.
#     rcx: where to go on; rax: number; everything else the program's.
        .globl  runtime_entry_syscall
        .type   runtime_entry_syscall, @function
runtime_entry_syscall:
        jmp     entry_syscall_body
        .balign 64

# --- from a patched rdtsc, rdrand …
        .globl  runtime_entry_instruction
        .type   runtime_entry_instruction, @function
runtime_entry_instruction:
        jmp     entry_instruction_body
        .balign 16
        # What fast paths in patched code call (patch/thread_abi.h).
        .skip   16, 0xcc
        .quad   runtime_look_ahead
        .quad   runtime_announce_mutex
        .quad   runtime_handed_over
        .quad   runtime_wake_mutex

        .text
        .type   entry_syscall_body, @function
entry_syscall_body:
        .cfi_startproc simple
        .cfi_signal_frame
        .cfi_def_cfa rsp, 0
        .cfi_register rip, rcx
        mov     %rsp, %gs:THREAD_USER_RSP
        mov     %gs:THREAD_STACK_TOP, %rsp
        pushq   %gs:THREAD_USER_RSP
        pushfq
        push    %rcx
        cmp     $CALL_CLOCK_GETTIME, %eax
        je      entry_clock
        cmp     $CALL_GETTIMEOFDAY, %eax
        je      entry_clock
entry_any_call:
        pushq   $0
        push    %rax
        push    %rdi
        push    %rsi
        push    %rdx
        push    %rcx
        push    %rax
        push    %r8
        push    %r9
        push    %r10
        push    %r11
        push    %rbx
        push    %rbp
        push    %r12
        push    %r13
        push    %r14
        push    %r15
        # The frame is at rsp. CFA = saved rsp (offset 152), rip at 136.
        .cfi_escape 0x0f, 0x04, 0x77, 0x98, 0x01, 0x06          # def_cfa_expression: breg7 152; deref
        # A debugger does not know trampolines, so it is told where the instruction stood: if kReturnMark (patch/abi.h) lies
        # at rip - 8, rip plus the int32_t behind it. As val_expression:
        .cfi_escape 0x16, 0x10, 0x21
        .cfi_escape 0x77, 0x88, 0x01, 0x06                      # breg7 136, deref: rip
        .cfi_escape 0x12, 0x38, 0x1c, 0x94, 0x04                # dup, lit8, minus, deref_size 4
        .cfi_escape 0x0c, 0x50, 0x43, 0x54, 0x52, 0x29          # const4u kReturnMark, eq
        .cfi_escape 0x28, 0x03, 0x00, 0x2f, 0x0c, 0x00          # bra over the next, skip to the end
        .cfi_escape 0x12, 0x34, 0x1c, 0x94, 0x04                # dup, lit4, minus, deref_size 4
        .cfi_escape 0x08, 0x20, 0x24, 0x08, 0x20, 0x26, 0x22    # sign-extend: const1u 32, shl, const1u 32, shra; plus
        .cfi_escape 0x10, 0x06, 0x02, 0x77, 0x20                # rbp: 32
        .cfi_escape 0x10, 0x03, 0x02, 0x77, 0x28                # rbx: 40
        .cfi_escape 0x10, 0x0c, 0x02, 0x77, 0x18                # r12: 24
        .cfi_escape 0x10, 0x0d, 0x02, 0x77, 0x10                # r13: 16
        .cfi_escape 0x10, 0x0e, 0x02, 0x77, 0x08                # r14: 8
        .cfi_escape 0x10, 0x0f, 0x02, 0x77, 0x00                # r15: 0
        .cfi_escape 0x10, 0x0b, 0x02, 0x77, 0x30                # r11: 48
        .cfi_escape 0x10, 0x0a, 0x02, 0x77, 0x38                # r10: 56
        .cfi_escape 0x10, 0x09, 0x03, 0x77, 0xc0, 0x00          # r9: 64
        .cfi_escape 0x10, 0x08, 0x03, 0x77, 0xc8, 0x00          # r8: 72
        .cfi_escape 0x10, 0x00, 0x03, 0x77, 0xd0, 0x00          # rax: 80
        .cfi_escape 0x10, 0x01, 0x03, 0x77, 0xe0, 0x00          # rdx: 96
        .cfi_escape 0x10, 0x04, 0x03, 0x77, 0xe8, 0x00          # rsi: 104
        .cfi_escape 0x10, 0x05, 0x03, 0x77, 0xf0, 0x00          # rdi: 112
        cld
        mov     %rsp, %rdi
        call    runtime_dispatch
        # The frame may lie elsewhere afterwards only if somebody called runtime_leave himself.
        mov     %rsp, %rdi
        jmp     runtime_leave
        .cfi_endproc

# --- a clock: on the stack are rsp, flags and rip. Only what a C function may change is saved.
entry_clock:
        push    %rdi
        push    %rsi
        push    %rdx
        push    %r8
        push    %r9
        push    %r10
        push    %rax
        cld
        mov     %eax, %edx
        call    runtime_clock
        test    %al, %al
        pop     %rax
        pop     %r10
        pop     %r9
        pop     %r8
        pop     %rdx
        pop     %rsi
        pop     %rdi
        mov     (%rsp), %rcx
        mov     8(%rsp), %r11
        jz      entry_any_call
        # Flags without popfq, which takes longer than all of this: overflow by an addition, the others by sahf.
        mov     %r11d, %eax
        mov     %eax, %ecx
        shr     $11, %eax
        and     $1, %eax
        add     $0x7f, %al
        mov     %cl, %ah
        sahf
        mov     (%rsp), %rcx
        mov     16(%rsp), %rsp
        mov     $0, %eax
        jmp     *%rcx

# --- void runtime_signal_point(): a call that does nothing, but lets signals in.
        .globl  runtime_signal_point
        .type   runtime_signal_point, @function
runtime_signal_point:
        .cfi_startproc
        lea     1f(%rip), %rcx
        mov     $CALL_SIGNAL_POINT, %eax
        jmp     runtime_entry_syscall
1:      ret
        .cfi_endproc

# --- void runtime_leave(Frame*): back to the program, for good.
        .globl  runtime_leave
        .type   runtime_leave, @function
runtime_leave:
        mov     %rdi, %rsp
        cmpq    $0, 128(%rsp)
        jne     leave_full
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbp
        pop     %rbx
        add     $8, %rsp
        pop     %r10
        pop     %r9
        pop     %r8
        pop     %rax
        add     $8, %rsp
        pop     %rdx
        pop     %rsi
        pop     %rdi
        add     $16, %rsp
        pop     %rcx
        mov     (%rsp), %r11
        popfq
        pop     %rsp
        jmp     *%rcx
leave_full:
        # All registers live: iretq, with its five words where number … rsp are now.
        mov     136(%rsp), %rax         # rip
        mov     144(%rsp), %rcx         # flags
        mov     152(%rsp), %rdx         # rsp
        movq    $0x2b, 152(%rsp)
        mov     %rdx, 144(%rsp)
        mov     %rcx, 136(%rsp)
        movq    $0x33, 128(%rsp)
        mov     %rax, 120(%rsp)
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbp
        pop     %rbx
        pop     %r11
        pop     %r10
        pop     %r9
        pop     %r8
        pop     %rax
        pop     %rcx
        pop     %rdx
        pop     %rsi
        pop     %rdi
        iretq

        .type   entry_instruction_body, @function
entry_instruction_body:
        # rsp: SavedRegisters on the program's stack; edi: descriptor; rcx: where to go on. All registers are saved there.
        mov     %rsp, %rbx
        mov     %rcx, %rbp
        mov     %edi, %esi
        mov     %gs:THREAD_STACK_TOP, %rsp
        cld
        mov     %rbx, %rdi
        mov     %rbp, %rdx
        call    runtime_instruction
        mov     %rbx, %rsp
        jmp     *%rbp

        .text
# --- the first instruction of every recorded image. rsp: the kernel's initial stack.
        .globl  runtime_start
runtime_start:
        mov     %rsp, %rdi
        xor     %ebp, %ebp
        lea     runtime_boot_stack_end(%rip), %rsp
        call    runtime_boot
        hlt

# --- void runtime_on_stack(void* stack_top, void (*function)(void*), void* argument): go on there, never come back.
        .globl  runtime_on_stack
runtime_on_stack:
        mov     %rdi, %rsp
        mov     %rdx, %rdi
        xor     %ebp, %ebp
        call    *%rsi
        hlt

# --- void runtime_restorer(): return from one of the runtime's own signal handlers.
        .globl  runtime_restorer
runtime_restorer:
        mov     $15, %eax
        syscall
        hlt

# --- long runtime_clone(flags, stack, ptid, ctid, tls, void (*function)(void*), void* argument [on stack])
#     In the child: function(argument) on the new stack, never returns.
        .globl  runtime_clone
runtime_clone:
        mov     8(%rsp), %rax           # argument
        mov     %r9, -8(%rsi)
        mov     %rax, -16(%rsi)
        sub     $16, %rsi
        mov     %rcx, %r10
        mov     $56, %eax
        syscall
        test    %rax, %rax
        jz      1f
        ret
1:      xor     %ebp, %ebp
        pop     %rdi
        pop     %rax
        call    *%rax
        hlt

# --- long runtime_blocking(nr, a, b, c, d, e, f [on stack]): a call that may sleep. If a signal has been queued it does not
#     begin; a signal that arrives between the test and the instruction is diverted to runtime_window_abort.
        .globl  runtime_blocking, runtime_window_begin, runtime_window_end, runtime_window_abort
runtime_blocking:
        mov     %rdi, %rax
        mov     %rsi, %rdi
        mov     %rdx, %rsi
        mov     %rcx, %rdx
        mov     %r8, %r10
        mov     %r9, %r8
        mov     8(%rsp), %r9
runtime_window_begin:
        cmpl    $0, %gs:THREAD_INTERRUPT
        jne     runtime_window_abort
        syscall
runtime_window_end:
        ret
runtime_window_abort:
        mov     $-513, %rax             # kNotBegun
        ret

        .bss
        .balign 16
        .space  32768
runtime_boot_stack_end:
        .section .note.GNU-stack, "", @progbits
