#include "meetings.h"

#include "addresses.h"
#include "channels.h"
#include "handlers.h"
#include "objects.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

/// Where the stage has those of memory, too, which have other numbers.
ObjectState& state_of_meeting(u64 object) {
  char* at = (char*)&g.stage.header().shared_memory[object];
  return *(ObjectState*)at;
}

constexpr int kOperationSize = 6;

/// Of System V semaphores; what also waits for something is noted when it has got it.
bool only_adds(Call& c) {
  for (u64 i = 0; i < min<u64>(c.a[2], 500); ++i) {
    short operation[3];  // which, how much, flags
    static_assert(sizeof operation == kOperationSize);
    if (!read_memory(operation, c.a[1] + kOperationSize * i, sizeof operation) || operation[1] <= 0) return false;
  }
  return true;
}

}  // namespace

u32 new_meeting(Thread& t) {
  return t.process->parallel ? add(g.stage.header().next_group, 1u) + 1 : 0;
}

u32 find_meeting(Thread& t, KeyOf family, u64 id) {
  if (!t.process->parallel || !t.process->shares) return 0;
  u64 key = address_key(family, id);
  SharedLock lock(g.stage.header().share_lock, t.tid);
  u32 object = find_address(key);
  if (!object) put_address(key, object = add(g.stage.header().next_group, 1u) + 1);
  return object;
}

void note_meeting(Call& c, u32 object) {
  if (object >= stage::kSharedMemories) return;  // no room for it
  u64 number = add(state_of_meeting(object).version, u64{1});
  Log& log = c.log();
  log.begin();
  log.byte((u8)Op::kOrder);
  log.varint(object);
  log.varint(number);
  log.commit();
}

void take_meeting(Call& c) {
  if (!c.t.process->parallel) return;
  take_turn_before(c.t);
  Log& log = c.log();
  if (log.peek() != Op::kOrder) return;
  log.read_byte();
  u64 object = log.read_varint(), number = log.read_varint();
  ObjectState& state = state_of_meeting(object);
  await(state, object, true, number, [&] { return load(state.version) == number; });
  __atomic_exchange_n(&state.version, number + 1, __ATOMIC_SEQ_CST);
  announce(state, object, true);
  index_point(c.t, stage::FactKind::kMet, object, number);
}

namespace {
/// Where calls have numbers, who gives has one before the call is made. Behind it, two threads could come in one order with the object
/// and in the other one with their events, and wait for each other in replay; and who takes could be numbered before who gave.
long give(Call& c, u32 object, long expected) {
  Thread& t = c.t;
  if (g.replay) {
    take_meeting(c);
    long result = replay_result(c, nullptr);
    if (t.log.at_end()) {  // it never came back, for then it says that it has the turn again
      note_next_event(t);
      end_of_log(t);
    }
    take_turn_behind(t);
    return corrected(c, result);
  }
  if (object) note_meeting(c, object);
  record_result(c, expected);
  t.head_written = true;
  long result = raw_blocking(c);
  t.head_written = false;
  if (result != expected) record_correction(c, result);
  return result;
}
}  // namespace

long meet(Call& c, u32 object, bool gives, OutsFunction outs, long expected) {
  if (gives && c.t.in_call) return give(c, object, expected);
  if (g.replay) {
    take_meeting(c);
    return replay_result(c, outs);
  }
  if (object && gives) note_meeting(c, object);
  long result = raw_blocking(c);
  if (object && !gives && !is_error(result)) note_meeting(c, object);
  record_result(c, result, outs);
  return result;
}

long handle_semop(Call& c) {
  return meet(c, g.replay ? 0 : find_meeting(c.t, KeyOf::kSemaphores, c.a[0]), only_adds(c), c.info.outs);
}
long handle_msgsnd(Call& c) { return meet(c, g.replay ? 0 : find_meeting(c.t, KeyOf::kQueue, c.a[0]), true, c.info.outs); }
long handle_msgrcv(Call& c) { return meet(c, g.replay ? 0 : find_meeting(c.t, KeyOf::kQueue, c.a[0]), false, c.info.outs); }

}  // namespace pastcone::runtime
