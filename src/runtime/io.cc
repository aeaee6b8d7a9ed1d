// Reading and writing, by what the descriptor is.
#include "channels.h"
#include "handlers.h"
#include "meetings.h"
#include "maps.h"
#include "messages.h"
#include "own_output.h"
#include "packets.h"
#include "references.h"
#include "shared_files.h"
#include "turn.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

void hash_bytes(Call& c, const Buffers& buffers) {
  Ins ins(c.log().hash);
  each_part(buffers, buffers.total, [&](u64 base, u64 n) { ins.bytes(base, n); });
}

// --- standard output and error ------------------------------------------------------------------------------------------

long record_output(Call& c, const Fd& fd) {
  auto& header = g.stage.header();
  long result;
  u64 order = 0, position = 0;
  do {
    clear_interrupt(c.t);
    // The turn first, then the lock: who waits for the lock must not keep the turn from us. The lock is held while
    // writing, so that the order we note is the order in which it appears.
    TurnPause pause(c.t);
    SharedLock lock(header.output_lock, c.t.tid);
    result = may_sleep(c.t, c.number, c.a[0], c.a[1], c.a[2], c.a[3], c.a[4], c.a[5]);
    if (result > 0) {
      order = header.output_order++;
      position = header.output_position;
      header.output_position += (u64)result;
    }
  } while (result == -EINTR && !(load(c.t.signals.captured) & ~c.t.signals.mask));
  if (result == -EINTR) result = interrupted(c);
  if (result > 0) {
    Log& log = c.log();
    log.begin();
    log.byte((u8)Op::kOutput);
    log.byte(fd.end);
    log.varint(order);
    log.varint(position);
    log.commit();
  }
  record_result(c, result);
  return result;
}

long replay_output(Call& c, const Buffers& buffers) {
  take_turn_before(c.t);
  Log& log = c.log();
  bool shown = log.peek() == Op::kOutput;
  u8 fd = 0;
  u64 order = 0, position = 0;
  if (shown) {
    log.read_byte();
    fd = log.read_byte();
    order = log.read_varint();
    position = log.read_varint();
  }
  long result = replay_result(c);
  if (!shown || result <= 0 || (g.stage.header().flags & stage::kFlagNoOutput)) return result;
  u64 at = position;
  each_part(buffers, (u64)result, [&](u64 base, u64 n) {
    for (u64 done = 0; done < n;) {
      long written = sys(__NR_pwrite64, own_fd(stage::kFdOutput), base + done, n - done, at + done);
      if (written <= 0) diverge(c.t, Cause::kMachine, "output cannot be written", 0, written);
      done += (u64)written;
    }
    at += n;
  });
  if (order < stage::kOutputSlots) {
    auto& slot = g.stage.output(order);
    slot.position = position;
    slot.length = (u32)result;
    store(slot.fd_and_done, (u32)fd | 0x100);
  }
  auto& header = g.stage.header();
  add(header.output_done, u64{1});
  add(header.activity, 1u);
  if (load(header.recorder_sleeps)) futex_wake(header.activity);
  return result;
}

/// Where it is uncertain, the file tells while recording, and then the recording. `fd` is made right.
bool is_output(Call& c, Fd& fd) {
  bool known = fd.kind == FdKind::kOutput;
  if (!is_uncertain(fd) || c.number == __NR_sendmmsg) return known;
  if (g.replay) take_turn_before(c.t);
  Fd now = g.replay ? Fd{} : output_of_file((int)c.fd());
  bool is = g.replay ? c.log().peek() == Op::kOutput : now.kind == FdKind::kOutput;
  if (is && !known) fd = now;
  if (!is && known) fd.kind = FdKind::kOther, fd.object = 0;
  return is;
}

bool is_stream(Call& c, const Fd& fd) {
  if (fd.kind == FdKind::kConnection) return true;
  // The others fail on a FIFO, or are too odd.
  bool plain = c.number == __NR_read || c.number == __NR_readv || c.number == __NR_write || c.number == __NR_writev;
  return fd.kind == FdKind::kFifo && plain && !c.t.process->outside;
}
}  // namespace

namespace {
/// Record: of an eventfd, where it matters.
u32 meeting_at(Call& c, const Fd& fd) { return !g.replay && fd.kind == FdKind::kOther && c.t.process->shares ? fd.object : 0; }
}  // namespace

long handle_write(Call& c) {
  Fd fd = get_fd(c.fd());
  if (sends_packets(c, fd)) return send_packets(c, fd);
  Buffers buffers;
  fill_buffers(c, buffers);
  hash_bytes(c, buffers);
  bool output = is_output(c, fd);
  if (is_stream(c, fd) && !buffers.bad) return send_on_channel(c, fd, buffers);
  if (c.number == __NR_sendmsg || c.number == __NR_sendmmsg) note_passed_fds(c);
  if (output) return g.replay ? replay_output(c, buffers) : record_output(c, fd);
  if (c.number == __NR_sendmmsg) return logged(c, raw_blocking, [](Exchange& x, const u64* a, long result) {
    for (long i = 0; i < result; ++i) x.out(a[1] + (u64)i * (sizeof(MessageHeader) + 8) + sizeof(MessageHeader), 4);
  });
  if (fd.kind == FdKind::kFile) return g.replay ? replay_file_write(c, buffers) : record_file_write(c);
  bool gives = fd.kind == FdKind::kOther && (fd.flags & kFdEvent);
  return meet(c, meeting_at(c, fd), gives, nullptr, (long)buffers.total);
}

long handle_read(Call& c) {
  Fd fd = get_fd(c.fd());
  if (receives_packets(c, fd)) return receive_packets(c, fd);
  if (is_stream(c, fd)) {
    Buffers buffers;
    fill_buffers(c, buffers);
    if (!buffers.bad) return receive_on_channel(c, fd, buffers);
  }
  if (g.replay) {
    take_meeting(c);
    Shape shape = expect_item(c, 1 << (int)Shape::kOut | 1 << (int)Shape::kFile);
    c.multiple = true;
    if (shape == Shape::kFile) {
      Buffers buffers;
      fill_buffers(c, buffers);
      return finish_file_read(c, buffers);
    }
    long result = finish_out(c, stored_outs);
    if (c.number == __NR_recvmsg || c.number == __NR_recvmmsg) take_passed_fds(c, result);
    return result;
  }
  if (u32 file = referenced_file(c.fd(), fd); file && c.number != __NR_preadv2) return record_file_read(c, file);
  c.multiple = true;
  long result = raw_blocking(c);
  if (u32 object = meeting_at(c, fd); object && !is_error(result)) note_meeting(c, object);
  record_result(c, result, stored_outs);
  if (c.number == __NR_recvmsg || c.number == __NR_recvmmsg) take_passed_fds(c, result);
  return result;
}

}  // namespace pastcone::runtime
