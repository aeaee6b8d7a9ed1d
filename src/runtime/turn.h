// The turn: of the threads of a process (and of all processes that share writable memory with it) one runs at a time.
// It changes hands only inside recorded calls: where a call may sleep, and where a time slice is over. So everything the
// program does in between, data races included, happens in one order, which the log keeps: kTurn before the event in
// which a thread lost the turn and got it back, kTurnAfter behind one. Number 0 says that it was given up behind the event: if
// nothing follows, the thread has not run since.
#pragma once

#include "thread.h"

namespace pastcone::runtime {

/// The time stamp counter: some billions a second.
inline u64 ticks() {
  u32 low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return (u64)high << 32 | low;
}

/// Gives up the turn while in scope; record only. Does nothing for a process that is alone with itself.
class TurnPause {
 public:
  explicit TurnPause(Thread& t);
  ~TurnPause();

 private:
  Thread& t_;
};

stage::Group& group_of(Thread& t);
void become_serial(Process& p);          ///< a second thread is about to start
void acquire_turn(Thread& t);            ///< record: waits for it; writes kTurn if it had been elsewhere
void release_turn(Thread& t);
void give_up_turn(Thread& t);            ///< record: behind an event, to be acquired again
void end_slice(Thread& t);               ///< record: at the end of a call, if others wait and the slice is over
/// Record: around FUTEX_WAIT, and after FUTEX_WAKE. A thread that has woken somebody keeps the turn, and may have the lock again
/// before the other one runs; if it gives the turn up only while it has the lock, the other one would wait for ever.
void begin_futex(Thread& t, u64 futex);
void end_futex(Thread& t, u64 futex, long result);
void woke_futex(Thread& t, u64 futex);
/// Record: the thread gives up its turn at the end of the call, until another one has had it, which it has woken at this futex.
void begin_hand_over(Thread& t, u64 futex);
void end_hand_over(Thread& t, u64 futex);
void take_recorded_turn(Thread& t);      ///< replay: if kTurn is next, waits for it
void take_recorded_turn_after(Thread& t);///< replay: the same for kTurnAfter
/// In parallel mode a thread has the turn only inside calls, and each event has a number; what is written is where that is not the
/// one after the thread's last.
struct Call;
void lock_calls(Thread& t);  ///< record: what enter_call does
void enter_call(Call& c);
void leave_call(Thread& t);
/// Replay: before a library takes a lock that nobody knows of, and makes a call while it has it. Waits until that event is due, so that
/// nobody who comes before it has to wait for that lock.
void await_next_event(Thread& t);
void take_event_number(Thread& t);          ///< replay: of the event whose item was read, if it is not the call's first
void number_event(Thread& t, bool always);  ///< record: the event whose item comes next; `always` writes its number
void give_back_turn(Thread& t);          ///< the thread ends; both modes
void join_group(Thread& t, u32 number);  ///< record: the process shares memory with that group from now on
void leave_group(Thread& t);             ///< the process ends or executes a program; both modes
void interrupt_holder(u32 tid);          ///< async.cc

}  // namespace pastcone::runtime
