// Replay: waiting for another thread. The director sees who waits for what in the stage, and ends those for whom nothing can
// come any more.
#pragma once

#include "thread.h"

namespace pastcone::runtime {

stage::ThreadSlot& slot_of(Thread& t);
void tell_director();  ///< it should look at the stage
/// The thread has replayed an event: notes in the stage which one comes next, so that it is known wherever the thread ends.
void note_next_event(Thread& t);
/// Who sleeps is the current thread, also if it acts in the name of another (process_heap.h).
void begin_wait(stage::WaitKind kind, u64 target, u64 position);
void end_wait();
[[noreturn]] void abandon_wait();

/// The process ends, in replay: all its threads do.
[[noreturn]] void end_replayed_process(Thread& t);
void end_replayed_thread(Thread& t);

/// Something changed that others may wait for: a connection or a group.
template <typename Place>
void publish(Place& place) {
  add(place.futex, 1u);
  add(g.stage.header().progress, 1u);
  if (load(place.waiters)) futex_wake(place.futex);
}

template <typename Place, typename Ready>
void wait_for(Place& place, stage::WaitKind kind, u64 target, u64 position, Ready ready) {
  if (ready()) return;
  for (int i = 0; i < 100; ++i) {
    __builtin_ia32_pause();
    if (ready()) return;
  }
  begin_wait(kind, target, position);
  add(place.waiters, 1u);
  for (;;) {
    u32 seen = load(place.futex);
    if (ready()) break;
    if (load(g.stage.header().give_up)) abandon_wait();
    futex_wait(place.futex, seen);
  }
  add(place.waiters, -1);
  end_wait();
}

}  // namespace pastcone::runtime
