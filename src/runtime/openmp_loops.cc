// Loops that OpenMP shares out among the threads of a team: which of them gets what. In record libgomp decides, and what it gave is
// written down; in replay it is given again, without libgomp where that has no other effect.
#include "openmp.h"

namespace pastcone::runtime {
namespace {

/// The part of a loop that the thread has got; in replay, that it had got.
bool repeat_part(Thread& t, bool any, u64* from, u64* to) {
  if (!from) return any;
  if (!repeat(t, any, 1)) return false;
  u64 length = *to - *from;
  *from = t.part_from += (u64)repeat(t, (long)(*from - t.part_from), 0);
  t.part_length = (u64)repeat(t, (long)length, (long)t.part_length);
  *to = *from + t.part_length;
  return true;
}

template <typename... Arguments>
bool start_loop(Hook hook, u64* from, u64* to, Arguments... arguments) {
  Thread& t = current();
  if (passes(t)) return call_original<bool>(hook, arguments...);
  bool any = begin_work<bool>(t, hook, arguments...);
  return repeat_part(t, any, from, to);
}

bool next_part(Hook hook, u64* from, u64* to) {
  Thread& t = current();
  if (passes(t)) return call_original<bool>(hook, from, to);
  bool any = false;
  if (!g.replay) {
    Inside inside(t);
    any = call_original<bool>(hook, from, to);
  }
  return repeat_part(t, any, from, to);
}

/// Parts of a loop with `ordered`: libgomp keeps a queue of those who have one, so it has to do it itself. Also of one whose parts
/// are the same whenever somebody comes.
template <typename... Arguments>
bool start_ordered(Hook hook, u64*, u64*, Arguments... arguments) {
  Thread& t = current();
  return passes(t) ? call_original<bool>(hook, arguments...) : begin_work<bool>(t, hook, arguments...);
}

bool next_ordered(Hook hook, u64* from, u64* to) {
  Thread& t = current();
  if (passes(t)) return call_original<bool>(hook, from, to);
  call_original<void>(Hook::GOMP_ordered_start);  // waits until this thread is the first of the queue, as the function would
  return begin_work<bool>(t, hook, from, to);
}

}  // namespace

extern "C" {

#define START(name, how, parameters, ...) \
  bool hook_##name parameters { return how(Hook::name, from, to, __VA_ARGS__, from, to); }
#define NEXT(name, how) \
  bool hook_##name(u64* from, u64* to) { return how(Hook::name, from, to); }

// Signed and unsigned loops, of four schedules: one that the program fixes in advance, two that depend on who is there, and one of
// these as the environment says.
#define LOOPS(kind, how, next)                                                                                                \
  START(GOMP_loop_##kind##static_start, start_ordered, (RANGE, u64 chunk, u64* from, u64* to), RANGE_ARGUMENTS, chunk)        \
  START(GOMP_loop_##kind##dynamic_start, how, (RANGE, u64 chunk, u64* from, u64* to), RANGE_ARGUMENTS, chunk)                 \
  START(GOMP_loop_##kind##guided_start, how, (RANGE, u64 chunk, u64* from, u64* to), RANGE_ARGUMENTS, chunk)                  \
  START(GOMP_loop_##kind##runtime_start, how, (RANGE, u64* from, u64* to), RANGE_ARGUMENTS)                                   \
  NEXT(GOMP_loop_##kind##dynamic_next, next)                                                                                  \
  NEXT(GOMP_loop_##kind##guided_next, next)                                                                                   \
  NEXT(GOMP_loop_##kind##runtime_next, next)                                                                                  \
  bool hook_GOMP_loop_##kind##start(RANGE, long schedule, u64 chunk, u64* from, u64* to, void* reductions, void** memory) {   \
    return how(Hook::GOMP_loop_##kind##start, from, to, RANGE_ARGUMENTS, schedule, chunk, from, to, reductions, memory);      \
  }

/// Those whose iterations wait for one another.
#define DOACROSS(kind)                                                                                                        \
  START(GOMP_loop_##kind##static_start, start_ordered, (COUNTS, u64 chunk, u64* from, u64* to), count, counts, chunk)         \
  START(GOMP_loop_##kind##dynamic_start, start_loop, (COUNTS, u64 chunk, u64* from, u64* to), count, counts, chunk)           \
  START(GOMP_loop_##kind##guided_start, start_loop, (COUNTS, u64 chunk, u64* from, u64* to), count, counts, chunk)            \
  START(GOMP_loop_##kind##runtime_start, start_loop, (COUNTS, u64* from, u64* to), count, counts)                             \
  bool hook_GOMP_loop_##kind##start(COUNTS, long schedule, u64 chunk, u64* from, u64* to, void* reductions, void** memory) {  \
    return start_loop(Hook::GOMP_loop_##kind##start, from, to, count, counts, schedule, chunk, from, to, reductions, memory); \
  }
#define COUNTS u32 count, u64* counts

#define RANGE u64 begin, u64 end, u64 step
#define RANGE_ARGUMENTS begin, end, step
LOOPS(, start_loop, next_part)
LOOPS(ordered_, start_ordered, next_ordered)
DOACROSS(doacross_)
#undef RANGE
#undef RANGE_ARGUMENTS

#define RANGE bool up, u64 begin, u64 end, u64 step
#define RANGE_ARGUMENTS up, begin, end, step
LOOPS(ull_, start_loop, next_part)
LOOPS(ull_ordered_, start_ordered, next_ordered)
DOACROSS(ull_doacross_)

}  // extern "C"
}  // namespace pastcone::runtime
