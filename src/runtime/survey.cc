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
constexpr u32 kMostSteps = 20'000, kAnchorSteps = 5'000, kLastSteps = 500;
constexpr u32 kMostAttempts = 2;          // surveys that were ended by a trampoline
constexpr u64 kBelow = 8192;              // how much of the stack is copied below rsp,
constexpr u64 kUnknown = 0xffff;          // changed_registers: any
constexpr u64 kJump = 5;                  // bytes of the jump that replay puts there
constexpr u64 kStack = 1 << 20;           // what is that near to rsp is the stack,
constexpr u64 kMostStack = 64 << 20;      // and that near to where the first thread's begins is that
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
  // Deep in a recursion, what tells its turns is in main.
  u64 outer = p.stack_begin - sizeof s.outer_bytes;
  s.outer.begin = s.outer.end = 0;
  if (s.stack.end < p.stack_begin && p.stack_begin - s.stack.end < kMostStack)
    copy_range(s.outer, s.outer_bytes, sizeof s.outer_bytes, max(outer, s.stack.end), p.stack_begin);
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

void compare_touched(AsyncPoint& point, const Survey& s, u64 rsp, bool of_stack, u64 most) {
  Words words{point, most};
  for (const auto& entry : s.touched) {
    if (entry.generation != s.generation) continue;
    if (entry.address < rsp - 128 && entry.address > rsp - kStack) continue;  // no longer in use
    if ((entry.address - (rsp - 128) < kStack) != of_stack) continue;
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
  // A recursion changes many words of the stack, which are the same again in its next descent.
  compare_touched(point, s, rsp, false, 16);
  compare_touched(point, s, rsp, true, 16);
  compare(point, s.outer, rsp - 128, 8);
  compare(point, s.stack, rsp - 128, s.outer.end ? 8 : 16);
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
  s.first = {};
  s.run_count = 0;
  ++s.generation;
  s.touched_count = 0;
}

bool is_loop(u8 op) { return op >= 0xe0 && op <= 0xe3; }
bool is_short_jump(u8 op) { return (op & 0xf0) == 0x70 || op == 0xeb; }

/// How long the instruction was after which the thread went on `distance` bytes behind its start; 0: replay cannot move it.
u64 movable_length(const u8* code, u64 distance) {
  u8 op = code[0];
  if (is_short_jump(op)) return 2;
  if (op == 0xe9) return 5;
  if (op == 0x0f && (code[1] & 0xf0) == 0x80) return 6;
  if (distance - 1 >= 15 || repeated_length(code)) return 0;
  for (u32 i = 0; i < 4 && (op == 0x66 || op == 0xf2 || op == 0xf3 || op == 0x3e || (op & 0xf0) == 0x40); ++i) op = *++code;
  u8 extension = code[1] >> 3 & 7;
  bool is_call = op == 0xe8 || (op == 0xff && extension >= 2 && extension <= 5);
  bool is_return = op == 0xc2 || op == 0xc3;
  bool is_trap = op == 0xcc || op == 0xcd || op == 0xf1 || op == 0xf4;
  return is_call || is_return || is_loop(op) || is_trap || is_short_jump(op) ? 0 : distance;
}

/// Whether what looks like a jump leads into [first, last]; `at` is its opcode, at `address`.
bool leads_into(const u8* at, u64 address, u64 first, u64 last) {
  u64 target;
  if (at[0] == 0xe8 || at[0] == 0xe9 || ((at[0] & 0xf0) == 0x80 && at[-1] == 0x0f)) {
    i32 distance;
    memcpy(&distance, at + 1, 4);
    target = address + 5 + (u64)(i64)distance;
  } else if (is_short_jump(at[0]) || is_loop(at[0])) {
    target = address + 2 + (u64)(i64)(int8_t)at[1];
  } else {
    return false;
  }
  return target - first <= last - first;
}

/// No jump nearby leads behind the first instruction of [begin, end). Replay asks the same, of instructions; this of all bytes.
bool is_free(Survey& s, u64 begin, u64 end) {
  u64 low = begin - Survey::kNearby, at = low, n = 2 * Survey::kNearby;
  memset(s.nearby, 0, sizeof s.nearby);
  for (u64 size; at < low + n; at += size) {
    size = min(kPage - at % kPage, low + n - at);
    read_memory(s.nearby + 1 + (at - low), at, size);
  }
  for (u64 i = 0; i < n; ++i)
    if (leads_into(s.nearby + 1 + i, low + i, begin + 1, end - 1)) return false;
  return true;
}

bool is_known_free(Survey& s, u64 begin, u64 end) {
  auto& known = s.groups[begin % Survey::kGroups];
  if (known.rip != begin) known = {begin, is_free(s, begin, end)};
  return known.free;
}

/// The instruction before was at s.machine.rip. Where the newest group begins that is long enough for a jump; 0: none.
u64 group_with(Survey& s, u64 length) {
  u64 rip = s.machine.rip;
  if (rip != s.run_end) s.run_count = 0;
  if (!length) {
    s.run_count = 0;
    return 0;
  }
  s.run[s.run_count++ % Survey::kRun] = rip;
  s.run_end = rip + length;
  for (u32 back = 2; back <= min(s.run_count, Survey::kRun); ++back) {
    u64 begin = s.run[(s.run_count - back) % Survey::kRun];
    if (s.run_end - begin >= kJump) return is_known_free(s, begin, s.run_end) ? begin : 0;
  }
  return 0;
}

/// The instruction before: would replay have room for its jump there?
void note_room(Survey& s, u64 rip) {
  u64 length = movable_length(s.machine.code, rip - s.machine.rip);
  if (length >= kJump) s.newest.single = s.machine.rip;
  if (length >= kJump && !s.first.single) s.first.single = s.machine.rip;
  if (u64 group = group_with(s, length)) {
    s.newest.group = group;
    if (!s.first.group) s.first.group = group;
  }
}

void seek(Survey& s, u64 rip) {
  s.seeking = true;
  s.sought = rip;
  s.anchor_step = s.steps;
}

/// Another place to go to than the last one, if there is any: that is not executed often.
u64 next_room(const Survey& s) {
  u64 room = s.newest.best();
  return room != s.sought ? room : s.newest.group;
}

/// The thread does not come again where it was waited for. True: it has to be stopped right here, since that took long enough.
bool give_up_anchor(Survey& s, const u64 (&registers)[18]) {
  u64 room = next_room(s);
  if (s.steps >= kMostSteps) {
    if (!s.sought_until) s.last_step = s.steps + kAnchorSteps;
    if (s.steps >= s.sought_until) {
      if (room) s.sought = room;
      s.sought_until = s.steps + kLastSteps;
    }
    return !s.sought || registers[16] == s.sought || s.steps >= s.last_step;
  }
  s.settled = false;
  if (room) seek(s, room);
  else set_anchor(s, registers);
  return false;
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
  if (s.steps > 1) note_room(s, context.rip);
  const u64* r = registers;
  s.machine = {{}, {r[0], r[2], r[3], r[1], r[7], r[6], r[4], r[5], r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15]},
               context.rip, s.machine.fs};
  if (!read_memory(s.machine.code, context.rip, sizeof s.machine.code))
    read_memory(s.machine.code, context.rip, min<u64>(sizeof s.machine.code, kPage - context.rip % kPage));
  u32 repeated = repeated_length(s.machine.code);
  if (!repeated && s.steps - s.anchor_step > kAnchorSteps) {
    if (give_up_anchor(s, registers)) return choose(t, context, registers, kUnknown);
  } else if (s.seeking) {
    // At whatever level of the stack: in a recursion none may come again soon.
    if (context.rip == s.sought) {
      s.seeking = false;
      s.settled = true;
      set_anchor(s, registers);
    }
  } else if (!s.anchored) {
    if (!repeated) set_anchor(s, registers);
  } else if (context.rip == s.anchor[16] && context.rsp == s.anchor[7]) {
    u64 changed = 0;
    for (u32 i = 0; i < 16; ++i) changed |= u64{registers[i] != s.anchor[i]} << i;
    u64 better = s.first.best();
    if (s.settled || !better || better == context.rip) return choose(t, context, registers, changed);
    seek(s, better);
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
  s.anchor_step = s.sought_until = 0;
  s.sought = 0;
  s.first = s.newest = {};
  s.run_count = 0;
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
