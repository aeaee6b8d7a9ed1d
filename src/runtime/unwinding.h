// Exceptions, cancellation and pthread_exit go through hooked functions as they do through those of the library.
#pragma once

#include "hooks.h"
#include "objects.h"

namespace pastcone::runtime {

/// As glibc lays out the records of what is to be done when a thread is cancelled.
struct Cleanup {
  void (*routine)(void*);
  void* argument;
  int type;
  Cleanup* outer;
};

/// While in scope: `routine` is called if the thread is cancelled, or ends itself.
class OnCancel {
 public:
  OnCancel(void (*routine)(void*), void* argument) {
    call_original<void>(Hook::_pthread_cleanup_push, &cleanup_, routine, argument);
  }
  ~OnCancel() { call_original<void>(Hook::_pthread_cleanup_pop, &cleanup_, 0); }
  OnCancel(const OnCancel&) = delete;

 private:
  Cleanup cleanup_;
};

/// While in scope a signal may cancel the thread, as the library's functions allow it while they wait.
class Cancellable {
 public:
  Cancellable();
  ~Cancellable();
  Cancellable(const Cancellable&) = delete;

 private:
  u32* word_;
  bool set_ = false;
};

/// Replay, at the start of an operation in which a thread may be cancelled: runs handlers that came in, and is cancelled if it
/// was. `cleanup` then takes the operation's entry.
void let_cancel(Thread& t, void (*cleanup)(void*), void* argument);

/// Before there are several threads: finds out where glibc keeps a thread's number, and what cancels it, in what its handle points to.
void find_thread_words(Thread& t);
/// Where the number is; 0 once the kernel says that the thread is gone. nullptr: it is not known.
u32* tid_of(u64 thread);

/// For OnCancel and let_cancel, of an operation that only waits: it has an entry that says so.
void note_cancelled(void*);
void replay_cancelled(void* object);
/// By which threads are cancelled. Record: whether the handler would only note it, for later: then note_cancel does that, in both
/// modes, as replay need not be at just the same place inside a hooked function.
inline constexpr int kCancelSignal = 32, kPutOff = 1;
bool is_cancel_put_off(Thread& t);
void note_cancel();

/// Something that the program's functions may be called in, and that they may leave by an exception or the thread's end.
struct Guard {
  void (*run)(Guard&);
  void (*left)(Guard&);  ///< then this is called
  Guard* outer = nullptr;
};
void call_guarded(Thread& t, Guard& guard);

}  // namespace pastcone::runtime
