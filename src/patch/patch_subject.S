// What the tests patch and run: sites in all the surroundings that need care. Loaded by hand, not relocated.

#define FUNCTION(name) .globl name; .type name, @function; .p2align 4; name: .cfi_startproc
#define END(name) .cfi_endproc; .size name, . - name

        .text

// Five bytes only together with the padding behind it.
FUNCTION(getpid_short)
        mov $39, %eax
        syscall
        ret
END(getpid_short)

// A branch is displaced, and depends on flags that the system call has to keep. Gives 0 for 0, else getpid().
FUNCTION(getpid_unless_zero)
        test %rdi, %rdi
        mov $39, %eax
        syscall
        jz 1f
        nop
        ret
1:      xor %eax, %eax
        ret
END(getpid_unless_zero)

// A jump is displaced.
FUNCTION(getpid_then_jump)
        mov $39, %eax
        syscall
        jmp 1f
        int3
        int3
1:      inc %rax
        ret
END(getpid_then_jump)

FUNCTION(call_checked)
        mov %rdi, %rax
        syscall
        test %rax, %rax
        js 1f
        ret
1:      mov $-1, %rax
        ret
END(call_checked)

// An operand relative to %rip is displaced.
FUNCTION(getpid_plus_number)
        mov $39, %eax
        syscall
        add number(%rip), %rax
        ret
END(getpid_plus_number)

// Control enters right behind the site, so what is in front is displaced. Gives getpid() for 0, else what it got.
FUNCTION(getpid_entered_behind)
        mov %rdi, %rax
        test %rdi, %rdi
        jne 1f
        mov $39, %eax
        syscall
1:      mov %rax, %rdx
        mov %rdx, %rax
        ret
END(getpid_entered_behind)

// The same, where only a switch table, a word of data or an exception table leads there.
FUNCTION(getpid_before_case)
        lea switch_table(%rip), %rdx
        movslq (%rdx, %rdi, 4), %rax
        add %rdx, %rax
        jmp *%rax
.Lcase0:
        mov $39, %eax
        syscall
.Lcase1:
        mov %rax, %rdx
        ret
END(getpid_before_case)

FUNCTION(getpid_before_address)
        mov $39, %eax
        syscall
.Laddress:
        mov %rax, %rdx
        ret
END(getpid_before_address)

FUNCTION(getpid_before_landing_pad)
        .cfi_lsda 0x1b, exception_table
        mov $39, %eax
        syscall
.Llanding_pad:
        mov %rax, %rdx
        ret
END(getpid_before_landing_pad)

// No room on either side: a trap.
FUNCTION(rdtsc_surrounded)
        test %rdi, %rdi
        jg 1f
        jl 2f
        jmp 3f
1:      rdtsc
2:      shl $32, %rdx
3:      or %rdx, %rax
        ret
END(rdtsc_surrounded)

// The same for a system call: left, or a trap on demand.
FUNCTION(getpid_surrounded)
        mov $39, %eax
        test %rdi, %rdi
        jg 1f
        jl 2f
        jmp 3f
1:      syscall
2:      nop
3:      ret
END(getpid_surrounded)

// gdb knows signal frames by these bytes.
FUNCTION(restorer)
        mov $15, %rax
        syscall
END(restorer)

FUNCTION(vfork)
        pop %rdi
        mov $58, %eax
        syscall
        push %rdi
        ret
END(vfork)

// Each NAME(input, output) loads all registers and flags from input, runs one instruction, and stores them all to
// output. Both are arrays of 17: registers in order of their encoding, then flags. The red zone must survive too: its
// ends are stored as output[17] and output[18].
#define PROBE(name, ...)              \
FUNCTION(name)                       ;\
        push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15; push %rsi ;\
        pushq 128(%rdi)              ;\
        popfq                        ;\
        mov 0(%rdi), %rax            ;\
        mov 8(%rdi), %rcx            ;\
        mov 16(%rdi), %rdx           ;\
        mov 24(%rdi), %rbx           ;\
        mov 40(%rdi), %rbp           ;\
        mov 48(%rdi), %rsi           ;\
        mov 64(%rdi), %r8            ;\
        mov 72(%rdi), %r9            ;\
        mov 80(%rdi), %r10           ;\
        mov 88(%rdi), %r11           ;\
        mov 96(%rdi), %r12           ;\
        mov 104(%rdi), %r13          ;\
        mov 112(%rdi), %r14          ;\
        mov 120(%rdi), %r15          ;\
        mov 56(%rdi), %rdi           ;\
        movq $0x1111, -8(%rsp)       ;\
        movq $0x2222, -128(%rsp)     ;\
        __VA_ARGS__                  ;\
        xchg %rdi, (%rsp)            ;\
        mov %rax, 0(%rdi)            ;\
        mov %rcx, 8(%rdi)            ;\
        mov %rdx, 16(%rdi)           ;\
        mov %rbx, 24(%rdi)           ;\
        mov %rsp, 32(%rdi)           ;\
        mov %rbp, 40(%rdi)           ;\
        mov %rsi, 48(%rdi)           ;\
        mov %r8, 64(%rdi)            ;\
        mov %r9, 72(%rdi)            ;\
        mov %r10, 80(%rdi)           ;\
        mov %r11, 88(%rdi)           ;\
        mov %r12, 96(%rdi)           ;\
        mov %r13, 104(%rdi)          ;\
        mov %r14, 112(%rdi)          ;\
        mov %r15, 120(%rdi)          ;\
        mov -8(%rsp), %rax           ;\
        mov %rax, 136(%rdi)          ;\
        mov -128(%rsp), %rax         ;\
        mov %rax, 144(%rdi)          ;\
        pop %rax                     ;\
        mov %rax, 56(%rdi)           ;\
        pushfq                       ;\
        popq 128(%rdi)               ;\
        cld                          ;\
        pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx ;\
        ret                          ;\
END(name)

PROBE(probe_nothing, nop)
PROBE(probe_syscall, syscall)
PROBE(probe_rdtsc, rdtsc)
PROBE(probe_rdtscp, rdtscp)
PROBE(probe_rdrand16, rdrand %dx)
PROBE(probe_rdrand32, rdrand %ebx)
PROBE(probe_rdrand64, rdrand %r13)
PROBE(probe_rdseed64, rdseed %rdi)
PROBE(probe_rdseed32, rdseed %r8d)
PROBE(probe_rdseed_trapped, jc 1f; jz 2f; 1: rdseed %bp; 2: nop)

        .section .rodata
        .p2align 3
number: .quad 1000000
switch_table:
        .long .Lcase0 - switch_table
        .long .Lcase1 - switch_table

        .section .gcc_except_table, "a", @progbits
exception_table:
        .byte 0xff, 0xff, 1  // landing pads count from the function's start; no types; numbers are ULEB128
        .uleb128 .Lcalls_end - .Lcalls
.Lcalls:
        .uleb128 0, 1, .Llanding_pad - getpid_before_landing_pad, 0
.Lcalls_end:

        .section .data.rel.ro, "aw", @progbits
        .p2align 3
        .quad .Laddress

        .section .note.GNU-stack, "", @progbits
