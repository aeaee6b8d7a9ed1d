// Offsets of what patched code reads of the runtime's thread, at %gs; and where it finds functions of the runtime. For assembler
// and C++; src/runtime/thread.h asserts that they are right.
#pragma once
#define THREAD_TID 28
#define THREAD_ME 32
#define THREAD_COUNTS 36
#define THREAD_OPERATIONS 40
#define THREAD_NEXT_ENTRY 48
#define THREAD_PENDING 56
#define THREAD_SAVED_RCX 64
#define THREAD_SAVED_RAX 72
#define COUNTS_RECORD 1
#define COUNTS_REPLAY 2
#define SETTLE_SLOT 0x200000001060
#define ANNOUNCE_SLOT 0x200000001068
#define HANDED_OVER_SLOT 0x200000001070
#define WAKE_SLOT 0x200000001078
