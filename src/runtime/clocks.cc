// Reading the time: through the kernel's vDSO where there is one, and into the log as the difference to the last reading.
#include "async.h"
#include "handlers.h"
#include "hooks.h"
#include "pastcone/patch/abi.h"
#include "turn.h"
#include "waits.h"
#include "where.h"

namespace pastcone::runtime {
namespace {

constexpr i64 kSecond = 1'000'000'000;

long read_clock(u64 clock, Timespec& now) {
  if (g.vdso_clock_gettime && (i32)clock >= 0) {
    auto function = (int (*)(u64, Timespec*))g.vdso_clock_gettime;
    return function(clock, &now);
  }
  return sys(__NR_clock_gettime, clock, &now);
}

void write_delta(Log& log, Op op, i64 delta) {
  log.begin();
  log.byte((u8)op);
  log.zigzag(delta);
  ++log.event_count;
  log.commit();
}

i64 read_delta(Call& c, Op op) {
  Log& log = c.log();
  if (log.at_end()) end_of_log(c.t);
  Op found = (Op)log.read_byte();
  if (found != op) diverge_at(c.t, found, op_name(op));
  ++log.event_count;
  return log.read_zigzag();
}

/// Replay: a call is next, so the clock was not there (some want hardware of their own): its error is in the log as any result.
bool is_error_next(Log& log) { return log.peek() == Op::kCall || log.peek() >= Op::kFirstCall; }

}  // namespace

long handle_clock_gettime(Call& c) {
  u64 clock = c.a[0];
  if (clock >= 12 || (i32)clock < 0) {
    // CPU clocks of other processes and threads, and errors
    hash_call(c);
    return logged(c, raw, [](Exchange& x, const u64* a, long result) { if (!result) x.out(a[1], 16); });
  }
  Op op = clock == 0 ? Op::kRealtime : clock == 1 ? Op::kMonotonic : Op::kClock;
  i64& last = c.log().clocks[clock];
  Timespec now{};
  if (g.replay) {
    take_turn_before(c.t);
    if (is_error_next(c.log())) {
      hash_call(c);
      return replay_result(c);
    }
  }
  if (!g.replay) {
    if (long error = read_clock(clock, now)) {
      hash_call(c);
      record_result(c, error);
      return error;
    }
    i64 value = now.seconds * kSecond + now.nanoseconds;
    if (op == Op::kClock) {
      Log& log = c.log();
      log.begin();
      log.byte((u8)op);
      log.varint(clock);
      log.zigzag(value - last);
      ++log.event_count;
      log.commit();
    } else {
      write_delta(c.log(), op, value - last);
    }
    last = value;
  } else if (op == Op::kClock) {
    Log& log = c.log();
    if (log.at_end()) end_of_log(c.t);
    Op found = (Op)log.read_byte();
    if (found != op || log.read_varint() != clock) diverge_at(c.t, found, "clock_gettime");
    ++log.event_count;
    last += log.read_zigzag();
  } else {
    last += read_delta(c, op);
  }
  if (g.replay) now = {last / kSecond, last % kSecond};
  return write_memory(c.a[1], &now, sizeof now) ? 0 : -EFAULT;
}

long handle_gettimeofday(Call& c) {
  i64& last = c.log().time_of_day;
  if (!g.replay) {
    Timespec now{};
    read_clock(0, now);
    i64 value = now.seconds * 1'000'000 + now.nanoseconds / 1000;
    write_delta(c.log(), Op::kTimeOfDay, value - last);
    last = value;
  } else {
    take_turn_before(c.t);
    last += read_delta(c, Op::kTimeOfDay);
  }
  i64 out[2] = {last / 1'000'000, last % 1'000'000};
  if (c.a[0] && !write_memory(c.a[0], out, sizeof out)) return -EFAULT;
  if (c.a[1]) {
    i32 zone[2] = {0, 0};
    if (!write_memory(c.a[1], zone, sizeof zone)) return -EFAULT;
  }
  return 0;
}

long handle_time(Call& c) {
  i64& last = c.log().time_seconds;
  if (!g.replay) {
    Timespec now{};
    read_clock(5, now);  // CLOCK_REALTIME_COARSE, as the kernel's time()
    write_delta(c.log(), Op::kTime, now.seconds - last);
    last = now.seconds;
  } else {
    take_turn_before(c.t);
    last += read_delta(c, Op::kTime);
  }
  if (c.a[0] && !write_memory(c.a[0], &last, 8)) return -EFAULT;
  return last;
}

/// The two clocks that servers read most, while recording and with nothing else to look after: from entry.S, before it saves
/// what only other calls need. False: the long way, please.
extern "C" bool runtime_clock(u64 a, u64 b, u32 number) {
  Thread& t = current();
  Process& p = *t.process;
  if (!g.quick_clocks || load(t.interrupt) || p.outside) return false;
  if (p.serial && load(g.stage.group(p.group).waiters)) return false;
  bool of_day = number == __NR_gettimeofday;
  if (of_day ? b != 0 : a > 1) return false;
  Log& log = t.log;
  Timespec now;
  if (((int (*)(u64, Timespec*))g.vdso_clock_gettime)(of_day ? 0 : a, &now)) return false;
  if (of_day) now.nanoseconds /= 1000;
  i64& last = of_day ? log.time_of_day : log.clocks[a];
  i64 value = now.seconds * (of_day ? 1'000'000 : kSecond) + now.nanoseconds;
  if (runtime_copy((void*)(of_day ? a : b), &now, sizeof now)) return false;
  write_delta(log, of_day ? Op::kTimeOfDay : a ? Op::kMonotonic : Op::kRealtime, value - last);
  last = value;
  return true;
}

namespace {
/// The program's registers around a patched instruction.
Frame interrupted_frame(const patch::SavedRegisters& registers, u64 resume) {
  const u64* r = registers.general;
  u64 rsp = resume ? (u64)(&registers + 1) + patch::kRedZone : r[4];
  return {r[15], r[14], r[13], r[12], r[5], r[3], r[11], r[10], r[9], r[8], r[0], r[1], r[2], r[6], r[7],
          0,     1,     resume, registers.flags, rsp};
}
}  // namespace

/// rdtsc, rdtscp, rdrand, rdseed, from a patched site or a trap.
/// `resume`: where the trampoline loads the registers again; 0: there is none.
extern "C" void runtime_instruction(patch::SavedRegisters* registers, u32 descriptor, u64 resume) {
  Thread& t = current();
  Log& log = t.log;
  auto kind = patch::descriptor_kind(descriptor);
  bool tsc = kind == patch::Kind::kRdtsc || kind == patch::Kind::kRdtscp;
  u64 value = 0, extra = 0;
  Frame here;
  if (tsc && t.awaits && is_of_locks(resume)) {
    // How long glibc spins for an adaptive mutex when a condition was signalled. In replay it does not.
    u64 now = __builtin_ia32_rdtsc();
    registers->general[0] = (u32)now;
    registers->general[2] = now >> 32;
    return;
  }
  if (!g.replay) {
    if (tsc) {
      u32 low, high, aux = 0;
      asm volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(aux));
      value = (u64)high << 32 | low;
      extra = kind == patch::Kind::kRdtscp ? aux : 0;
    } else {
      u8 carry;
      if (kind == patch::Kind::kRdrand) asm volatile("rdrand %0; setc %1" : "=r"(value), "=qm"(carry));
      else asm volatile("rdseed %0; setc %1" : "=r"(value), "=qm"(carry));
      extra = carry;
    }
    log.begin();
    log.byte((u8)(tsc ? Op::kTsc : Op::kRandom));
    if (tsc) {
      log.zigzag((i64)(value - log.tsc));
      log.varint(extra);
      log.tsc = value;
    } else {
      log.varint(value);
      log.byte((u8)extra);
    }
    ++log.event_count;
    log.commit();
  } else {
    here = interrupted_frame(*registers, resume);
    if (is_located() && resume) note_place(t, here);
    t.frame = &here;  // for who looks at it while it waits
    take_recorded_turn(t);
    if (log.at_end()) end_of_log(t);
    Op op = (Op)log.read_byte();
    if (op != (tsc ? Op::kTsc : Op::kRandom)) diverge_at(t, op, tsc ? "rdtsc" : "rdrand");
    if (tsc) {
      value = log.tsc += (u64)log.read_zigzag();
      extra = log.read_varint();
    } else {
      value = log.read_varint();
      extra = log.read_byte();
    }
    ++log.event_count;
  }
  if (tsc) {
    registers->general[0] = (u32)value;
    registers->general[2] = value >> 32;
    if (kind == patch::Kind::kRdtscp) registers->general[1] = extra;
  } else {
    patch::set_destination(*registers, descriptor, value);
    registers->flags = (registers->flags & ~u64{0x8d5}) | (extra & 1);
  }
  if (g.replay) {
    here = interrupted_frame(*registers, resume);
    take_recorded_turn_after(t);
    note_next_event(t);
    t.frame = nullptr;
  } else {
    end_slice(t);
  }
  bool signals = resume && (g.replay ? log.peek() == Op::kSignal : t.interrupt);
  if (signals) {
    // The handler runs as if the trampoline had been interrupted, on top of what it has pushed.
    Frame frame{};
    frame.rip = resume;
    frame.rsp = (u64)registers;
    frame.flags = 0x202;
    frame.full = 1;
    deliver_signals(t, frame);
    prepare_async(t, frame);
    runtime_leave(&frame);
  }
  if (g.replay) arm_async(t, 0);
}

}  // namespace pastcone::runtime
