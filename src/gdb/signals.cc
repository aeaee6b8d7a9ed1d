#include "pastcone/gdb/signals.h"

namespace pastcone::gdb {
namespace {

constexpr int kUnknown = 143;
constexpr int kFirstRealtime = 32;  // as the kernel counts: glibc keeps the first two for itself
constexpr int kLastRealtime = 64;

/// gdb's numbers by Linux's, up to the real-time ones.
constexpr int kNumbers[kFirstRealtime] = {
    0,  1,  2,        3,  4,  5,  6,       // none, HUP, INT, QUIT, ILL, TRAP, ABRT
    10, 8,  9,        30, 11, 31, 13,      // BUS, FPE, KILL, USR1, SEGV, USR2, PIPE
    14, 15, kUnknown,                      // ALRM, TERM, STKFLT
    20, 19, 17,       18, 21, 22, 16,      // CHLD, CONT, STOP, TSTP, TTIN, TTOU, URG
    24, 25, 26,       27, 28, 23, 32, 12,  // XCPU, XFSZ, VTALRM, PROF, WINCH, IO, PWR, SYS
};

/// gdb counts 33 to 63 in a row; 32 and 64 came later.
int gdb_realtime(int number) {
  if (number == 32) return 77;
  if (number == 64) return 78;
  return 45 + number - 33;
}

}  // namespace

int gdb_signal(int linux_signal) {
  if (linux_signal < 0 || linux_signal > kLastRealtime) return kUnknown;
  return linux_signal < kFirstRealtime ? kNumbers[linux_signal] : gdb_realtime(linux_signal);
}

int linux_signal(int gdb_number) {
  if (gdb_number == kUnknown) return 0;
  for (int number = 1; number <= kLastRealtime; ++number) {
    if (gdb_signal(number) == gdb_number) return number;
  }
  return 0;
}

}  // namespace pastcone::gdb
