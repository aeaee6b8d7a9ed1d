// Recording of asynchronous points: where a thread that computes can be stopped, so that replay finds the place again.
#include "survey.h"

#include "async_parts.h"
#include "call.h"
#include "turn.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

constexpr i64 kBetween = 5'000'000;       // ns between the copy and the survey, and at least
constexpr u64 kComputed = 3'000'000;      // ns that the thread has computed meanwhile
constexpr u32 kMostSteps = 20'000, kAnchorSteps = 5'000;
constexpr u32 kMostAttempts = 2;          // surveys that were ended by a trampoline
constexpr u64 kBelow = 8192;              // how much of the stack is copied below rsp,
constexpr u64 kUnknown = 0xff7f;          // changed_registers: any but rsp
constexpr u64 kRestFactor = 16, kMostRest = 2'500'000'000;  // about a second

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

void survey(Thread& t, KernelContext& context) {
  AsyncState& a = t.async;
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

bool on_step_trap(Thread& t, KernelContext& context) {
  Survey& s = *t.async.survey;
  if (s.steps && s.machine.code[0] == 0xcc && context.rip == s.machine.rip + 1) {  // an int3 of the program
    stop_stepping(t, context);
    return false;
  }
  if (s.skip_to && context.rip == s.skip_to + 1) context.rip = s.skip_to;
  on_step(t, context);
  return true;
}

void end_survey(Thread& t, KernelContext& context) {
  if (t.async.surveying) stop_stepping(t, context);
}

}  // namespace pastcone::runtime
