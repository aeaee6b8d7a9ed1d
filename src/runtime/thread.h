// A thread of the program, as the runtime knows it, and the process it belongs to. %gs points to the current Thread.
//
// Each thread has a slot of fixed size at a far address: guard page, the stack the runtime runs on (also the kernel's
// alternate signal stack), and the Thread itself. A child of vfork shares its parent's
// memory but is a process of its own: it gets a slot and a Process of its own too.
#pragma once

#include "address_limit.h"
#include "async_state.h"
#include "fds.h"
#include "frame.h"
#include "log.h"
#include "offsets.h"
#include "pastcone/heap/heap.h"
#include "pastcone/patch/thread_abi.h"
#include "pastcone/stage/layout.h"
#include "pastcone/stage/where.h"
#include "signals.h"
#include "sys.h"

namespace pastcone::runtime {

inline constexpr u64 kSlotsBase = 0x200200000000;
inline constexpr u64 kSlotSize = 1 << 20;
inline constexpr u64 kSlotStack = 512 * 1024;                  // guard page and stack
inline constexpr u64 kSlotThread = kSlotStack;
inline constexpr u64 kStageBase = 0x200100000000;
inline constexpr u64 kLiveBase = 0x220000000000;               // chunk n of `live` is mapped at its place from here on
inline constexpr u64 kStoreBase = 0x230000000000;              // replay: the bytes of channels
inline constexpr u64 kFarBase = 0x210000000000;                // bump-allocated mappings of the runtime

/// Memory of System V that is attached.
struct Attachment {
  u64 address, size;
};

struct Process {
  u32 number;             ///< p3 is 3
  u32 pid;                ///< as recorded
  u32 parent_pid;
  u32 threads;            ///< alive, in this process
  bool serial;            ///< more than one thread, or memory shared with others: the turn counts
  bool outside;           ///< recording of this process has ended; it goes on natively
  bool vforked;           ///< in its parent's memory until it executes a program or ends
  bool in_parents_memory; ///< made by clone with CLONE_VM, as a process
  bool shares;            ///< has memory that its children will share
  bool ending;            ///< record: a thread of it has ended it; the others get no turn any more
  bool shares_all;        ///< all of its memory is another process's too
  bool parallel;          ///< `serial` means the order of calls only
  u32 forked_by;          ///< tid of the thread that made this process, before that
  bool cancels;           ///< in parallel mode: it has asked for a thread to be cancelled
  bool several;           ///< in parallel mode: it has, or had, more than one thread
  bool shares_descriptors;///< has, or had, its table of descriptors in common with another process, but not its memory
  u32 group;              ///< of the turn
  u64 brk_start, brk_end;
  u64 stack_begin;        ///< rsp when the program started
  u64 data_begin, data_end;  ///< record: writable segments of the program
  u64 exec_count;
  AddressLimit address_limit;  ///< record
  FdTable fds;
  SignalActions actions;
  Attachment attached[256];  ///< address 0: free
  char program[256];
};

enum class EntryKind : u8;
struct VersionSeen {
  u64 address, version;
};
inline constexpr u32 kCachedVersions = CACHED_VERSIONS;
/// What a page of shared memory is called by all who share it.
struct SharedPlace {
  u64 page, key;
};
inline constexpr u32 kSharedPlaces = 64;
/// Where the thread is, for where.h: what it has found out and written down so far.
struct Whereabouts {
  struct Step {
    u64 pc, place;
    u32 as_of;
    stage::UnwindRow row;
    u32 table_flags;
  };
  struct Chain {
    u64 hash;
    u32 number;
  };
  Step steps[1024];
  Chain chains[4096];
  u32 last_chain, chain;  ///< the number given last, and that of the event it is in
  u64 *next, *end;        ///< in its file
};

struct Thread {
  Thread* self;
  u64 user_rsp;
  u64 stack_top;
  u32 interrupt;          ///< a signal is queued: blocking calls must not begin
  u32 tid;                ///< as recorded
  u32 me;                 ///< in parallel mode: this thread among all of the run, never 0
  u8 counts;              ///< its plain mutexes are ordered, and the fast path may be taken: 0 or COUNTS_…
  bool often;             ///< record: others often have its mutexes in between; see patch/fast_paths.S
  u64* operations;        ///< in parallel mode: how many ordered operations there were
  u64 next_entry;         ///< replay: the operation that has the next entry; record: how full the chunk of its lock stream may be
  u64 last_entry;         ///< the operation that had the last one
  u64 saved[2];           ///< replay: for stubs of asynchronous points
  // Replay, of the next entry:
  const char* entry_at;   ///< where it begins
  const char* entry_after;  ///< and the one after it, or what it has more than skip
  const char* entries_end;
  i64 entry_delta;        ///< if it is a short one
  bool entry_short;
  EntryKind entry_kind;
  bool has_entry;         ///< there is one
  bool read_entry;        ///< there was one
  bool has_versions;      ///< both modes: some of the following are known
  Frame* frame;           ///< the program's registers, while the runtime has the thread; else none
  alignas(sizeof(VersionSeen)) VersionSeen versions[kCachedVersions];  ///< in parallel mode; see objects.h
  u32 number;             ///< p3.2 is 2
  Process* process;
  u32 slot;
  u64 clear_tid;          ///< CLONE_CHILD_CLEARTID, done by us
  u64 robust_list;
  bool head_written;      ///< this call's item is already in the log: a change of turn belongs behind it
  bool yields;            ///< the program said sched_yield
  bool has_turn;
  bool not_begun;         ///< the last call that may sleep did not begin, because a signal is queued
  bool busy;              ///< inside a call that has still to look for signals
  u64 slice_start;
  u64 woken_at;           ///< record: the futex it has waited at last
  u64 woken_event;        ///< and the number of that event; it may have yielded since
  u32 lost;               ///< how often it was woken there, only to wait again
  u64 hands_over;         ///< it has woken somebody who is starved: the futex
  u32 exited;             ///< cleared by the kernel when the thread is really gone
  Frame start_frame;      ///< a new thread: the registers it begins with
  u32 parent_process, parent_thread;
  u64 parent_event, child_set_tid;
  u64 shared_object;      ///< of the file being mapped
  u32 timer;              ///< + 1; see interrupt_soon
  AsyncState async;
  u32 passed_count;       ///< descriptors that came with the message being received
  Fd passed[256];
  ThreadSignals signals;
  u64* next_event;        ///< replay: ThreadSlot::event
  Log log;                ///< both modes
  // In parallel mode; see objects.h.
  u64 own_operations;     ///< record, if there is no lock stream: counted here
  u64 all_operations;     ///< replay: how many there are
  struct { u64 operation, since, ticks; } pace;  ///< record: when it last waited for a lock, and what an operation took before
  i32 crowded;            ///< replay: how often it found another thread on its core
  u32 alone;              ///< replay: for how long it need not look again
  bool in_call;           ///< inside a call whose events have numbers
  u64 turn_number;        ///< of its last numbered event
  bool has_number;        ///< replay: that event is the one that comes next
  struct {
    u32 number, version, written;  ///< 0: the process has none, or it must not be used in this call
    bool open, spoilt;             ///< there is something to put down; what it was then is not known
  } journal;              ///< replay: journal.h
  u64 hook_frame;         ///< of the hooked function that it is in, or was in last: the same in both modes
  bool inside;            ///< the signal that is due came inside of it
  void* once;             ///< the initialisation it is in
  struct Guard* guards;   ///< see unwinding.h
  bool in_openmp;         ///< inside a function of libgomp that gives out work
  u64 part_from, part_length;  ///< of a loop, that it got last
  u32 stacks_given, stacks_free;
  u32 free_stacks[64];    ///< of threads it has joined
  // See process_heap.h.
  heap::ThreadHeap* heap; ///< what it allocates from
  Thread* heap_owner;     ///< whose that is; its process is the one whose memory this is
  bool creating;          ///< inside pthread_create
  bool joins;             ///< replay: inside pthread_join
  bool forks;             ///< replay: inside fork, where that has locks of libc
  bool awaits;            ///< record: inside glibc's pthread_cond_wait
  u64 condition;          ///< replay: that it waits for, while it takes the mutex again
  heap::ThreadHeap own_heap;
  u64 step;               ///< replay: the last one it came to, see horizon.h
  // Replay for the index; see index.h.
  u64 caller;             ///< of the hooked function
  stage::ObjectKind object_kind;
  stage::IndexEntry* index;  ///< the next one
  stage::IndexEntry* index_end;
  struct { u64 address; stage::IndexEntry* entry; } held[32];  ///< what it has, and the entry that says since when; address 0: free
  u64 known_once[64];     ///< initialisations that it knows to be done
  u32 places_as_of;
  SharedPlace places[kSharedPlaces];
  Whereabouts where;
  char spare[256 * 1024]; ///< record: the rest of messages that are longer than the program's buffer
};
static_assert(offsetof(Thread, self) == THREAD_SELF);
static_assert(offsetof(Thread, user_rsp) == THREAD_USER_RSP);
static_assert(offsetof(Thread, stack_top) == THREAD_STACK_TOP);
static_assert(offsetof(Thread, interrupt) == THREAD_INTERRUPT);
static_assert(offsetof(Thread, tid) == THREAD_TID && offsetof(Thread, me) == THREAD_ME);
static_assert(offsetof(Thread, last_entry) == THREAD_LAST_ENTRY && offsetof(Thread, versions) == THREAD_VERSIONS);
static_assert(offsetof(Thread, saved) == THREAD_SAVED_RCX && THREAD_SAVED_RAX == THREAD_SAVED_RCX + sizeof(u64));
static_assert(offsetof(Thread, next_entry) == THREAD_NEXT_ENTRY);
static_assert(offsetof(Thread, entry_at) == THREAD_ENTRY_AT && offsetof(Thread, entry_after) == THREAD_ENTRY_AFTER);
static_assert(offsetof(Thread, entries_end) == THREAD_ENTRIES_END && offsetof(Thread, entry_delta) == THREAD_ENTRY_DELTA);
static_assert(offsetof(Thread, entry_short) == THREAD_ENTRY_SHORT);
static_assert(offsetof(Thread, often) == THREAD_OFTEN && offsetof(Thread, frame) == THREAD_FRAME);
static_assert(offsetof(Thread, counts) == THREAD_COUNTS && offsetof(Thread, operations) == THREAD_OPERATIONS);
static_assert(sizeof(Thread) < kSlotSize - kSlotThread);

inline Thread& current() {
  Thread* t;
  asm("mov %%gs:0, %0" : "=r"(t));
  return *t;
}
inline Process& process() { return *current().process; }

/// What every process of a run has in common; in the runtime's own data, so copied by fork.
struct Globals {
  stage::View stage;
  bool replay;
  bool dispatch;          ///< Syscall User Dispatch is armed
  int fd_base;            ///< descriptors fd_base + stage::Fd… are ours
  int handoff_fd, program_fd;  ///< left open for us by the image before, or -1
  u64 far_next;
  u64 own_memory;         ///< how much the runtime has mapped
  u32 slot_lock;
  u64 slots_used[1024];   ///< bit set of thread slots
  u64 slots_left[1024];   ///< those whose thread is ending, or has ended
  u64 vdso_clock_gettime; ///< the kernel's vDSO function, or 0
  bool quick_clocks;      ///< it can be used without ceremony
  char* store;            ///< replay: the channel store, once it is mapped
  u64 xsave_size, xsave_mask;
  bool has_journal;       ///< replay: some thread has used one
};
extern Globals g;
inline int own_fd(int which) { return g.fd_base + which; }
inline bool is_own_fd(i64 fd) { return fd >= g.fd_base && fd < g.fd_base + stage::kFdCount; }

/// Maps `size` bytes (0: fails) at a far address.
void* far_map(u64 size, int prot, int flags, int fd, u64 offset);
void far_unmap(void* address, u64 size);

Thread* allocate_thread(Process* process, u32 number);
void release_thread(Thread* thread);
/// The thread ends, on its slot's stack: the slot is used again when it is really gone.
void leave_slot(Thread& t);
/// Makes the kernel see `thread` as the current one: gs, alternate stack, dispatch.
void enter_thread(Thread* thread);
void arm_dispatch();

/// Whether this thread has ended or was killed, though perhaps nobody has waited for it yet.
bool is_gone(u32 tid);

/// Whether the program may do now what this capability stands for (capabilities(7), by number below 32).
bool has_capability(u32 number);

/// Record: a thread's first item.
void record_start(Thread& t, u32 parent_process, u32 parent_thread, u64 parent_event, u8 flags);
/// Replay: a thread is about to exist; said by its creator, so that nobody thinks that all others wait for nothing.
void expect_replay_thread(u32 process, u32 thread);
/// Replay: opens a thread's streams and reads its first item.
void begin_replay_thread(Thread& t);
void map_feed(Thread& t);

extern "C" {
[[noreturn]] void runtime_leave(Frame* frame);
[[noreturn]] void runtime_on_stack(u64 stack_top, void (*function)(void*), void* argument);
void runtime_restorer();
long runtime_clone(u64 flags, u64 stack, void* ptid, void* ctid, u64 tls, void (*function)(void*), void* argument);
long runtime_blocking(long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f);
long runtime_copy(void* to, const void* from, size_t n);
extern char runtime_text_begin[], runtime_text_end[], runtime_window_begin[], runtime_window_end[],
    runtime_window_abort[], runtime_copy_bytes[], runtime_copy_fault[], runtime_copy_end[];
void runtime_entry_syscall();
void runtime_signal_point();
extern char runtime_hooks_begin[], runtime_hooks_end[];
}

}  // namespace pastcone::runtime
