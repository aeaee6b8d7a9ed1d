// sendfile, as reading and sending: the kernel's own copy would leave no trace of the bytes.
#include "channels.h"
#include "handlers.h"
#include "own_output.h"
#include "references.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kPiece = 128 * 1024;

void piece_outs(Exchange& x, const u64* a, long result) {
  if (result > 0) x.out(a[5], (u64)result);
}

/// Reads up to n bytes of the file into `buffer`; one event, with the bytes or their place in the file.
long read_piece(Call& c, char* buffer, u64 n) {
  Call piece = c;
  piece.a[5] = (u64)buffer;
  if (g.replay) {
    if (expect_item(piece, 1 << (int)Shape::kOut | 1 << (int)Shape::kFile) == Shape::kOut) return finish_out(piece, piece_outs);
    Buffers buffers;
    buffers.count = 0;
    buffers.add((u64)buffer, n);
    return finish_file_read(piece, buffers);
  }
  Fd from = get_fd((i64)(i32)c.a[1]);
  u32 file = referenced_file((i64)(i32)c.a[1], from);
  i64 offset = 0;
  long result = -EFAULT;
  if (!c.a[2]) offset = sys(__NR_lseek, c.a[1], 0, 1);
  if (!c.a[2] || read_memory(offset, c.a[2])) result = sys(__NR_pread64, c.a[1], buffer, n, offset);
  record_file_bytes(piece, file, offset, result, piece_outs);
  return result;
}

/// The file's position moves by what was sent, not by what was read.
void advance(Call& c, u64 n) {
  if (c.a[2]) {
    i64 offset = 0;
    read_memory(offset, c.a[2]);
    offset += (i64)n;
    write_memory(c.a[2], &offset, 8);
  } else if (!g.replay) {
    sys(__NR_lseek, c.a[1], n, 1);
  }
}

long write_piece(Call& c, char* buffer, u64 n) {
  Call write{c.t, c.frame, __NR_write, call_table[__NR_write], {c.a[0], (u64)buffer, n, 0, 0, 0}};
  return handle_write(write);
}

/// Unless it is output, of which replay could not show anything. Who cannot do this to a file writes.
long send_by_kernel(Call& c) { return output_of_file((int)c.fd()).kind == FdKind::kOutput ? -EINVAL : raw_blocking(c); }

}  // namespace

long handle_sendfile(Call& c) {
  Fd to = get_fd(c.fd());
  if (is_uncertain(to)) return logged(c, send_by_kernel, c.info.outs);
  if (to.kind != FdKind::kConnection && to.kind != FdKind::kFifo && to.kind != FdKind::kOutput) return logged(c, raw_blocking, c.info.outs);
  auto* buffer = (char*)far_map(kPiece, kProtRead | kProtWrite, kMapPrivate | kMapAnonymous, -1, 0);
  u64 done = 0;
  long result = 0;
  while (done < c.a[3]) {
    long got = read_piece(c, buffer, min(c.a[3] - done, kPiece));
    result = got <= 0 ? got : write_piece(c, buffer, (u64)got);
    if (result <= 0) break;
    advance(c, (u64)result);
    done += (u64)result;
    if (result < got) break;  // the socket is full
  }
  far_unmap(buffer, kPiece);
  return done ? (long)done : result;
}

}  // namespace pastcone::runtime
