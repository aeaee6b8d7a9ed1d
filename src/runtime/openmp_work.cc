// Sections, single, and tasks of OpenMP: who does them.
#include "openmp.h"

namespace pastcone::runtime {
namespace {

constexpr u32 kTaskIf = 1 << 10, kTaskDetached = 1 << 13;

/// Which thread runs a task that waits in a queue is decided deep inside libgomp, where nothing can be hooked. So each is run at
/// once by the thread that comes to it, as libgomp does itself when it has many. One that ends by an event may need others meanwhile.
bool runs_at_once(u32 flags) { return is_ordered(current(), false) && !(flags & kTaskDetached); }

}  // namespace

extern "C" {

u32 hook_GOMP_sections_start(u32 count) {
  Thread& t = current();
  if (passes(t)) return call_original<u32>(Hook::GOMP_sections_start, count);
  return (u32)repeat(t, begin_work<u32>(t, Hook::GOMP_sections_start, count), 0);
}
u32 hook_GOMP_sections2_start(u32 count, void* reductions, void** memory) {
  Thread& t = current();
  if (passes(t)) return call_original<u32>(Hook::GOMP_sections2_start, count, reductions, memory);
  return (u32)repeat(t, begin_work<u32>(t, Hook::GOMP_sections2_start, count, reductions, memory), 0);
}
u32 hook_GOMP_sections_next() {
  Thread& t = current();
  if (passes(t)) return call_original<u32>(Hook::GOMP_sections_next);
  return (u32)repeat(t, g.replay ? 0 : call_original<u32>(Hook::GOMP_sections_next), 0);
}

void hook_GOMP_scope_start(void* reductions) {
  Thread& t = current();
  if (passes(t)) return call_original<void>(Hook::GOMP_scope_start, reductions);
  begin_work<void>(t, Hook::GOMP_scope_start, reductions);
}

/// libgomp only counts; whom it chooses in replay does not matter.
bool hook_GOMP_single_start() {
  bool chosen = call_original<bool>(Hook::GOMP_single_start);
  Thread& t = current();
  return passes(t) ? chosen : repeat(t, chosen, 0) != 0;
}

/// Here the others wait inside for what the chosen one has for them. In replay they come when he has it: by then he is known.
void* hook_GOMP_single_copy_start() {
  Thread& t = current();
  if (passes(t)) return call_original<void*>(Hook::GOMP_single_copy_start);
  if (!g.replay) {
    void* data = call_original<void*>(Hook::GOMP_single_copy_start);
    repeat(t, (long)data, 0);
    if (data) repeat(t, (long)load(table_state((u64)data).version), 0);
    return data;
  }
  if (u64 data = (u64)repeat(t, 0, 0)) {
    u64 version = (u64)repeat(t, 0, 0);
    TableState& s = table_state(data);
    await(s, data, false, version, [&] { return load(s.version) >= version; });
  }
  return call_original<void*>(Hook::GOMP_single_copy_start);
}
void hook_GOMP_single_copy_end(void* data) {
  Thread& t = current();
  if (!passes(t)) {
    TableState& s = table_state((u64)data);
    __atomic_fetch_add(&s.version, u64{1}, __ATOMIC_SEQ_CST);
    if (g.replay) announce(s, (u64)data, false);
  }
  call_original<void>(Hook::GOMP_single_copy_end, data);
}

void hook_GOMP_task(void* function, void* data, void* copy, long size, long alignment, bool deferred, u32 flags, void** depend,
                    int priority, void* detach) {
  if (runs_at_once(flags)) deferred = false;
  call_original<void>(Hook::GOMP_task, function, data, copy, size, alignment, deferred, flags, depend, priority, detach);
}

void hook_GOMP_taskloop(void* function, void* data, void* copy, long size, long alignment, u32 flags, u64 tasks, int priority,
                        u64 begin, u64 end, u64 step) {
  if (runs_at_once(flags)) flags &= ~kTaskIf;
  call_original<void>(Hook::GOMP_taskloop, function, data, copy, size, alignment, flags, tasks, priority, begin, end, step);
}
void hook_GOMP_taskloop_ull(void* function, void* data, void* copy, long size, long alignment, u32 flags, u64 tasks, int priority,
                            u64 begin, u64 end, u64 step) {
  if (runs_at_once(flags)) flags &= ~kTaskIf;
  call_original<void>(Hook::GOMP_taskloop_ull, function, data, copy, size, alignment, flags, tasks, priority, begin, end, step);
}

}  // extern "C"
}  // namespace pastcone::runtime
