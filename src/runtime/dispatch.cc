// The way of every system call of the program: in through entry.S, out the same way.
#include "async.h"
#include "call.h"
#include "facts.h"
#include "handlers.h"
#include "journal.h"
#include "objects.h"
#include "named_objects.h"
#include "text.h"
#include "turn.h"
#include "waits.h"
#include "where.h"

namespace pastcone::runtime {
namespace {

constexpr CallInfo kUnknown{Kind::kDeclined, 0, nullptr, nullptr, nullptr};

long run(Call& c) {
  // Clocks are the most frequent calls of many servers, and have nothing to hash.
  switch (c.number) {
    case __NR_clock_gettime: return handle_clock_gettime(c);
    case __NR_gettimeofday: return handle_gettimeofday(c);
    case __NR_time: return handle_time(c);
    default: break;
  }
  hash_call(c);
  switch (c.info.kind) {
    case Kind::kLogged: return logged(c, raw, c.info.outs);
    case Kind::kBlocking: return logged(c, raw_blocking, c.info.outs);
    case Kind::kCustom: return c.info.handler(c);
    case Kind::kDenied:
      remark(c.t, call_name(c.number), " (ENOSYS), which cannot be recorded; if it needs that, run it without");
      [[fallthrough]];
    case Kind::kDeclined: return logged(c, [](Call&) -> long { return -ENOSYS; }, nullptr);
    case Kind::kNative: {
      long result = raw(c);
      if (g.replay) replay_result(c);
      else record_result(c, result);
      return result;
    }
    case Kind::kUnsupported: break;
  }
  char why[64];
  Text(why, sizeof why) << "calls " << call_name(c.number);
  return leave_recording(c, format::StopReason::kUnsupportedCall, why);
}

void pass_inside(Thread& t) {
  t.log.read_byte();  // kInside
  t.log.read_varint();
  t.inside = true;
}

/// For finding out where a replay leaves its recording: compare the two lists.
void list_call(const Call& c, long result) {
  char path[96], line[320];
  Text name(path, sizeof path), text(line, sizeof line);
  name << "/tmp/pastcone-calls." << (g.replay ? "replay" : "record") << ".p" << c.t.process->number << "." << c.t.number;
  text << c.t.log.event_count << " " << call_name(c.number);
  for (u64 argument : c.a) text.hex((text << " ", argument));
  text << " = " << (i64)result << " rip ";
  text.hex(c.frame.rip) << " hash ";
  text.hex(c.t.log.hash.state) << " turn " << g.stage.group(c.t.process->group).number << "\n";
  long fd = sys(__NR_open, path, 02001 | 0100 | 02000000, 0644);
  sys(__NR_write, fd, line, text.size());
  sys(__NR_close, fd);
}

}  // namespace

extern "C" void runtime_dispatch(Frame* frame) {
  if (answer_object_call(*frame)) return;
  Thread& t = current();
  t.frame = frame;
  store(t.busy, true);
  if (t.process->outside) t.log.off = true;
  u32 number = (u32)frame->number;
  Call c{t, *frame, number, number < kCallCount ? call_table[number] : kUnknown,
         {frame->rdi, frame->rsi, frame->rdx, frame->r10, frame->r8, frame->r9}};
  if (g.replay && (g.stage.header().flags & stage::kFlagListCalls)) list_call(c, 0);
  u64 events_before = t.log.event_count;
  if (number == CALL_SIGNAL_POINT) {
    if (g.replay) pass_inside(t);
    else note_signals_inside(c);
    frame->rax = 0;
  } else if (g.replay && t.log.peek() == Op::kInside) {
    // Natively it came after the last use of a lock; the next thing that happens here is this call.
    pass_inside(t);
    frame->rax = (u64)kRestartAlways;
  } else if (t.process->parallel && passes_by(c)) {
    frame->rax = (u64)pass_call(c);
  } else {
    if (is_located()) note_place(t, *frame);
    if (t.process->parallel) enter_call(c);
    begin_journal(c);
    frame->rax = (u64)run(c);
    end_journal(t);
    if (is_indexed()) note_facts(c, (long)frame->rax);
  }
  if (!g.replay && (g.stage.header().flags & stage::kFlagListCalls)) list_call(c, (long)frame->rax);
  if (g.replay) {
    take_recorded_turn_after(t);
    note_next_event(t);
  } else {
    end_slice(t);
  }
  deliver_signals(t, *frame);
  if (is_located()) note_same_place(t, events_before + 1);
  t.inside = false;
  if (g.replay) prepare_async(t, *frame);
  if (t.process->parallel) leave_call(t);
  if (g.replay && t.process->parallel && t.process->shares) await_ended_child(c);
  if (g.replay) allow_fast_path(t);
  t.frame = nullptr;
}

}  // namespace pastcone::runtime
