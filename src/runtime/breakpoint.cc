// Replay of asynchronous points: a breakpoint at the instruction, and the way on from there once registers and memory are the same.
#include "async_parts.h"
#include "call.h"
#include "text.h"
#include "turn.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

static_assert(kMostWords <= sizeof stage::Breakpoint::words / sizeof stage::Breakpoint::words[0]);

constexpr u32 kMostMisses = 4'000'000;  // some ten seconds
constexpr u64 kArithmeticFlags = 0x8d5;

bool registers_match(const Frame& frame, const AsyncPoint& point) {
  u64 now[18];
  registers_of(frame, now);
  return !memcmp(now, point.registers, sizeof now);
}

/// The first word that is another; null: none.
const AsyncPoint::Word* find_difference(const AsyncPoint& point) {
  for (u64 i = 0; i < point.count; ++i) {
    u64 word;
    if (!read_memory(word, point.words[i].address) || word != point.words[i].value) return &point.words[i];
  }
  return nullptr;
}

bool matches(const Frame& frame, const AsyncPoint& point) { return registers_match(frame, point) && !find_difference(point); }

/// A frame as it is after a call has rcx and r11 that are not in it.
Frame as_full(const Frame& frame) {
  Frame full = frame;
  if (!frame.full) {
    full.rcx = frame.rip;
    full.r11 = frame.flags;
    full.full = 1;
  }
  return full;
}

void set_int3(const AsyncState& a) {
  const u8 int3 = 0xcc;
  write_code(a.point.registers[16], &int3, 1);
}

/// A free page that code at `rip` can jump to. The nearest, so that it can also reach what that code reaches; but where threads run
/// in parallel, others may map something before the point is reached, so it is far from where the kernel puts things.
u64 map_near(const Thread& t, u64 rip) {
  constexpr u64 kMegabyte = 1 << 20, kFarthest = 1920 * kMegabyte;
  u64 distance = t.process->parallel ? 1024 * kMegabyte : kMegabyte;
  for (; distance < kFarthest; distance += (t.process->parallel ? 16 : 1) * kMegabyte) {
    u64 at = page_down(rip < (u64{4} << 30) ? rip + distance : rip - distance);
    long result = sys(__NR_mmap, at, kPage, kProtRead | kProtWrite | kProtExec,
                      kMapPrivate | kMapAnonymous | kMapFixedNoReplace, -1, 0);
    if (result == (long)at) return at;
    if (!is_error(result)) sys(__NR_munmap, result, kPage);
  }
  return 0;
}

/// Asks the director for a stub, and sets it up. `from`: where the thread goes on; inside the instructions that make room for the
/// jump, it goes on in the stub, which has them too.
bool set_stub(Thread& t, u64& from, bool may_move) {
  AsyncState& a = t.async;
  const AsyncPoint& point = a.point;
  stage::Breakpoint& b = g.stage.header().breakpoint;
  u64 rip = point.registers[16], page = map_near(t, rip);
  if (!page) return false;
  u32 self = (u32)sys(__NR_gettid);
  while (!swap_if(b.lock, 0u, self)) sys(__NR_sched_yield);
  b.rip = rip;
  b.stub = page;
  memcpy(b.registers, point.registers, sizeof b.registers);
  b.compared = point.changed_registers & 0xffff;
  b.word_count = 0;
  for (u64 i = 0, word; i < point.count; ++i)
    if (read_memory(word, point.words[i].address)) b.words[b.word_count++] = {point.words[i].address, point.words[i].value};
  u64 middle = sizeof b.code / 2, first = rip - middle;
  b.code_begin = (u32)middle;
  b.code_end = (u32)middle;
  while (b.code_end < sizeof b.code) {
    u64 at = first + b.code_end, n = min<u64>(kPage - at % kPage, sizeof b.code - b.code_end);
    if (!read_memory(b.code + b.code_end, at, n)) break;
    b.code_end += (u32)n;
  }
  while (b.code_begin) {
    u64 end = first + b.code_begin, n = min<u64>(end - page_down(end - 1), b.code_begin);
    if (!read_memory(b.code + b.code_begin - n, end - n, n)) break;
    b.code_begin -= (u32)n;
  }
  b.displaced = b.resume = b.before = 0;
  b.from = from;
  auto& header = g.stage.header();
  store(b.state, (u32)stage::BreakpointState::kWanted);
  add(header.activity, 1u);
  futex_wake(header.activity);
  while (load(b.state) == (u32)stage::BreakpointState::kWanted && !load(header.give_up)) {
    Timespec wait{0, 100'000'000};
    futex_wait(b.state, (u32)stage::BreakpointState::kWanted, &wait);
  }
  u64 at = rip - b.before;
  bool inside = from > at && from < at + b.displaced;
  bool ready = load(b.state) == (u32)stage::BreakpointState::kReady && b.displaced >= 5 && (!inside || (may_move && b.resume));
  if (ready) {
    memcpy((void*)page, b.bytes, b.stub_size);
    memcpy((void*)(page + kPage - sizeof b.map), &b.map, sizeof b.map);
    a.stub = page;
    a.stub_hit = page + b.hit + 1;
    a.overwritten = 5;
    a.at = at;
    memcpy(a.original, b.code + (middle - b.before), 5);
    if (inside) from = page + b.resume;
  }
  store(b.state, (u32)stage::BreakpointState::kFree);
  store(b.lock, 0u);
  if (!ready) {
    sys(__NR_munmap, page, kPage);
    return false;
  }
  u8 jump[5] = {0xe9};
  i32 distance = (i32)(page - (at + 5));
  memcpy(jump + 1, &distance, 4);
  write_code(at, jump, sizeof jump);
  return true;
}

/// All registers were right, but not all memory.
void note_near_miss(AsyncState& a, const AsyncPoint::Word& word) {
  a.near_address = word.address;
  a.near_recorded = word.value;
  if (!read_memory(a.near_actual, word.address)) a.near_actual = 0;
}

[[noreturn]] void give_up(Thread& t) {
  const AsyncState& a = t.async;
  if (!a.near_address)
    diverge(t, Cause::kInterrupt, "was interrupted in a loop too long to be followed; passes so far", 0, a.misses,
            a.stub ? "of those that looked right" : "one by one");
  char detail[64];
  Text text(detail, sizeof detail);
  (text << "in memory at 0x").hex(a.near_address);
  diverge(t, Cause::kInterrupt, "was interrupted where there was another value", (i64)a.near_recorded, (i64)a.near_actual, detail);
}

/// The point is reached: as if nothing had been there.
void disarm(AsyncState& a) {
  a.armed = false;
  write_code(a.at, a.original, a.overwritten);
  if (a.stub) sys(__NR_munmap, a.stub, kPage);
  a.stub = 0;
}

bool read_point(Thread& t) {
  if (!g.replay || t.log.peek() != Op::kAsync) return false;
  Log& log = t.log;
  AsyncPoint& point = t.async.point;
  log.read_byte();
  u64 size = log.read_varint();
  const char* bytes = log.read_payload(size);
  if (!bytes || size < offsetof(AsyncPoint, words) || size > sizeof point) end_of_log(t);
  memcpy(&point, bytes, size);
  if (point.count > kMostWords || size != point.size()) end_of_log(t);
  log.read_byte();
  return true;
}

void arm(Thread& t, u64& from, bool may_move) {
  AsyncState& a = t.async;
  u64 rip = a.point.registers[16];
  a.misses = 0;
  a.near_address = 0;
  a.stepping = false;
  a.stub = 0;
  a.at = rip;
  if (!read_memory(a.original[0], rip)) diverge(t, Cause::kInterrupt, "was interrupted where there is no code now", (i64)rip, 0);
  a.armed = true;
  if ((a.point.changed_registers || a.point.count) && set_stub(t, from, may_move)) return;
  a.overwritten = 1;
  set_int3(a);
}

}  // namespace

void prepare_async(Thread& t, Frame& frame) {
  if (g.replay && t.log.at_end()) arm_timer(t, kAfterLog);
  if (!read_point(t)) return;
  Frame now = as_full(frame);
  if (matches(now, t.async.point)) {
    t.signals.fault_frame = now;
    runtime_on_stack(t.stack_top, [](void*) { on_async_stack(); }, nullptr);
  }
  arm(t, frame.rip, frame.full);
}

bool arm_async(Thread& t, u64 rip) {
  if (!read_point(t)) return false;
  arm(t, rip, false);
  return true;
}

bool on_breakpoint(Thread& t, KernelContext& context) {
  AsyncState& a = t.async;
  if (a.surveying) return on_step_trap(t, context);
  if (!a.armed) return false;
  u64 point = a.point.registers[16];
  if (a.stepping) {
    a.stepping = false;
    context.flags &= ~kTrapFlag;
    set_int3(a);
    return true;
  }
  if (context.rip != (a.stub ? a.stub_hit : a.at + 1)) return false;
  // The comparison in front of it only sets flags, and has the same to compare.
  u64 flags = context.flags;
  if (a.at != point) flags = (flags & ~kArithmeticFlags) | (a.point.registers[17] & kArithmeticFlags);
  Frame now;
  to_frame(now, context);
  now.rip = point;
  now.flags = flags;
  if (registers_match(now, a.point)) {
    const AsyncPoint::Word* other = find_difference(a.point);
    if (!other) {
      context.rip = point;
      context.flags = flags;
      disarm(a);
      divert(t, context);
      return true;
    }
    note_near_miss(a, *other);
  }
  if (++a.misses > kMostMisses) {
    t.frame = &now;
    give_up(t);
  }
  if (a.stub) return true;  // behind the int3 it goes on
  context.rip = a.at;
  write_code(a.at, a.original, 1);
  a.stepping = true;
  context.flags |= kTrapFlag;
  return true;
}

}  // namespace pastcone::runtime
