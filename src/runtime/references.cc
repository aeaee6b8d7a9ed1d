#include "references.h"

#include "files.h"
#include "messages.h"

namespace pastcone::runtime {
namespace {

constexpr u32 kZeros = ~u32{0};  ///< instead of a file's id: /dev/zero. In the log: 0

bool is_zero_device(int fd) {
  Stat s{};
  return !sys(__NR_fstat, fd, &s) && (s.mode & kModeType) == kModeChar && s.rdev == (1 << 8 | 5);
}

i64 position_of(i64 fd) { return sys(__NR_lseek, fd, 0, 1); }

void write_zeros(u64 base, u64 n) {
  static const char zeros[kPage] = {};
  for (u64 done = 0; done < n; done += min(n - done, kPage)) write_memory(base + done, zeros, min(n - done, kPage));
}

void read_again(Call& c, int fd, u64 position, u64 base, u64 n) {
  for (u64 done = 0; done < n;) {
    long got = sys(__NR_pread64, fd, base + done, n - done, position + done);
    if (got <= 0) diverge(c.t, Cause::kMachine, "a file of the recording is shorter now", (i64)n, got);
    done += (u64)got;
  }
  // Watchpoints do not see what the kernel writes.
  if (g.stage.header().flags & stage::kFlagAsPrograms) write_memory(base, (const void*)base, n);
}

}  // namespace

u32 referenced_file(i64 number, Fd& fd) {
  if (fd.kind != FdKind::kFile || (fd.flags & kFdWritable)) return 0;
  if (!(fd.flags & kFdAsked)) {
    fd.flags |= kFdAsked;
    fd.object = is_zero_device((int)number) ? kZeros : readable_file_id((int)number);
    set_fd_raw(number, fd);
  }
  return fd.object;
}

long record_file_read(Call& c, u32 file) {
  bool moves = file != kZeros && (c.number == __NR_read || c.number == __NR_readv);
  i64 position = file == kZeros ? 0 : moves ? position_of(c.fd()) : (i64)c.a[3];
  long result = raw(c);
  // Another process that has the same open file may have read in between.
  if (moves && result > 0 && position_of(c.fd()) != position + result) position = -1;
  record_file_bytes(c, file, position, result, stored_outs);
  return result;
}

void record_file_bytes(Call& c, u32 file, i64 position, long result, OutsFunction outs) {
  bool same_again = file && position >= 0 && (file == kZeros || is_steady(file));
  if (result <= 0 || !same_again) return record_result(c, result, outs);
  begin_item(c, Shape::kFile);
  c.log().varint(file == kZeros ? 0 : file);
  c.log().varint((u64)position);
  c.log().zigzag(result);
  finish_item(c);
}

long finish_file_read(Call& c, const Buffers& buffers) {
  u32 file = (u32)c.log().read_varint();
  u64 position = c.log().read_varint();
  long result = c.log().read_zigzag();
  expect_check(c);
  if (!file) {
    each_part(buffers, (u64)result, write_zeros);
    return result;
  }
  int fd = open_file(file);
  if (fd < 0) diverge(c.t, Cause::kMachine, "a file of the recording cannot be opened", file, fd);
  each_part(buffers, (u64)result, [&](u64 base, u64 n) {
    read_again(c, fd, position, base, n);
    position += n;
  });
  sys(__NR_close, fd);
  return result;
}

}  // namespace pastcone::runtime
