// System V shared memory: like a file that is mapped shared, but known by its id, and detached as a whole.
#include "addresses.h"
#include "channels.h"
#include "handlers.h"
#include "journal.h"
#include "maps.h"
#include "shared_files.h"
#include "shared_places.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kReadOnly = 010000, kExecute = 0100000;
constexpr int kIpcStat = 2;

Attachment* find(Process& p, u64 address) {
  for (Attachment& each : p.attached)
    if (each.address == address) return &each;
  return nullptr;
}

void note_attached(Process& p, u64 address, u64 size) {
  if (Attachment* free = find(p, 0)) *free = {address, size};
}

u64 segment_size(u64 id) {
  u64 about[14] = {};
  return sys(__NR_shmctl, id, kIpcStat, about) ? 0 : about[6];  // shm_segsz
}

void attached_outs(Exchange& x, const u64*, long result) {
  if (is_error(result)) return;
  u64 size = find(*current().process, (u64)result)->size;
  skip_kept_pages(current(), 0, size);
  x.out((u64)&current().shared_object, 8);
  x.out((u64)result, size);
}

}  // namespace

long handle_shmat(Call& c) {
  Process& p = *c.t.process;
  if (!g.replay) {
    u64 size = segment_size(c.a[0]);
    if (!find(p, 0)) return leave_recording(c, format::StopReason::kLimit, "shmat, more often than pastcone can follow");
    OptionalLock lock(p.parallel ? &g.stage.header().share_lock : nullptr, c.t.tid);
    c.t.shared_object = 0;
    if (size) share_object(c.t, address_key(KeyOf::kSegmentGroup, c.a[0]), address_key(KeyOf::kSegment, c.a[0]));
    long result = raw(c);
    if (!is_error(result)) note_attached(p, (u64)result, size);
    record_result(c, result, attached_outs);
    return result;
  }
  expect_item(c, 1 << (int)Shape::kOut);
  int prot = kProtRead | (c.a[2] & kReadOnly ? 0 : kProtWrite) | (c.a[2] & kExecute ? kProtExec : 0);
  u64 size;
  long result = finish_shared_mapping(c, 0, prot, 0, size);
  if (!is_error(result)) note_attached(p, (u64)result, size);
  return result;
}

long handle_shmdt(Call& c) {
  forget_shared_places();
  Attachment* attachment = c.a[0] ? find(*c.t.process, c.a[0]) : nullptr;
  long result = logged(c, raw, nullptr);
  if (is_error(result)) return result;
  if (!attachment) {
    if (g.replay) diverge(c.t, Cause::kFlow, "detaches what was not attached", 0, (i64)c.a[0]);
    return result;
  }
  if (g.replay) {
    sys(__NR_munmap, attachment->address, page_up(attachment->size));
    note_remapped(attachment->address, attachment->size);
  }
  *attachment = {};
  return result;
}

}  // namespace pastcone::runtime
