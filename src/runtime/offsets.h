// Offsets of Thread's first members, for entry.S; thread.h asserts that they are right.
#define THREAD_SELF 0
#define THREAD_USER_RSP 8
#define THREAD_STACK_TOP 16
#define THREAD_INTERRUPT 24
