#include "async.h"

#include "call.h"
#include "survey.h"
#include "turn.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kComparedFlags = 0xcd5;  // arithmetic and direction flags
constexpr u64 kTrapFlag = 0x100;
constexpr u32 kMostMisses = 400'000;  // a few seconds
constexpr i64 kPatience = 50'000'000;  // ns without a call

bool is_ours(const KernelContext& k) { return in_runtime(k.rip) || on_runtime_stack(k.rsp) || is_trampoline(k.rip); }

void registers_of(const Frame& f, u64 (&out)[18]) {
  u64 all[18] = {f.rax, f.rbx, f.rcx, f.rdx, f.rsi, f.rdi, f.rbp, f.rsp, f.r8,
                 f.r9,  f.r10, f.r11, f.r12, f.r13, f.r14, f.r15, f.rip, f.flags & kComparedFlags};
  memcpy(out, all, sizeof all);
}

bool matches(const Frame& frame, const AsyncPoint& point) {
  u64 now[18];
  registers_of(frame, now);
  if (memcmp(now, point.registers, sizeof now)) return false;
  for (u64 i = 0; i < point.count; ++i) {
    u64 word;
    if (!read_memory(word, point.words[i].address) || word != point.words[i].value) return false;
  }
  return true;
}

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

/// Record: whether it makes sense to stop the thread. Others who wait for their turn have to be patient if the last time took
/// long, so that a program of computing threads does not spend its time being surveyed.
bool is_wanted(Thread& t) {
  if (load(t.signals.captured) & ~t.signals.mask) return true;
  return t.process->serial && load(g.stage.group(t.process->group).waiters) && ticks() - t.slice_start >= t.async.rest;
}

constexpr u64 kRestFactor = 16, kMostRest = 2'500'000'000;  // about a second

[[noreturn]] void on_async_stack() {
  Thread& t = current();
  Frame frame = t.signals.fault_frame;
  frame.full = 1;
  t.frame = &frame;
  if (!g.replay) {
    if (is_wanted(t)) {
      const AsyncPoint& point = t.async.point;
      Log& log = t.log;
      log.payload(&point, point.size());
      log.begin();
      log.byte((u8)Op::kAsync);
      log.varint(point.size());
      log.check();
      ++log.event_count;
      log.commit();
      t.yields = true;
      end_slice(t);
      deliver_signals(t, frame);
    }
    runtime_leave(&frame);
  }
  ++t.log.event_count;
  note_next_event(t);
  take_recorded_turn_after(t);
  deliver_signals(t, frame);
  prepare_async(t, frame);
  t.frame = nullptr;
  runtime_leave(&frame);
}

/// Diverts the thread, which is in a signal handler of ours, to on_async_stack.
void divert(Thread& t, KernelContext& context) {
  to_frame(t.signals.fault_frame, context);
  context.rip = (u64)on_async_stack;
  context.rsp = t.stack_top - 8;
  context.flags &= ~u64{0x500};
}

void write_code(u64 address, const void* bytes, u64 n) {
  u64 begin = page_down(address);
  sys(__NR_mprotect, begin, page_up(address + n) - begin, kProtRead | kProtWrite | kProtExec);
  for (u64 i = 0; i < n; ++i) ((volatile u8*)address)[i] = ((const u8*)bytes)[i];
}

void arm_timer(Thread& t, i64 nanoseconds) {
  struct { Timespec interval, value; } when{{0, 0}, {0, nanoseconds}};
  if (t.timer && !sys(__NR_timer_settime, t.timer - 1, 0, &when, 0)) return;  // after a fork it is gone
  struct { u64 value; i32 signal, notify; i32 tid; i32 pad[11]; } event{
      kInterruptMark, kInterruptSignal, 4, (i32)sys(__NR_gettid), {}};
  i32 id = 0;
  if (sys(__NR_timer_create, 1, &event, &id)) return;
  t.timer = (u32)id + 1;
  sys(__NR_timer_settime, t.timer - 1, 0, &when, 0);
}

}  // namespace

void interrupt_holder(u32 tid) {
  SignalInfo info{};
  info.signal = kInterruptSignal;
  info.code = -1;  // SI_QUEUE
  info.rest[0] = (u64)sys(__NR_getuid) << 32 | (u32)sys(__NR_getpid);
  info.rest[1] = kInterruptMark;
  // We know its tid, not its process: the kernel wants both, so ask /proc only if it is not one of ours.
  long result = sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), tid, kInterruptSignal, &info);
  if (result == -ESRCH) sys(__NR_rt_sigqueueinfo, tid, kInterruptSignal, &info);
}

void interrupt_soon(Thread& t) { arm_timer(t, kPatience); }

namespace {
/// In replay a thread whose log is used up was killed, or slept for ever. If it computes that long (ns) without a call it was
/// killed there, and ends.
constexpr i64 kAfterLog = 999'000'000;
[[noreturn]] void on_end_stack() { end_of_log(current()); }
}  // namespace

bool is_interruption(int signal, const SignalInfo& info) {
  return signal == kInterruptSignal && (info.code == -1 || info.code == -2) && info.rest[1] == kInterruptMark;
}

// --- record: the survey ---------------------------------------------------------------------------------------------------

namespace {

constexpr i64 kBetween = 5'000'000;       // ns between the copy and the survey, and at least
constexpr u64 kComputed = 3'000'000;      // ns that the thread has computed meanwhile
constexpr u32 kMostSteps = 20'000, kAnchorSteps = 5'000;
constexpr i64 kRetry = 1'000'000;
constexpr u32 kMostAttempts = 2;          // surveys that were ended by a trampoline
constexpr u64 kBelow = 8192;              // how much of the stack is copied below rsp,
constexpr u64 kUnknown = 0xff7f;          // changed_registers: any but rsp

u64 computed() {
  Timespec time{};
  sys(__NR_clock_gettime, 3, &time);  // CLOCK_THREAD_CPUTIME_ID
  return (u64)time.seconds * 1'000'000'000 + (u64)time.nanoseconds;
}

/// Copies as many whole pages of [begin, end) as there are and fit.
void copy_range(Survey::Copy& copy, char* to, u64 room, u64 begin, u64 end) {
  copy.begin = copy.end = begin;
  copy.bytes = to;
  while (copy.end < end && copy.end - begin < room) {
    u64 n = min(min(kPage - copy.end % kPage, end - copy.end), room - (copy.end - begin));
    if (!read_memory(to + (copy.end - begin), copy.end, n)) break;
    copy.end += n;
  }
}

void copy_memory(Thread& t, Survey& s, u64 rsp) {
  Process& p = *t.process;
  u64 low = (rsp & ~u64{7}) - kBelow;
  copy_range(s.stack, s.stack_bytes, sizeof s.stack_bytes, low, low + sizeof s.stack_bytes);
  if (s.stack.end == low) copy_range(s.stack, s.stack_bytes, sizeof s.stack_bytes, page_down(rsp), page_down(rsp) + sizeof s.stack_bytes);
  s.data.end = s.data.begin = s.heap.begin = s.heap.end = 0;
  // What another thread waits for may be written there at another moment in replay.
  if (p.serial) return;
  copy_range(s.data, s.data_bytes, sizeof s.data_bytes, p.data_begin, p.data_end);
  copy_range(s.heap, s.heap_bytes, sizeof s.heap_bytes, p.brk_start, p.brk_end);
}

struct Words {
  AsyncPoint& point;
  u64 limit;
  bool full() const { return point.count >= limit || point.count >= kMostWords; }
  void add(u64 address, u64 value) {
    for (u64 i = 0; i < point.count; ++i)
      if (point.words[i].address == address) return;
    point.words[point.count++] = {address, value};
  }
};

/// What has changed since the copy, from its end down, in [from, …).
void compare(AsyncPoint& point, const Survey::Copy& copy, u64 from, u64 most) {
  Words words{point, point.count + most};
  u64 begin = max(copy.begin, from);
  begin += -(begin) & 7;
  for (u64 at = copy.end & ~u64{7}; at > begin && !words.full();) {
    // Page by page; it was readable before
    u64 low = max(begin, page_down(at - 1));
    if (!memcmp(copy.bytes + (low - copy.begin), (const void*)low, at - low)) {
      at = low;
      continue;
    }
    for (; at > low && !words.full(); at -= 8) {
      u64 now = *(const u64*)(at - 8), then;
      memcpy(&then, copy.bytes + (at - 8 - copy.begin), 8);
      if (now != then) words.add(at - 8, now);
    }
  }
}

void touch(Survey& s, u64 address) {
  u64 word;
  address &= ~u64{7};
  if (s.touched_count > Survey::kTouched / 2 || !read_memory(word, address)) return;
  for (u32 i = (u32)(address * 0x9e3779b97f4a7c15 >> 40);; ++i) {
    auto& entry = s.touched[i % Survey::kTouched];
    if (entry.generation == s.generation) {
      if (entry.address == address) return;
      continue;
    }
    entry = {address, word, s.generation};
    ++s.touched_count;
    return;
  }
}

void compare_touched(AsyncPoint& point, const Survey& s, u64 rsp, u64 most) {
  Words words{point, point.count + most};
  for (const auto& entry : s.touched) {
    if (entry.generation != s.generation) continue;
    if (entry.address < rsp - 128 && entry.address > rsp - (1 << 20)) continue;  // no longer in use
    if (words.full()) return;
    u64 now;
    if (read_memory(now, entry.address) && now != entry.value) words.add(entry.address, now);
  }
}

void remove_skip(Survey& s) {
  if (s.skip_to) write_code(s.skip_to, &s.skip_byte, 1);
  s.skip_to = 0;
}

void stop_stepping(Thread& t, KernelContext& context) {
  AsyncState& a = t.async;
  a.surveying = false;
  a.rest = min(kRestFactor * (a.cost += ticks() - a.survey->began), kMostRest);
  remove_skip(*a.survey);
  context.flags &= ~kTrapFlag;
}

/// This is the place.
void choose(Thread& t, KernelContext& context, const u64 (&registers)[18], u64 changed) {
  Survey& s = *t.async.survey;
  AsyncPoint& point = t.async.point;
  stop_stepping(t, context);
  memcpy(point.registers, registers, sizeof point.registers);
  point.changed_registers = changed;
  point.count = 0;
  u64 rsp = registers[7];
  compare_touched(point, s, rsp, 16);
  compare(point, s.stack, rsp - 128, 16);
  compare(point, s.data, 0, 8);
  compare(point, s.heap, 0, 8);
  t.async.survey = nullptr;
  far_unmap(&s, sizeof s);
  divert(t, context);
}

void set_anchor(Survey& s, const u64 (&registers)[18]) {
  memcpy(s.anchor, registers, sizeof s.anchor);
  s.anchored = true;
  s.anchor_step = s.steps;
  s.better_rip = 0;
  ++s.generation;
  s.touched_count = 0;
}

/// Five bytes that are one instruction can always be replaced by a jump; but for calls.
bool is_roomy(const u8* code, u64 length) {
  if (length < 5 || length > 15) return false;
  u8 op = code[0];
  return op != 0xe8 && op != 0xff && !((op & 0xf0) == 0x40 && code[1] == 0xff);
}

void on_step(Thread& t, KernelContext& context) {
  Survey& s = *t.async.survey;
  Frame frame;
  to_frame(frame, context);
  u64 registers[18];
  registers_of(frame, registers);
  ++s.steps;
  remove_skip(s);
  if (s.steps > 1 && is_pushf(s.machine.code)) {
    u64 flags;
    if (read_memory(flags, context.rsp)) {
      flags &= ~kTrapFlag;
      write_memory(context.rsp, &flags, s.machine.code[0] == 0x66 ? 2 : 8);
    }
  }
  if (is_ours(context)) {
    ++s.attempts;
    stop_stepping(t, context);
    arm_timer(t, kRetry);  // it may be one where nothing can happen: rdtsc
    return;
  }
  // The instruction before: would it be a better place?
  u64 length = context.rip - s.machine.rip;
  bool roomy = s.steps > 1 && is_roomy(s.machine.code, length) && !repeated_length(s.machine.code);
  if (s.anchored && roomy && !s.better_rip) {
    s.better_rip = s.machine.rip;
    s.better_rsp = s.machine.general[4];
  }
  const u64* r = registers;
  s.machine = {{}, {r[0], r[2], r[3], r[1], r[7], r[6], r[4], r[5], r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15]},
               context.rip, s.machine.fs};
  if (!read_memory(s.machine.code, context.rip, sizeof s.machine.code))
    read_memory(s.machine.code, context.rip, min<u64>(sizeof s.machine.code, kPage - context.rip % kPage));
  u32 repeated = repeated_length(s.machine.code);
  if (s.seeking) {
    if (context.rip == s.better_rip && context.rsp == s.better_rsp) {
      s.seeking = false;
      s.settled = true;
      set_anchor(s, registers);
    }
  } else if (!s.anchored) {
    if (!repeated) set_anchor(s, registers);
  } else if (context.rip == s.anchor[16] && context.rsp == s.anchor[7]) {
    u64 changed = 0;
    for (u32 i = 0; i < 16; ++i) changed |= u64{registers[i] != s.anchor[i]} << i;
    if (s.settled || !s.better_rip || (s.better_rip == context.rip && s.better_rsp == context.rsp))
      return choose(t, context, registers, changed);
    s.seeking = true;
    s.anchor_step = s.steps;
  }
  if (!repeated && s.steps - s.anchor_step > kAnchorSteps) {
    if (s.steps >= kMostSteps) return choose(t, context, registers, kUnknown);
    s.seeking = false;
    s.settled = false;
    set_anchor(s, registers);
  }
  u64 address;
  if (memory_operand(s.machine, address)) {
    touch(s, address);
    touch(s, address + 8);
  }
  context.flags |= kTrapFlag;
  if (repeated && read_memory(s.skip_byte, context.rip + repeated)) {  // would be a step for each of its turns
    const u8 int3 = 0xcc;
    s.skip_to = context.rip + repeated;
    write_code(s.skip_to, &int3, 1);
    context.flags &= ~kTrapFlag;
  }
}

}  // namespace

void on_interruption(Thread& t, KernelContext& context) {
  t.yields = true;
  AsyncState& a = t.async;
  if (g.replay && t.log.at_end()) {
    bool has_operations = t.process->parallel && *t.operations < t.all_operations;  // which others may wait for
    if (is_ours(context) || has_operations) {
      arm_timer(t, kAfterLog);
      return;
    }
    context.rip = (u64)on_end_stack;
    context.rsp = t.stack_top - 8;
    context.flags &= ~u64{0x500};
    return;
  }
  if (g.replay || a.surveying || !is_wanted(t)) return;
  if (is_ours(context)) {
    // Still no call that counts: it reads the time stamp counter again and again.
    arm_timer(t, a.marker == t.log.hash.state ? kRetry : kPatience);
    a.marker = t.log.hash.state;
    return;
  }
  if (!a.survey)
    a.survey = (Survey*)far_map(sizeof(Survey), kProtRead | kProtWrite, kMapPrivate | kMapAnonymous | kMapNoReserve, -1, 0);
  if (!a.survey) return;
  Survey& s = *a.survey;
  u64 now = computed();
  bool fresh = !s.copied || s.marker != t.log.hash.state;  // no call since
  if (fresh) {
    s.copied = true;
    s.marker = t.log.hash.state;
    s.attempts = 0;
    s.computed = now;
    s.began = ticks();
    copy_memory(t, s, context.rsp);
    a.cost = ticks() - s.began;
  }
  if (fresh || now - s.computed < kComputed) {
    arm_timer(t, kBetween);
    return;
  }
  s.steps = 0;
  s.anchored = s.seeking = s.settled = false;
  s.anchor_step = 0;
  ++s.generation;
  s.touched_count = 0;
  s.machine.rip = 0;
  sys(__NR_arch_prctl, 0x1003, &s.machine.fs);  // ARCH_GET_FS
  if (s.attempts >= kMostAttempts) {
    u8 code[4] = {};
    Frame frame;
    u64 registers[18];
    to_frame(frame, context);
    registers_of(frame, registers);
    read_memory(code, context.rip, sizeof code);
    if (repeated_length(code)) arm_timer(t, kBetween);
    else choose(t, context, registers, kUnknown);
    return;
  }
  a.surveying = true;
  s.began = ticks();
  context.flags |= kTrapFlag;
}

void end_survey(Thread& t, KernelContext& context) {
  if (t.async.surveying) stop_stepping(t, context);
}

// --- replay ---------------------------------------------------------------------------------------------------------------

namespace {

void set_int3(const AsyncState& a) {
  const u8 int3 = 0xcc;
  write_code(a.point.registers[16], &int3, 1);
}

/// A free page that code at `rip` can jump to.
u64 map_near(u64 rip) {
  constexpr u64 kFar = u64{1} << 30, kStep = u64{16} << 20;
  for (u64 i = 0; i < 56; ++i) {
    u64 distance = kFar + i * kStep;
    u64 at = page_down(rip < (u64{4} << 30) ? rip + distance : rip - distance);
    long result = sys(__NR_mmap, at, kPage, kProtRead | kProtWrite | kProtExec,
                      kMapPrivate | kMapAnonymous | kMapFixedNoReplace, -1, 0);
    if (result == (long)at) return at;
    if (!is_error(result)) sys(__NR_munmap, result, kPage);
  }
  return 0;
}

/// Asks the director for a stub, and sets it up. `from`: where the thread goes on.
bool set_stub(Thread& t, u64 from) {
  AsyncState& a = t.async;
  const AsyncPoint& point = a.point;
  stage::Breakpoint& b = g.stage.header().breakpoint;
  u64 rip = point.registers[16], page = map_near(rip);
  if (!page) return false;
  u32 self = (u32)sys(__NR_gettid);
  while (!swap_if(b.lock, 0u, self)) sys(__NR_sched_yield);
  b.rip = rip;
  b.stub = page;
  memcpy(b.registers, point.registers, sizeof b.registers);
  b.compared = point.changed_registers & 0xffff;
  b.word_count = 0;
  for (u64 i = 0, word; i < point.count && b.word_count < 8; ++i)
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
  b.displaced = 0;
  auto& header = g.stage.header();
  store(b.state, (u32)stage::BreakpointState::kWanted);
  add(header.activity, 1u);
  futex_wake(header.activity);
  while (load(b.state) == (u32)stage::BreakpointState::kWanted && !load(header.give_up)) {
    Timespec wait{0, 100'000'000};
    futex_wait(b.state, (u32)stage::BreakpointState::kWanted, &wait);
  }
  bool ready = load(b.state) == (u32)stage::BreakpointState::kReady && b.displaced >= 5 &&
               !(from > rip && from < rip + b.displaced);
  if (ready) {
    memcpy((void*)page, b.bytes, b.stub_size);
    a.stub = page;
    a.stub_hit = page + b.hit + 1;
    a.overwritten = 5;
    memcpy(a.original, b.code + middle, 5);
  }
  store(b.state, (u32)stage::BreakpointState::kFree);
  store(b.lock, 0u);
  if (!ready) {
    sys(__NR_munmap, page, kPage);
    return false;
  }
  u8 jump[5] = {0xe9};
  i32 distance = (i32)(page - (rip + 5));
  memcpy(jump + 1, &distance, 4);
  write_code(rip, jump, sizeof jump);
  return true;
}

/// The point is reached: as if nothing had been there.
void disarm(AsyncState& a) {
  a.armed = false;
  write_code(a.point.registers[16], a.original, a.overwritten);
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

void arm(Thread& t, u64 from) {
  AsyncState& a = t.async;
  u64 rip = a.point.registers[16];
  a.misses = 0;
  a.stepping = false;
  a.stub = 0;
  if (!read_memory(a.original[0], rip)) diverge(t, Cause::kInterrupt, "was interrupted where there is no code now", (i64)rip, 0);
  a.armed = true;
  if ((a.point.changed_registers || a.point.count) && set_stub(t, from)) return;
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
  arm(t, frame.rip);
}

bool arm_async(Thread& t, u64 rip) {
  if (!read_point(t)) return false;
  arm(t, rip);
  return true;
}

bool on_breakpoint(Thread& t, KernelContext& context) {
  AsyncState& a = t.async;
  if (a.surveying) {
    Survey& s = *a.survey;
    if (s.steps && s.machine.code[0] == 0xcc && context.rip == s.machine.rip + 1) {  // an int3 of the program
      stop_stepping(t, context);
      return false;
    }
    if (s.skip_to && context.rip == s.skip_to + 1) context.rip = s.skip_to;
    on_step(t, context);
    return true;
  }
  if (!a.armed) return false;
  u64 at = a.point.registers[16];
  if (a.stepping) {
    a.stepping = false;
    context.flags &= ~kTrapFlag;
    set_int3(a);
    return true;
  }
  if (context.rip != (a.stub ? a.stub_hit : at + 1)) return false;
  Frame now;
  to_frame(now, context);
  now.rip = at;
  if (matches(now, a.point)) {
    context.rip = at;
    disarm(a);
    divert(t, context);
    return true;
  }
  if (++a.misses > kMostMisses) {
    t.frame = &now;
    diverge(t, Cause::kInterrupt, "was interrupted in a loop too long to be followed; passes so far", 0, a.misses);
  }
  if (a.stub) return true;  // behind the int3 it goes on
  context.rip = at;
  write_code(at, a.original, 1);
  a.stepping = true;
  context.flags |= kTrapFlag;
  return true;
}

}  // namespace pastcone::runtime
