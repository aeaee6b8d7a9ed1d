// RLIMIT_AS. The program sees the limit it has set. The kernel is told one that leaves room for what the runtime has mapped, so
// that the program's memory ends about where it would natively, and ours does not.
#pragma once

#include "sys.h"

namespace pastcone::runtime {

struct Process;

struct AddressLimit {
  u64 soft, hard;
  bool applies;  ///< the kernel knows
};

/// Before the runtime maps anything: what the kernel says is the program's, and lifted for now.
void lift_address_limit(Process& p);
/// The program begins.
void apply_address_limit(Process& p);
/// As it is natively: for a program that is not recorded.
void restore_address_limit(Process& p);

/// So much is about to be mapped by the runtime, or is no longer.
void count_own_memory(Process& p, i64 bytes);

}  // namespace pastcone::runtime
