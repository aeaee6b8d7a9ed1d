// Barriers. They are our own while order counts: which threads meet is decided by the order in which they come, and that is recorded.
#include "hooks.h"
#include "objects.h"

namespace pastcone::runtime {
namespace {

/// As glibc lays it out; the words behind its last are ours.
struct Barrier {
  u32 in, round, count;
  i32 is_shared;
  u32 out;
  u32 arrived;  ///< how many came, ever
  u32 left;     ///< and went
  u32 waiters;

  u64 address() const { return (u64)this; }
  ObjectState& state() { return *(ObjectState*)&out; }
};
static_assert(sizeof(Barrier) == 32 && offsetof(Barrier, waiters) == offsetof(Barrier, out) + offsetof(ObjectState, waiters));

constexpr long kSerialThread = -1;

/// By the library, so that signals can come in.
void call_futex(Barrier& b, int operation, u32 value) {
  call_original<long>(Hook::syscall, (long)__NR_futex, &b.arrived, operation | (b.is_shared ? 0 : kFutexPrivate), value, nullptr);
}

bool is_complete(const Barrier& b, u32 until) { return (i32)(load(b.arrived) - until) >= 0; }

int come(Thread& t, Barrier& b) {
  int& error = program_errno();
  int before = error;
  u32 mine = add(b.arrived, 1u), until = (mine / b.count + 1) * b.count;
  write_entry(t, EntryKind::kAcquired, b.address(), mine, 0);
  count_operation(t);
  if (is_complete(b, until)) call_futex(b, kFutexWake, 0x7fffffff);
  for (u32 seen = load(b.arrived); !is_complete(b, until); seen = load(b.arrived)) call_futex(b, 0, seen);
  error = before;
  add(b.left, 1u);
  return mine + 1 == until ? kSerialThread : 0;
}

int replay_come(Thread& t, Barrier& b) {
  Due due = next_operation(t, b.address());
  auto mine = (u32)due.version, until = (mine / b.count + 1) * b.count;
  await(b.state(), b.address(), b.is_shared, mine, [&] {
    u32 now = load(b.arrived);
    if ((i32)(now - mine) > 0) diverge_order(t, b.address(), "more threads came to the barrier", mine, now);
    return now == mine;
  });
  if (is_indexed()) index_access(t, b.address(), b.is_shared, mine, until, true);
  __atomic_exchange_n(&b.arrived, mine + 1, __ATOMIC_SEQ_CST);
  count_operation(t);
  announce(b.state(), b.address(), b.is_shared);
  pass_point(t);
  await(b.state(), b.address(), b.is_shared, until, [&] { return is_complete(b, until); });
  index_release(t, stage::ObjectKind::kBarrier, b.address(), b.is_shared);
  add(b.left, 1u);
  pass_point(t);
  return mine + 1 == until ? kSerialThread : 0;
}

}  // namespace

extern "C" {

int hook_pthread_barrier_init(Barrier* b, void* attributes, u32 count) {
  int result = call_original(Hook::pthread_barrier_init, b, attributes, count);
  if (!result) b->arrived = b->left = b->waiters = 0;
  return result;
}

/// Others may still be on their way out.
int hook_pthread_barrier_destroy(Barrier* b) {
  while (load(b->left) != load(b->arrived)) sys(__NR_sched_yield);
  Thread& t = current();
  if (g.replay && is_ordered(t, b->is_shared)) {
    note_use(t, stage::ObjectKind::kBarrier);
    if (is_indexed()) index_access(t, b->address(), b->is_shared, load(b->arrived), load(b->arrived), false);
    index_release(t, stage::ObjectKind::kBarrier, b->address(), b->is_shared);
    pass_point(t);
  }
  return call_original(Hook::pthread_barrier_destroy, b);
}

int hook_pthread_barrier_wait(Barrier* b) {
  Thread& t = current();
  note_use(t, stage::ObjectKind::kBarrier);
  if (!is_ordered(t, b->is_shared)) return call_original(Hook::pthread_barrier_wait, b);
  return g.replay ? replay_come(t, *b) : come(t, *b);
}

}  // extern "C"
}  // namespace pastcone::runtime
