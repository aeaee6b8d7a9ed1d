# The usual cases of two functions, in as few instructions as there can be: copied in front of what takes a hook to the runtime.
# Code that works anywhere; it ends where the long way begins. See abi.h for what of a thread lies where; the mutex is glibc's, with
# the state that src/runtime/objects.h describes at its end: version at 24, who had it last at 32.
#include "thread_abi.h"

        .section .rodata

# int pthread_mutex_lock(mutex), of the plain kind, while recording: free, and this thread had it last.
        .globl  pastcone_fast_lock, pastcone_fast_lock_end
pastcone_fast_lock:
        testl   $0x7f, 16(%rdi)
        jne     1f
        cmpb    $0, %gs:THREAD_COUNTS
        je      1f
        xor     %eax, %eax
        mov     $1, %edx
        lock cmpxchg %edx, (%rdi)
        jne     1f
        mov     %gs:THREAD_TID, %eax
        mov     %gs:THREAD_ME, %edx
        mov     %eax, 8(%rdi)
        incl    12(%rdi)
        mov     %gs:THREAD_OPERATIONS, %rcx
        cmp     %edx, 32(%rdi)
        jne     2f
        incq    24(%rdi)
        incq    (%rcx)
        xor     %eax, %eax
        ret
2:      movabs  $HANDED_OVER_SLOT, %r11
        jmp     *(%r11)
1:
pastcone_fast_lock_end:

# int pthread_mutex_unlock(mutex), of the plain kind, while recording.
        .globl  pastcone_fast_unlock, pastcone_fast_unlock_end
pastcone_fast_unlock:
        testl   $0x7f, 16(%rdi)
        jne     1f
        cmpb    $0, %gs:THREAD_COUNTS
        je      1f
        movl    $0, 8(%rdi)
        decl    12(%rdi)
        xor     %eax, %eax
        xchg    %eax, (%rdi)
        cmp     $1, %eax
        jg      2f
        xor     %eax, %eax
        ret
2:      movabs  $WAKE_SLOT, %r11
        jmp     *(%r11)
1:
pastcone_fast_unlock_end:

        .section .note.GNU-stack, "", @progbits
