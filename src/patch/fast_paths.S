# The usual cases of two functions, in as few instructions as there can be: copied in front of what takes a hook to the runtime.
# Code that works anywhere; it ends where the long way begins. See thread_abi.h for what of a thread lies where; the mutex is glibc's,
# with the state that src/runtime/objects.h describes at its end: version at 24, who had it last at 32, who waits at 36.
#include "thread_abi.h"

        .section .rodata

# int pthread_mutex_lock(mutex), of the plain kind: free, this thread had it last, and no entry is due. While recording also one that
# another thread had last, which the runtime then notes.
        .globl  pastcone_fast_lock, pastcone_fast_lock_end
pastcone_fast_lock:
        prefetchw (%rdi)                # from another core at once as what it will be: written to
        testl   $0xff, 16(%rdi)
        jne     1f
        movzbl  %gs:THREAD_COUNTS, %esi
        test    %esi, %esi
        je      1f
        mov     %gs:THREAD_OPERATIONS, %rcx
        mov     (%rcx), %r8
        cmp     %gs:THREAD_NEXT_ENTRY, %r8
        je      1f
        mov     %gs:THREAD_ME, %r9d
        cmpq    $0, %gs:THREAD_PENDING
        jne     1f
        cmp     $COUNTS_RECORD, %esi
        je      2f
        cmp     %r9d, 32(%rdi)          # in replay nobody can take it now but who had it last
        jne     1f
2:      xor     %eax, %eax
        mov     $1, %edx
        lock cmpxchg %edx, (%rdi)
        jne     1f
        mov     %gs:THREAD_TID, %eax
        mov     %eax, 8(%rdi)
        incl    12(%rdi)
        mov     32(%rdi), %eax
        cmp     %r9d, %eax
        jne     3f
        inc     %r8
        incq    24(%rdi)
        mov     %r8, (%rcx)
        xor     %eax, %eax
        ret
        # Others wait for this lock: only what has to be known is kept, and written down when it is free again.
3:      test    %eax, %eax
        je      4f
        xor     %r9d, %eax
        shr     $16, %eax
        jne     5f                      # of another process
4:      mov     24(%rdi), %rax
        mov     %r8, 16(%rcx)
        inc     %rax
        mov     %rdi, %gs:THREAD_PENDING
        mov     %rax, 8(%rcx)
        mov     %rax, 24(%rdi)
        mov     %r9d, 32(%rdi)
        xor     %eax, %eax
        ret
5:      movabs  $HANDED_OVER_SLOT, %r11
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
        cmpq    $0, %gs:THREAD_PENDING
        jne     5f
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
5:      movabs  $SETTLE_SLOT, %r11
        jmp     *(%r11)
1:
pastcone_fast_unlock_end:

        .section .note.GNU-stack, "", @progbits
