// Replay with stage::kFlagIndex: writes down who uses which object when, for `show obj`, and facts (facts.h). Nothing else changes.
#pragma once

#include "thread.h"

namespace pastcone::runtime {

inline bool is_indexed() { return g.replay && (g.stage.header().flags & stage::kFlagIndex); }

/// At the start of a hooked function: what it works on, and who calls it from where.
[[gnu::always_inline]] inline void note_use(Thread& t, stage::ObjectKind kind) {
  t.hook_frame = (u64)__builtin_frame_address(0);
  if (!g.replay) return;
  t.object_kind = kind;
  t.caller = (u64)__builtin_return_address(0);
}

/// The current thread gets the object, which had been had `number` times before, at its next point; before anybody sees that. It does so
/// in the name of `t`, if that is another one (process_heap.h).
void index_access(Thread& t, u64 address, bool shared, u64 number);
void index_access(Thread& t, u64 address, bool shared, u64 number, u64 writes, bool write, const char* name = nullptr);
/// As a semaphore's: it takes no time. `gives`: a post.
void index_instant(Thread& t, u64 address, bool shared, u64 number, u64 value, bool gives);
/// It gives the object back at its next point; before anybody sees that.
void index_release(Thread& t, stage::ObjectKind kind, u64 address, bool shared);
void index_release_of(Thread& t, stage::ObjectKind kind, u64 key, bool shared);  ///< by what it is called
void index_fact(Thread& t, stage::FactKind kind, u64 key, u64 number = 0, u64 more = 0);
/// A fact about the point that the thread has passed last.
void index_point(Thread& t, stage::FactKind kind, u64 key, u64 number = 0);
/// The same about something that lies at an address.
void index_point_at(Thread& t, stage::FactKind kind, u64 address);
/// Reads come together: one at a time while this exists, if there is an index.
class IndexLock {
 public:
  explicit IndexLock(Thread& t);
  ~IndexLock();

 private:
  bool held_;
};

void open_index(Thread& t);  ///< at the start of a thread, and of a program image

}  // namespace pastcone::runtime
