// mlockall is answered as the kernel would, and not done: it would lock what the runtime has mapped too, which is addresses mostly,
// and fill it with memory.
#include "handlers.h"
#include "thread.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kCurrent = 1, kAll = 7, kOnFault = 4;

/// What the program has mapped, in bytes; 0 if there is no /proc.
u64 program_memory() {
  char text[64];
  long fd = sys(__NR_open, "/proc/self/statm", 02000000, 0);
  if (is_error(fd)) return 0;
  long n = sys(__NR_read, fd, text, sizeof text - 1);
  sys(__NR_close, fd);
  u64 pages = 0;
  for (long i = 0; i < n && text[i] >= '0' && text[i] <= '9'; ++i) pages = pages * 10 + (u64)(text[i] - '0');
  u64 all = pages * kPage, own = load(g.own_memory);
  return all > own ? all - own : 0;
}

long execute(Call& c) {
  constexpr u32 kLockCapability = 14;
  u64 flags = c.a[0], limit[2] = {~u64{0}, ~u64{0}};
  if (!flags || (flags & ~kAll) || flags == kOnFault) return -EINVAL;
  if (has_capability(kLockCapability)) return 0;
  sys(__NR_prlimit64, 0, 8, nullptr, limit);  // RLIMIT_MEMLOCK
  if (!limit[0]) return -EPERM;
  return (flags & kCurrent) && program_memory() > limit[0] ? -ENOMEM : 0;
}

}  // namespace

long handle_mlockall(Call& c) { return logged(c, execute, nullptr); }

}  // namespace pastcone::runtime
