// Offsets of what patched code reads of the runtime's thread, at %gs; and where it finds functions of the runtime. For assembler
// and C++; src/runtime/thread.h asserts that they are right.
#pragma once
#define THREAD_TID 28
#define THREAD_ME 32
#define THREAD_COUNTS 36
#define THREAD_OFTEN 37
#define THREAD_OPERATIONS 40
#define THREAD_NEXT_ENTRY 48
#define THREAD_LAST_ENTRY 56
#define THREAD_SAVED_RCX 64
#define THREAD_SAVED_RAX 72
#define THREAD_ENTRY_AT 80
#define THREAD_ENTRY_AFTER 88
#define THREAD_ENTRIES_END 96
#define THREAD_ENTRY_DELTA 104
#define THREAD_ENTRY_SHORT 112
// What entry.S has saved of the program's registers: 0 while it runs. For who looks at it from outside.
#define THREAD_FRAME 120
// What a handler's context has beside the kernel's, in its reserved words: where the program is shown to have been interrupted,
// and where it goes on if the handler has left that as it was.
#define CONTEXT_SHOWN 6
#define CONTEXT_MEANT 7
#define THREAD_VERSIONS 128
#define CACHED_VERSIONS 4096
// An object's place among them: the highest bits of 32 of its address times this.
#define VERSION_HASH 0x9e3779b1
#define VERSION_SHIFT 20
// In an entry of two bytes skip is less than this.
#define SKIP_MOST 128
// So few operations after the last entry, there will be one soon again; and after so many there will not.
#define SKIP_OFTEN 4
#define SKIP_SELDOM 32
// From a thread's number of operations, which is in the header of the chunk it writes to.
#define CHUNK_USED -20
#define CHUNK_BYTES 24
#define COUNTS_RECORD 1
#define COUNTS_REPLAY 2
#define LOOK_AHEAD_SLOT 0x200000001060
#define ANNOUNCE_SLOT 0x200000001068
#define HANDED_OVER_SLOT 0x200000001070
#define WAKE_SLOT 0x200000001078
