#include "absent_pages.h"

#include "call.h"
#include "thread.h"

namespace pastcone::runtime {
namespace {

constexpr int kBehindEnd = 2;  // BUS_ADRERR
constexpr u64 kNone = 0, kReadable = 1, kReadWrite = 3;

/// What the log has next, if it is such a fault.
bool peek_fault(Thread& t, SignalInfo& info) {
  Log& log = t.log;
  u64 at = log.events.at, data = log.data.at;
  if (t.process->parallel && log.peek() == Op::kTurn) {
    log.read_byte();
    log.read_varint();
    log.read_varint();
  }
  bool found = log.peek() == Op::kFault;
  if (found) {
    log.read_byte();
    u64 signal = log.read_varint(), size = log.read_varint();
    const char* bytes = signal == kBus && size == sizeof info ? log.read_payload(size) : nullptr;
    found = bytes;
    if (found) memcpy(&info, bytes, sizeof info);
  }
  log.events.at = at;
  log.data.at = data;
  return found && info.code == kBehindEnd;
}

/// The kernel writes there, or not; what it has written is put back.
bool is_writable(u64 address) {
  u64 before = *(const u64*)address;
  if (sys(__NR_rt_sigprocmask, 0, 0, address, 8)) return false;
  struct { u64 base, size; } ours{(u64)&before, 8}, theirs{address, 8};
  sys(__NR_process_vm_writev, sys(__NR_gettid), &ours, 1, &theirs, 1, 0);  // nor does the processor see this
  return true;
}

}  // namespace

void foretell_fault(Thread& t) {
  auto& s = t.signals;
  if (!peek_fault(t, s.foretold)) return;
  u64 page = page_down(s.foretold.rest[0]);
  char probe;
  if (!page || !read_memory(&probe, page, 1)) return;  // it is not there anyway
  s.absent_access = is_writable(page) ? kReadWrite : kReadable;
  if (!sys(__NR_mprotect, page, kPage, kNone)) s.absent_page = page;
}

bool take_foretold_fault(Thread& t, u64 address, SignalInfo& info) {
  auto& s = t.signals;
  if (!s.absent_page || page_down(address) != s.absent_page) return false;
  sys(__NR_mprotect, s.absent_page, kPage, s.absent_access);
  s.absent_page = 0;
  info = s.foretold;
  return true;
}

}  // namespace pastcone::runtime
