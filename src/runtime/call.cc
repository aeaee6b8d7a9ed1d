#include "call.h"

#include "journal.h"
#include "text.h"
#include "turn.h"

namespace pastcone::runtime {

void Exchange::out(u64 address, u64 n) {
  if (!address || !n) return;
  count_ += n;
  if (!replay_) {
    c_.log().payload((const void*)address, n);
    return;
  }
  if (n > left_) {
    short_ = true;
    return;
  }
  if (!write_memory(address, bytes_, n)) short_ = true;
  bytes_ += n;
  left_ -= n;
}

void Ins::bytes(u64 address, u64 n) {
  // In pieces through a buffer: the memory may not be there, and may change under us.
  char buffer[2048];
  hash_.mix(n);
  while (n) {
    u64 part = min<u64>(n, sizeof buffer);
    if (!read_memory(buffer, address, part)) return;
    hash_.bytes(buffer, part);
    address += part;
    n -= part;
  }
}

void Ins::string(u64 address) {
  if (!address) return;
  i64 n = string_length(address, 4096);
  if (n > 0) bytes(address, (u64)n);
}

bool read_memory(void* to, u64 from, u64 n) { return runtime_copy(to, (const void*)from, n) == 0; }
bool write_memory(u64 to, const void* from, u64 n) {
  return (g.has_journal && write_watched(to, from, n)) || runtime_copy((void*)to, from, n) == 0;
}

i64 string_length(u64 address, u64 limit) {
  char buffer[64];
  for (u64 n = 0; n < limit;) {
    u64 part = min<u64>(sizeof buffer, kPage - (address + n) % kPage);
    if (!read_memory(buffer, address + n, part)) return -1;
    for (u64 i = 0; i < part; ++i)
      if (!buffer[i]) return (i64)(n + i);
    n += part;
  }
  return (i64)limit;
}

namespace {
/// How many of the arguments mean something: libc passes on what registers happened to hold, which may be left from the runtime.
u32 meant_arguments(const Call& c) {
  switch (c.number) {
    case __NR_prctl:
      switch (c.a[0]) {
        case 3: case 7: case 13: case 21: case 27: case 30: case 34: case 39: return 1;  // PR_GET_DUMPABLE and its like
        default: return 2;
      }
    case __NR_fcntl:
      switch (c.a[1]) {
        case 1: case 3: case 9: case 11: case 1025: case 1032: case 1034: return 2;  // F_GETFD, F_GETFL and their like
        default: return 3;
      }
    case __NR_ioctl:
      switch (c.a[1]) {
        case 0x5450: case 0x5451: case 0x540c: case 0x540d: case 0x5422: return 2;  // FIONCLEX, FIOCLEX, TIOCEXCL, TIOCNXCL, TIOCNOTTY
        default: return 3;
      }
    default: return c.info.arguments;
  }
}
}  // namespace

void hash_call(Call& c) {
  Hash& hash = c.log().hash;
  hash.mix(c.number);
  for (u32 i = 0, n = meant_arguments(c); i < n; ++i) hash.mix(c.a[i]);
  if (c.info.ins) {
    Ins ins(hash);
    c.info.ins(ins, c.a);
  }
}

long raw(Call& c) { return sys6(c.number, c.a[0], c.a[1], c.a[2], c.a[3], c.a[4], c.a[5]); }

namespace {
bool restarts(u32 number) {
  switch (number) {
    case __NR_read: case __NR_readv: case __NR_recvfrom: case __NR_recvmsg: case __NR_recvmmsg: case __NR_write:
    case __NR_writev: case __NR_sendto: case __NR_sendmsg: case __NR_sendmmsg: case __NR_wait4: case __NR_waitid:
    case __NR_futex: case __NR_flock: case __NR_fcntl: case __NR_connect: case __NR_accept: case __NR_accept4:
    case __NR_open: case __NR_openat: case __NR_mq_timedsend: case __NR_mq_timedreceive: case __NR_getrandom:
      return true;
    default: return false;
  }
}

/// Natively such a call does not fail because of a signal that comes before it begins: the handler runs, then the call. Calls that
/// are there to wait are not among them, though it is true of them too: a program that waits for what its handler does
/// would wait for ever, if it were not told.
bool begins_anyway(Call& c) {
  switch (c.number) {
    case __NR_open: case __NR_openat: case __NR_openat2: case __NR_creat: case __NR_connect: case __NR_getrandom:
    case __NR_write: case __NR_writev: case __NR_pwrite64: case __NR_pwritev: case __NR_pwritev2: case __NR_sendfile:
    case __NR_sendto: case __NR_sendmsg: case __NR_sendmmsg:
    case __NR_fsync: case __NR_fdatasync: case __NR_sync: case __NR_syncfs: case __NR_sync_file_range: case __NR_msync:
      return true;
    case __NR_read: case __NR_readv: case __NR_pread64: case __NR_preadv: case __NR_preadv2: case __NR_recvfrom:
    case __NR_recvmsg: case __NR_recvmmsg: case __NR_accept: case __NR_accept4: {
      Fd fd = get_fd(c.fd());
      return fd.kind == FdKind::kFile || (fd.flags & kFdNonBlocking);
    }
    default: return false;
  }
}
}  // namespace

long interrupted(Call& c) {
  if (c.t.not_begun && begins_anyway(c)) return kRestartAlways;
  bool due = false, restart = restarts(c.number);
  u64 pending = c.t.signals.captured & ~c.t.signals.mask;
  for (int signal = 1; signal <= 64; ++signal)
    if (pending & signal_bit(signal)) {
      due = true;
      if (!(c.t.process->actions.of[signal].flags & 0x10000000)) restart = false;  // SA_RESTART
    }
  return due && !restart ? -EINTR : due || restart ? kRestart : -EINTR;
}

long raw_blocking(Call& c) {
  for (;;) {
    long result = blocking(c.t, c.number, c.a[0], c.a[1], c.a[2], c.a[3], c.a[4], c.a[5]);
    if (result != -EINTR) return result;
    result = interrupted(c);
    // Nothing of the program's to run: it was stopped and continued, or the signal is blocked by now.
    if (is_restart(result) && !(c.t.signals.captured & ~c.t.signals.mask)) {
      clear_interrupt(c.t);
      continue;
    }
    return result;
  }
}

long may_sleep(Thread& t, long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
  long result = runtime_blocking(nr, a, b, c, d, e, f);
  t.not_begun = result == kNotBegun;
  return t.not_begun ? -EINTR : result;
}

long blocking(Thread& t, long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
  TurnPause pause(t);
  return may_sleep(t, nr, a, b, c, d, e, f);
}

namespace {
u8 frequent_code(u32 number, Shape shape) {
  // A small table from (number, shape) to code, made once.
  static u8 codes[kCallCount][(int)Shape::kCount];
  static bool made;
  if (!made) {
    for (size_t i = 0; i < format::kFrequentCount; ++i)
      codes[format::kFrequent[i].number][(int)format::kFrequent[i].shape] = (u8)((size_t)Op::kFirstCall + i);
    made = true;
  }
  return number < kCallCount ? codes[number][(int)shape] : 0;
}
}  // namespace

void begin_item(Call& c, Shape shape) {
  if (c.t.in_call) number_event(c.t, false);
  Log& log = c.log();
  log.begin();
  if (u8 code = frequent_code(c.number, shape)) {
    log.byte(code);
  } else {
    log.byte((u8)Op::kCall);
    log.varint(c.number);
    log.byte((u8)shape);
  }
}

void finish_item(Call& c) {
  Log& log = c.log();
  log.check();
  ++log.event_count;
  log.commit();
}

void record_result(Call& c, long result, OutsFunction outs) {
  u64 size = 0;
  if (outs) {
    Exchange x(c, false, nullptr, 0);
    outs(x, c.a, result);
    size = x.count();
  }
  begin_item(c, outs ? Shape::kOut : Shape::kResult);
  c.log().zigzag(result);
  if (outs) c.log().varint(size);
  finish_item(c);
}

Shape expect_item(Call& c, u32 shapes) {
  Log& log = c.log();
  take_recorded_turn(c.t);
  if (log.at_end()) end_of_log(c.t);
  u8 op = log.read_byte();
  u32 number;
  Shape shape;
  if (op >= (u8)Op::kFirstCall && op - (u8)Op::kFirstCall < (int)format::kFrequentCount) {
    number = format::kFrequent[op - (u8)Op::kFirstCall].number;
    shape = format::kFrequent[op - (u8)Op::kFirstCall].shape;
  } else if (op == (u8)Op::kCall) {
    number = (u32)log.read_varint();
    shape = (Shape)log.read_byte();
  } else {
    if (op == (u8)Op::kStop) end_of_log(c.t);
    diverge_at(c.t, (Op)op, call_name(c.number));
  }
  if (number != c.number) diverge(c.t, Cause::kFlow, "another call", call_name(number), call_name(c.number));
  if (!(shapes >> (int)shape & 1)) diverge(c.t, Cause::kFlow, "the call has another kind of effect", (i64)shape, shapes, call_name(number));
  take_event_number(c.t);
  return shape;
}

namespace {
/// What was recorded is known by its hash only; what is done now can be said.
[[noreturn]] void diverge_data(Call& c, u8 recorded) {
  char hash[32], now[160];
  Text was(hash, sizeof hash), text(now, sizeof now);
  (was << "hash ").hex(recorded, 2);
  text << call_name(c.number) << "(";
  for (u32 i = 0, n = meant_arguments(c); i < n; ++i) (text << (i ? ", 0x" : "0x")).hex(c.a[i]);
  (text << ") with hash ").hex(c.log().hash.check(), 2);
  diverge(c.t, Cause::kData, "other arguments or bytes than before", hash, now);
}
}  // namespace

void expect_check(Call& c) {
  Log& log = c.log();
  u8 recorded = log.read_byte();
  ++log.event_count;
  if (recorded != log.hash.check()) diverge_data(c, recorded);
}

long finish_out(Call& c, OutsFunction outs) {
  Log& log = c.log();
  long result = log.read_zigzag();
  u64 size = log.read_varint();
  expect_check(c);
  const char* bytes = log.read_payload(size);
  if (!bytes) end_of_log(c.t);
  Exchange x(c, true, bytes, size);
  outs(x, c.a, result);
  if (x.short_of_bytes() || x.count() != size)
    diverge(c.t, Cause::kData, "the call fills memory of another size", (i64)size, (i64)x.count(), call_name(c.number));
  return result;
}

long replay_result(Call& c, OutsFunction outs) {
  expect_item(c, outs ? 1 << (int)Shape::kOut : 1 << (int)Shape::kResult);
  if (outs) return finish_out(c, outs);
  long result = c.log().read_zigzag();
  expect_check(c);
  return result;
}

long logged(Call& c, long (*execute)(Call&), OutsFunction outs) {
  if (g.replay) return replay_result(c, outs);
  long result = execute(c);
  record_result(c, result, outs);
  return result;
}

long corrected(Call& c, long predicted) {
  Log& log = c.log();
  if (log.peek() != Op::kCorrect) return predicted;
  log.read_byte();
  return log.read_zigzag();
}

long peek_correction(Call& c, long predicted) {
  Log& log = c.log();
  u64 at = log.events.at;
  while (log.peek() == Op::kTurnAfter) {
    log.read_byte();
    log.read_varint();
    log.read_varint();
  }
  long result = corrected(c, predicted);
  log.events.at = at;
  return result;
}

void take_turn_before(Thread& t) { take_recorded_turn(t); }
void take_turn_behind(Thread& t) { take_recorded_turn_after(t); }

void record_correction(Call& c, long result) {
  Log& log = c.log();
  log.begin();
  log.byte((u8)Op::kCorrect);
  log.zigzag(result);
  log.commit();
}

}  // namespace pastcone::runtime
