// Threads as the program makes and awaits them, in parallel mode. Which of the stacks that glibc keeps for reuse a new thread gets
// depends on when others are really gone; so stacks are ours, at places that depend on who creates how many.
#include "call.h"
#include "hooks.h"
#include "objects.h"
#include "ordered.h"
#include "turn.h"
#include "unwinding.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kStacksBase = 0x300000000000, kStackRoom = u64{1} << 25, kStacksPerThread = 2048, kCreators = 512;
constexpr u64 kGuard = 4096;

/// pthread_attr_t as glibc has it.
struct Attributes {
  u32 priority, policy;
  u32 flags;
  u64 guard, stack, size;
  u64 more[2];

  static constexpr u32 kDetached = 1, kOwnStack = 8;
};
static_assert(sizeof(Attributes) == 56);
/// So thrd_create says that its function gives an int.
Attributes* const kOfC11 = (Attributes*)-1;

/// What glibc would give. It asked for the limit when it began, and the program may have said something else since; the limit of now
/// is nobody's business, and another one in replay.
u64 default_size() {
  Attributes a{};
  call_original(Hook::pthread_getattr_default_np, &a);
  return a.size;
}

/// Whether there was memory is part of the recording.
bool map_stack(Thread& t, u64 address, u64 size) {
  bool ordered = is_ordered(t, false);
  if (g.replay && ordered) {
    Due due = next_operation_unsignalled(t, address);
    count_operation(t);
    if (!due.predicted) return false;
  }
  long mapped = sys(__NR_mmap, address, size, kProtRead | kProtWrite,
                    kMapPrivate | kMapAnonymous | kMapNoReserve | kMapStack | kMapFixedNoReplace, -1, 0);
  if (g.replay && is_error(mapped)) diverge(t, Cause::kMachine, "there is no memory for a stack", 0, mapped);
  if (!g.replay && ordered) is_error(mapped) ? note_result(t, mapped) : count_operation(t);
  return !is_error(mapped);
}

// --- who is waited for, in replay -----------------------------------------------------------------------------------------------

struct {
  u64 handle;
  u32 thread;
} begun[8192];  ///< by handle; the last one of each

void note_joined(Thread& t, u64 handle) {
  pass_point(t);
  if (!is_indexed()) return;
  for (u64 i = 0, at = handle / kPage; i < sizeof begun / sizeof begun[0]; ++i, ++at) {
    auto& entry = begun[at % (sizeof begun / sizeof begun[0])];
    if (load(entry.handle) == handle) return index_point(t, stage::FactKind::kJoined, entry.thread);
    if (!load(entry.handle)) return;
  }
}

// --- stacks of detached threads ------------------------------------------------------------------------------------------------

/// Handles of threads that nobody will join; 0: free. A stack is used again when its thread has left it, and which one that was is
/// recorded.
u64 detached[4096];
u32 detached_end;  ///< none behind this
u8 guards[kCreators * kStacksPerThread];      ///< how large the guard of each is to be, in pages
u8 times_left[kCreators * kStacksPerThread];  ///< how often each stack was used again: who comes next for it must be the same

bool is_own_stack(u64 thread) {
  return thread >= kStacksBase && thread < kStacksBase + kCreators * kStacksPerThread * kStackRoom;
}
u32 index_of(u64 thread) { return (u32)((thread - kStacksBase) / kStackRoom); }

void add_detached(u64 thread) {
  if (!is_own_stack(thread)) return;
  for (u32 i = 0; i < sizeof detached / sizeof detached[0]; ++i)
    if (!load(detached[i]) && swap_if(detached[i], u64{0}, thread)) {
      u32 end = load(detached_end);
      while (end <= i && !swap_if(detached_end, end, i + 1)) end = load(detached_end);
      return;
    }
}

/// The thread no longer exists for the kernel.
bool has_left(u64 thread) {
  u32* number = tid_of(thread);
  u32 tid;
  return number && read_memory(tid, (u64)number) && !tid;
}

/// How often it was used again, and 1 + its index.
long name_of(u32 index) { return (long)load(times_left[index]) << 32 | (index + 1); }
constexpr u64 kIndexMask = 0xffffffff;

/// The name of a stack that was left; of that one, if it is not 0. `left`: the handle of its thread.
long take_left(long wanted, u64& left) {
  for (u32 i = 0, end = load(detached_end); i < end; ++i) {
    u64 thread = load(detached[i]);
    if (!thread) continue;
    long name = name_of(index_of(thread));
    if ((wanted && name != wanted) || !has_left(thread) || !swap_if(detached[i], thread, u64{0})) continue;
    name = name_of(index_of(thread));  // it may have come and gone meanwhile
    store(times_left[index_of(thread)], (u8)(load(times_left[index_of(thread)]) + 1));
    left = thread;
    return name;
  }
  return 0;
}

long repeat_left(Thread& t) {
  u64 thread = 0;
  if (!g.replay) return repeat(t, take_left(0, thread), 0);
  long wanted = repeat(t, 0, 0);
  if (!wanted) return 0;
  for (int i = 0; i < 100; ++i) {
    if (take_left(wanted, thread)) {
      note_joined(t, thread);
      return wanted;
    }
    sys(__NR_sched_yield);
  }
  const Timespec pause{0, 50'000};
  begin_wait(stage::WaitKind::kJoin, (u64)wanted, 0);
  while (!take_left(wanted, thread)) {
    if (load(g.stage.header().give_up)) abandon_wait();
    sys(__NR_nanosleep, &pause, nullptr);
  }
  end_wait();
  note_joined(t, thread);
  return wanted;
}

/// A new stack, unless the program brings its own or wants too many or too large ones: then that is left to glibc.
void give_stack(Thread& t, Attributes& a) {
  if (a.flags & Attributes::kOwnStack) return;
  u64 size = page_up(a.size ? a.size : default_size());
  if (size + kGuard > kStackRoom) return;
  u64 index;
  if (t.stacks_free) index = t.free_stacks[--t.stacks_free];
  else if (long left = repeat_left(t)) index = ((u64)left & kIndexMask) - 1;
  else if (t.stacks_given < kStacksPerThread && t.number < kCreators) index = t.number * kStacksPerThread + t.stacks_given++;
  else return;
  // The child of a fork may run on one that its parent gave to the thread which made it.
  u64 here = (u64)__builtin_frame_address(0);
  if (is_own_stack(here) && index == index_of(here)) return give_stack(t, a);
  u64 base = kStacksBase + index * kStackRoom;
  sys(__NR_munmap, base, kStackRoom);  // of a process before us, if we are its fork
  if (!map_stack(t, base + kGuard, size)) return;
  a.stack = base + kGuard + size;
  a.size = size;
  guards[index] = (u8)min<u64>(page_up(a.guard) / kPage, 255);
  a.flags |= Attributes::kOwnStack;
}

/// Of a thread that was joined; its handle lies in it.
void take_stack_back(Thread& t, u64 thread) {
  if (!is_own_stack(thread)) return;
  u32 index = index_of(thread);
  sys(__NR_munmap, kStacksBase + index * kStackRoom, kStackRoom);
  if (t.stacks_free < sizeof t.free_stacks / sizeof t.free_stacks[0]) t.free_stacks[t.stacks_free++] = index;
}

template <typename... Arguments>
int join_natively(Hook hook, u64 thread, Arguments... arguments) {
  OnCancel cancel(note_cancelled, nullptr);
  return call_original(hook, thread, arguments...);
}

template <typename... Arguments>
int join(Hook hook, u64 thread, Arguments... arguments) {
  Thread& t = current();
  if (!is_ordered(t, false)) return call_original(hook, thread, arguments...);
  if (!g.replay) {
    int result = join_natively(hook, thread, arguments...);
    if (result) note_result(t, result);
    else count_operation(t);
    if (!result) take_stack_back(t, thread);
    return result;
  }
  let_cancel(t, replay_cancelled, (void*)thread);
  Due due = next_operation(t, thread);
  count_operation(t);
  if (!due.predicted) return (int)due.result;
  t.joins = true;
  int result = call_original(hook, thread, arguments...);
  t.joins = false;
  if (result) return result;
  note_joined(t, thread);
  take_stack_back(t, thread);
  return 0;
}

}  // namespace

void note_begun(u64 handle, u32 thread) {
  for (u64 i = 0, at = handle / kPage; i < sizeof begun / sizeof begun[0]; ++i, ++at) {
    auto& entry = begun[at % (sizeof begun / sizeof begun[0])];
    if (load(entry.handle) != handle && !swap_if(entry.handle, u64{0}, handle)) continue;
    store(entry.thread, thread);
    return;
  }
}

void forget_detached() {
  memset(detached, 0, sizeof detached);
  detached_end = 0;
}

extern "C" {

int hook_pthread_create(u64* thread, Attributes* attributes, void* start, void* argument) {
  Thread& t = current();
  if (!t.process->several) find_thread_words(t);
  t.process->several = true;
  allow_fast_path(t);
  Attributes a{};
  a.guard = kGuard;
  if (attributes && attributes != kOfC11) a = *attributes;
  give_stack(t, a);
  t.creating = true;
  int result = call_original(Hook::pthread_create, thread, &a, start, argument);
  t.creating = false;
  if (!result && a.flags & Attributes::kDetached) add_detached(*thread);
  return result;
}

int hook_pthread_detach(u64 thread) {
  int result = call_original(Hook::pthread_detach, thread);
  if (!result) add_detached(thread);
  return result;
}

/// What runs on a stack of ours is told what it would be of one of glibc's.
int hook_pthread_getattr_np(u64 thread, Attributes* attributes) {
  int result = call_original(Hook::pthread_getattr_np, thread, attributes);
  if (!result && is_own_stack(thread)) attributes->guard = guards[index_of(thread)] * kPage;
  return result;
}

int hook_pthread_join(u64 thread, void** result) { return join(Hook::pthread_join, thread, result); }
int hook_pthread_tryjoin_np(u64 thread, void** result) {
  return join(g.replay ? Hook::pthread_join : Hook::pthread_tryjoin_np, thread, result);
}
int hook_pthread_timedjoin_np(u64 thread, void** result, void* until) {
  if (g.replay) return join(Hook::pthread_join, thread, result);
  return join(Hook::pthread_timedjoin_np, thread, result, until);
}
int hook_pthread_clockjoin_np(u64 thread, void** result, int clock, void* until) {
  if (g.replay) return join(Hook::pthread_join, thread, result);
  return join(Hook::pthread_clockjoin_np, thread, result, clock, until);
}

}  // extern "C"
}  // namespace pastcone::runtime
