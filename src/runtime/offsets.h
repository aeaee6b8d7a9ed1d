// What entry.S knows of the rest. Offsets of Thread's first members; thread.h asserts that they are right.
#define THREAD_SELF 0
#define THREAD_USER_RSP 8
#define THREAD_STACK_TOP 16
#define THREAD_INTERRUPT 24
#define CALL_SIGNAL_POINT 0x50430001
// The calls that have a short way of their own.
#define CALL_GETTIMEOFDAY 96
#define CALL_CLOCK_GETTIME 228
