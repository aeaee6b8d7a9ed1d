#include "buffers.h"

namespace pastcone::runtime {

void Buffers::add(u64 base, u64 length) {
  if (count == kMost) return;
  of[count++] = {base, length};
  total += length;
}

void Buffers::add_vectors(u64 vectors, u64 n) {
  if (n > kMost) bad = true;  // the kernel refuses it
  for (u64 i = 0; i < n && i < kMost; ++i) {
    Iovec v;
    if (!read_memory(v, vectors + i * sizeof v)) {
      bad = true;
      return;
    }
    add(v.base, v.length);
  }
}

void Buffers::skip(u64 n) {
  total -= min(n, total);
  for (u32 i = 0; i < count && n; ++i) {
    u64 part = min(n, of[i].length);
    of[i].base += part;
    of[i].length -= part;
    n -= part;
  }
}

void fill_buffers(Call& c, Buffers& b) {
  b.count = 0;
  b.total = 0;
  b.bad = false;
  switch (c.number) {
    case __NR_read: case __NR_write: case __NR_pread64: case __NR_pwrite64: case __NR_sendto: case __NR_recvfrom:
      b.add(c.a[1], min<u64>(c.a[2], 0x7ffff000));
      break;
    case __NR_readv: case __NR_writev: case __NR_preadv: case __NR_pwritev: case __NR_preadv2: case __NR_pwritev2:
      b.add_vectors(c.a[1], c.a[2]);
      break;
    case __NR_sendmsg: case __NR_recvmsg: case __NR_sendmmsg: case __NR_recvmmsg: {
      MessageHeader m;
      if (read_memory(m, c.a[1])) b.add_vectors(m.vectors, m.vector_count);
      else b.bad = true;
      break;
    }
    default: break;
  }
}

}  // namespace pastcone::runtime
