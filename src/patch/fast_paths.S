# The usual cases of two functions, in as few instructions as there can be: copied in front of what takes a hook to the runtime.
# Code that works anywhere; it ends where the long way begins. See thread_abi.h for what of a thread lies where; the mutex is glibc's,
# with the state that src/runtime/objects.h describes at its end: version at 24, who had it last at 32, who waits at 36.
#include "thread_abi.h"

        .section .rodata

# %r10: the place of the version of this mutex that was seen last; %r9: 0 if it is this mutex's.
        .macro  find_version
        imul    $VERSION_HASH, %edi, %r10d
        shr     $VERSION_SHIFT, %r10d
        shl     $4, %r10d
        mov     %gs:THREAD_VERSIONS(%r10), %r9
        xor     %rdi, %r9
        .endm

# What an entry of this operation needs: skip in %rsi, its place in the chunk in %r11, and the version last seen.
# %r8: the operation; %rcx: where operations are counted.
        .macro  prepare_entry
        mov     %r8, %rsi
        sub     %gs:THREAD_LAST_ENTRY, %rsi
        mov     CHUNK_USED(%rcx), %r11d
        find_version
        .endm

# The first of the two bytes that an entry has (src/runtime/entries.h), and in %rsi the version for which the other one would be 0.
        .macro  begin_entry
        lea     (%rsi, %rsi), %eax
        mov     %al, CHUNK_BYTES(%rcx, %r11)
        add     %gs:THREAD_VERSIONS + 8(%r10), %rsi
        .endm

# The mutex is free and becomes this thread's, or it is not and the long way is gone.
        .macro  take_mutex
        xor     %eax, %eax
        mov     $1, %edx
        lock cmpxchg %edx, (%rdi)
        jne     1f
        own_mutex
        .endm

        .macro  own_mutex
        mov     %gs:THREAD_TID, %eax
        mov     %eax, 8(%rdi)
        incl    12(%rdi)
        .endm

# int pthread_mutex_lock(mutex), of the plain kind.
        .globl  pastcone_fast_lock, pastcone_fast_lock_end
pastcone_fast_lock:
        cmpb    $COUNTS_RECORD, %gs:THREAD_COUNTS
        jne     2f
        prefetchw (%rdi)                # from another core at once as what it will be: written to
        mov     %gs:THREAD_OPERATIONS, %rcx
        testl   $0xff, 16(%rdi)
        jne     1f
        mov     (%rcx), %r8
        cmpb    $0, %gs:THREAD_OFTEN
        jne     4f
3:      mov     %gs:THREAD_ME, %r9d
        take_mutex
        cmp     %r9d, 32(%rdi)
        jne     6f
        inc     %r8
        incq    24(%rdi)
        mov     %r8, (%rcx)
        xor     %eax, %eax
        ret

        # Another thread had it last.
6:      prepare_entry
        cmp     %gs:THREAD_NEXT_ENTRY, %r11
        jae     5f
        cmp     $SKIP_MOST, %rsi
        jae     5f
        cmp     $SKIP_OFTEN, %rsi
        setb    %gs:THREAD_OFTEN
        begin_entry
        jmp     7f

        # Other threads often have this thread's mutexes in between, and whether they had cannot be foretold: so nothing here depends on
        # it by a jump. An entry is always made, and kept only if it is needed. What does not need the mutex, which may have to come
        # from another core, is done first.
4:      prepare_entry
        cmp     %gs:THREAD_NEXT_ENTRY, %r11
        jae     1f
        cmp     $SKIP_SELDOM, %rsi
        jae     8f
        begin_entry
        take_mutex
7:      mov     24(%rdi), %rdx
        mov     %rdx, %rax
        sub     %rsi, %rax
        lea     (%rax, %rax), %rsi
        not     %rax
        lea     3(, %rax, 4), %rax
        test    %rsi, %rsi
        cmovns  %rsi, %rax
        mov     %al, CHUNK_BYTES + 1(%rcx, %r11)
        shr     $8, %rax
        or      %rax, %r9               # not 0: two bytes are not enough
        mov     32(%rdi), %esi
        xor     %gs:THREAD_ME, %esi     # 0: this thread had it last
        mov     %esi, %eax
        shr     $16, %eax
        or      %rax, %r9               # or a thread of another process
        xor     %eax, %eax
        test    %esi, %esi
        cmove   %rax, %r9
        setne   %al
        test    %r9, %r9
        jne     5f
        mov     %gs:THREAD_VERSIONS + 8(%r10), %r9
        mov     %gs:THREAD_LAST_ENTRY, %r11
        test    %esi, %esi
        cmovne  %rdx, %r9
        cmovne  %r8, %r11
        mov     %r9, %gs:THREAD_VERSIONS + 8(%r10)
        mov     %r11, %gs:THREAD_LAST_ENTRY
        add     %eax, %eax
        add     %eax, CHUNK_USED(%rcx)
        mov     %gs:THREAD_ME, %eax
        inc     %rdx
        inc     %r8
        mov     %rdx, 24(%rdi)
        mov     %eax, 32(%rdi)
        mov     %r8, (%rcx)
        xor     %eax, %eax
        ret
8:      movb    $0, %gs:THREAD_OFTEN
        jmp     3b
5:      movabs  $HANDED_OVER_SLOT, %r11
        jmp     *(%r11)

        # In replay nobody can take it now but who had it last, unless an entry says so: no atomic operation is needed.
2:      cmpb    $0, %gs:THREAD_COUNTS
        je      1f
        testl   $0xff, 16(%rdi)
        jne     1f
        mov     %gs:THREAD_OPERATIONS, %rcx
        mov     (%rcx), %r8
        cmp     %gs:THREAD_NEXT_ENTRY, %r8
        je      9f
        mov     %gs:THREAD_ME, %r9d
        cmp     %r9d, 32(%rdi)
        jne     1f
        cmpl    $0, (%rdi)
        jne     1f
        movl    $1, (%rdi)
        own_mutex
        inc     %r8
        incq    24(%rdi)
        mov     %r8, (%rcx)
        xor     %eax, %eax
        ret

        # An entry says which version this thread finds; if it is here already, there is nothing to wait for.
9:      cmpb    $0, %gs:THREAD_ENTRY_SHORT
        je      1f
        find_version
        test    %r9, %r9
        jne     1f
        mov     %gs:THREAD_ENTRY_DELTA, %rdx
        add     %gs:THREAD_VERSIONS + 8(%r10), %rdx
        cmp     %rdx, 24(%rdi)
        jne     1f
        cmpl    $0, (%rdi)              # in this order: before its version came somebody may have it yet to take
        jne     1f
        mov     %gs:THREAD_ME, %r9d
        mov     32(%rdi), %eax
        xor     %r9d, %eax
        shr     $16, %eax
        jne     1f                      # a thread of another process had it, or nobody
        movl    $1, (%rdi)              # before the version: who waits for the next one looks at both
        own_mutex
        mov     %r9d, 32(%rdi)
        mov     %rdx, %gs:THREAD_VERSIONS + 8(%r10)
        inc     %rdx
        mov     %rdx, 24(%rdi)
        mov     %r8, %gs:THREAD_LAST_ENTRY
        lea     1(%r8), %rdx
        mov     %rdx, (%rcx)
        mov     %gs:THREAD_ENTRY_AFTER, %rsi
        lea     2(%rsi), %rdx
        cmp     %gs:THREAD_ENTRIES_END, %rdx
        ja      10f
        movzbl  (%rsi), %r9d
        shr     %r9d
        jc      10f
        movzbl  1(%rsi), %eax
        mov     %eax, %r10d
        mov     %eax, %r11d
        and     $3, %r11d
        cmp     $1, %r11d
        je      10f
        shr     $2, %r10d
        not     %r10
        shr     %eax
        cmovc   %r10, %rax
        add     %r9, %r8
        add     %r9, %rax
        mov     %rsi, %gs:THREAD_ENTRY_AT
        mov     %rdx, %gs:THREAD_ENTRY_AFTER
        mov     %rax, %gs:THREAD_ENTRY_DELTA
        mov     %r8, %gs:THREAD_NEXT_ENTRY
        xor     %eax, %eax
        ret
10:     movabs  $LOOK_AHEAD_SLOT, %r11
        jmp     *(%r11)
1:
pastcone_fast_lock_end:

# int pthread_mutex_unlock(mutex), of the plain kind. In replay somebody may wait for just this version.
        .globl  pastcone_fast_unlock, pastcone_fast_unlock_end
pastcone_fast_unlock:
        testl   $0xff, 16(%rdi)
        jne     1f
        movzbl  %gs:THREAD_COUNTS, %esi
        test    %esi, %esi
        je      1f
        movl    $0, 8(%rdi)
        decl    12(%rdi)
        xor     %eax, %eax
        xchg    %eax, (%rdi)            # from here on its memory may be another core's
        cmp     $1, %eax
        jg      2f
        cmp     $COUNTS_RECORD, %esi
        jne     3f
        xor     %eax, %eax
        ret
2:      movabs  $WAKE_SLOT, %r11
        jmp     *(%r11)
3:      mov     36(%rdi), %eax
        test    %eax, %eax
        jne     4f
        ret
4:      movabs  $ANNOUNCE_SLOT, %r11
        jmp     *(%r11)
1:
pastcone_fast_unlock_end:

        .section .note.GNU-stack, "", @progbits
