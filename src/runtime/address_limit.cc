#include "address_limit.h"

#include "handlers.h"
#include "thread.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kResource = 9, kUnlimited = ~u64{0};
constexpr u32 kResourceCapability = 24;
constexpr u64 kSpare = 4 << 20;  // the runtime's image, and what threads map at the same time

struct Limits {
  u64 soft, hard;
};

Limits kernel_limits() {
  Limits limits{kUnlimited, kUnlimited};
  sys(__NR_prlimit64, 0, kResource, nullptr, &limits);
  return limits;
}

/// The kernel's hard limit stays as it is: the program's is ours to keep.
void tell_kernel(u64 soft) {
  u64 hard = kernel_limits().hard;
  Limits wanted{min(soft, hard), hard};
  sys(__NR_prlimit64, 0, kResource, &wanted, nullptr);
}

void tell_kernel(const Process& p) {
  u64 own = load(g.own_memory) + kSpare, soft = p.address_limit.soft;
  tell_kernel(soft > kUnlimited - own ? kUnlimited : soft + own);
}

/// Both are addresses, or 0.
long change(Process& p, u64 wanted, u64 old) {
  AddressLimit& limit = p.address_limit;
  Limits before{limit.soft, limit.hard}, now = before;
  if (wanted) {
    if (!read_memory(now, wanted)) return -EFAULT;
    if (now.soft > now.hard) return -EINVAL;
    if (now.hard > limit.hard && !has_capability(kResourceCapability)) return -EPERM;
    limit.soft = now.soft;
    limit.hard = now.hard;
    tell_kernel(p);
  }
  return old && !write_memory(old, &before, sizeof before) ? -EFAULT : 0;
}

long execute(Call& c) {
  Process& p = *c.t.process;
  bool any = c.number == __NR_prlimit64;  // of any process
  if ((u32)c.a[any ? 1 : 0] != kResource) return raw(c);
  if (c.number == __NR_getrlimit) return c.a[1] ? change(p, 0, c.a[1]) : -EFAULT;
  if (c.number == __NR_setrlimit) return c.a[1] ? change(p, c.a[1], 0) : -EFAULT;
  i32 pid = (i32)c.a[0];
  return pid && pid != sys(__NR_getpid) ? raw(c) : change(p, c.a[2], c.a[3]);
}

}  // namespace

void lift_address_limit(Process& p) {
  Limits limits = kernel_limits();
  p.address_limit = {limits.soft, limits.hard, false};
  if (limits.soft != limits.hard) tell_kernel(kUnlimited);
}

void apply_address_limit(Process& p) {
  p.address_limit.applies = true;
  if (p.address_limit.soft != kUnlimited) tell_kernel(p);
}

void restore_address_limit(Process& p) {
  p.address_limit.applies = false;
  if (p.address_limit.soft != kUnlimited) tell_kernel(p.address_limit.soft);
}

void count_own_memory(Process& p, i64 bytes) {
  add(g.own_memory, (u64)bytes);
  if (bytes > 0 && p.address_limit.applies && p.address_limit.soft != kUnlimited) tell_kernel(p);
}

long handle_rlimit(Call& c) { return logged(c, execute, c.info.outs); }

}  // namespace pastcone::runtime
