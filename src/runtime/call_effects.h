// What calls take from the program's memory and put there, as rows of the table say it. Included by its parts only.
#pragma once

#include "call.h"

namespace pastcone::runtime::table {

// --- what comes out ----------------------------------------------------------------------------------------------------

template <int kArgument, u64 kSize>
inline void fixed(Exchange& x, const u64* a, long result) {
  if (!is_error(result)) x.out(a[kArgument], kSize);
}
template <int kFirst, u64 kFirstSize, int kSecond, u64 kSecondSize>
inline void fixed2(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  x.out(a[kFirst], kFirstSize);
  x.out(a[kSecond], kSecondSize);
}
/// As many bytes as the result says.
template <int kArgument, u64 kUnit = 1>
inline void counted(Exchange& x, const u64* a, long result) {
  if (result > 0) x.out(a[kArgument], (u64)result * kUnit);
}
/// As getxattr: with size 0 only the length is asked for.
template <int kArgument, int kSize>
inline void counted_if_asked(Exchange& x, const u64* a, long result) {
  if (result > 0 && a[kSize]) x.out(a[kArgument], (u64)result);
}
/// An address or option with its length beside it: the length comes out first, so replay knows how much follows.
template <int kArgument, int kLength>
inline void sized(Exchange& x, const u64* a, long result) {
  if (is_error(result) || !a[kArgument] || !a[kLength]) return;
  x.out(a[kLength], 4);
  u32 n = 0;
  read_memory(n, a[kLength]);
  x.out(a[kArgument], min<u64>(n, 4096));
}
/// The rest of a sleep that a signal cut short.
template <int kArgument>
inline void remainder(Exchange& x, const u64* a, long result) {
  if (result == -EINTR || is_restart(result)) x.out(a[kArgument], 16);
}
inline void clock_remainder(Exchange& x, const u64* a, long result) {
  if (!(a[1] & 1)) remainder<3>(x, a, result);
}
inline void poll_outs(Exchange& x, const u64* a, long result) {
  if (result >= 0) x.out(a[0], a[1] * 8);
}
template <bool kTimespec>
inline void select_outs(Exchange& x, const u64* a, long result) {
  u64 size = ((a[0] & 0xffff) + 63) / 64 * 8;
  if (result >= 0)
    for (int i = 1; i <= 3; ++i) x.out(a[i], size);
  if (result >= 0) x.out(a[4], 16);
}
inline void epoll_outs(Exchange& x, const u64* a, long result) {
  if (result > 0) x.out(a[1], (u64)result * 12);
}
inline void pipe_outs(Exchange& x, const u64* a, long result) { fixed<0, 8>(x, a, result); }
inline void msgrcv_outs(Exchange& x, const u64* a, long result) {
  if (result >= 0) x.out(a[1], (u64)result + 8);
}
inline void mq_outs(Exchange& x, const u64* a, long result) {
  if (result < 0) return;
  x.out(a[1], (u64)result);
  x.out(a[3], 4);
}
inline void ioctl_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  u32 request = (u32)a[1];
  switch (request) {
    case 0x5401: x.out(a[2], 36); return;                                    // TCGETS
    case 0x5405: x.out(a[2], 18); return;                                    // TCGETA
    case 0x5413: x.out(a[2], 8); return;                                     // TIOCGWINSZ
    case 0x540f: case 0x5411: case 0x541b: case 0x5429: case 0x5424: case 0x5415: case 0x5419:
      x.out(a[2], 4); return;                                                // TIOCGPGRP, TIOCOUTQ, FIONREAD, TIOCGSID …
    case 0x8903: case 0x8904: case 0x8905: x.out(a[2], 4); return;           // FIOGETOWN, SIOCGPGRP, SIOCATMARK
    case 0x8912: {                                                           // SIOCGIFCONF
      x.out(a[2], 16);
      struct { i32 length; u32 pad; u64 buffer; } conf{};
      read_memory(conf, a[2]);
      if (conf.length > 0) x.out(conf.buffer, (u64)conf.length);
      return;
    }
    case 0x8946: x.out(a[2], 40); return;                                    // SIOCETHTOOL: the request only
    default: break;
  }
  if ((request & 0xff00) == 0x8900) {
    x.out(a[2], 40);                                                         // an ifreq
  } else if (request >> 30 & 2) {                                            // _IOC_READ
    x.out(a[2], request >> 16 & 0x3fff);
  }
}
inline void prctl_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  switch ((i32)a[0]) {
    case 2: case 9: case 11: case 19: case 25: case 37: x.out(a[1], 4); return;  // PDEATHSIG, FPEMU, … SUBREAPER
    case 16: x.out(a[1], 16); return;                                        // PR_GET_NAME
    case 40: x.out(a[1], 8); return;                                         // PR_GET_TID_ADDRESS
    default: return;
  }
}
inline void fcntl_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  switch ((i32)a[1]) {
    case 5: case 36: x.out(a[2], 32); return;                                // F_GETLK, F_OFD_GETLK
    case 16: x.out(a[2], 8); return;                                         // F_GETOWN_EX
    case 1035: case 1037: case 1039: x.out(a[2], 8); return;                 // F_GET_RW_HINT …
    default: return;
  }
}
inline void waitid_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  x.out(a[2], 128);
  x.out(a[4], 144);
}
inline void wait4_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  x.out(a[1], 4);
  x.out(a[3], 144);
}
inline void sigtimedwait_outs(Exchange& x, const u64* a, long result) {
  if (result > 0) x.out(a[1], 128);
}
/// The commands that shmctl, semctl and msgctl have in common; kInfo fills a smaller structure.
inline constexpr i32 kIpcStat = 2, kIpcInfo = 3, kIpc64 = 0x100;
inline void semctl_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  switch ((i32)a[2] & ~kIpc64) {
    case kIpcStat: case 18: case 20: x.out(a[3], 104); return;  // SEM_STAT, SEM_STAT_ANY
    case kIpcInfo: case 19: x.out(a[3], 40); return;            // SEM_INFO
    case 13: {                                                  // GETALL
      u64 about[13] = {};
      if (!g.replay) sys(__NR_semctl, a[0], 0, kIpcStat, about);
      x.rest(a[3], about[10] * 2);                              // sem_nsems
      return;
    }
    default: return;
  }
}
inline void msgctl_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  switch ((i32)a[1] & ~kIpc64) {
    case kIpcStat: case 11: case 13: x.out(a[2], 120); return;  // MSG_STAT, MSG_STAT_ANY
    case kIpcInfo: case 12: x.out(a[2], 32); return;            // MSG_INFO
    default: return;
  }
}
inline void shmctl_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  switch ((i32)a[1] & ~kIpc64) {
    case kIpcStat: case 13: case 15: x.out(a[2], 112); return;  // SHM_STAT, SHM_STAT_ANY
    case kIpcInfo: x.out(a[2], 72); return;
    case 14: x.out(a[2], 48); return;                           // SHM_INFO
    default: return;
  }
}
inline void mincore_outs(Exchange& x, const u64* a, long result) {
  if (!result) x.out(a[2], (a[1] + kPage - 1) / kPage);
}
inline void capget_outs(Exchange& x, const u64* a, long result) {
  x.out(a[0], 4);
  if (!result) x.out(a[1], 24);
}

// --- what goes in ---------------------------------------------------------------------------------------------------------

template <int kArgument>
inline void path(Ins& ins, const u64* a) { ins.string(a[kArgument]); }
template <int kFirst, int kSecond>
inline void paths(Ins& ins, const u64* a) {
  ins.string(a[kFirst]);
  ins.string(a[kSecond]);
}
template <int kArgument, u64 kSize>
inline void in(Ins& ins, const u64* a) {
  if (a[kArgument]) ins.bytes(a[kArgument], kSize);
}
template <int kArgument, int kLength>
inline void in_sized(Ins& ins, const u64* a) {
  if (a[kArgument]) ins.bytes(a[kArgument], min<u64>((u32)a[kLength], 65536));
}
/// What the operation has no use for is whatever is left in the registers, by hooks of ours too.
inline void futex_ins(Ins& ins, const u64* a) {
  constexpr u32 kTimeout = 1 << 0 | 1 << 6 | 1 << 9 | 1 << 11 | 1 << 13, kSecond = 1 << 3 | 1 << 4 | 1 << 5 | 1 << 11 | 1 << 12,
                kThird = 1 << 4 | 1 << 5 | 1 << 9 | 1 << 10 | 1 << 12;
  u32 operation = 1u << (a[1] & 31);
  if (operation & (kTimeout | kSecond)) ins.number(a[3]);
  if (operation & kSecond) ins.number(a[4]);
  if (operation & kThird) ins.number(a[5]);
}
/// The address of a socket. What stands behind a path is nobody's business, and often what the stack had there.
inline void in_address(Ins& ins, const u64* a) {
  constexpr u16 kUnix = 1;
  u16 family = 0;
  u64 size = min<u64>((u32)a[2], 65536);
  if (size > 2 && read_memory(family, a[1]) && family == kUnix) {
    i64 length = string_length(a[1] + 2, size - 2);
    if (length > 0) size = 2 + min((u64)length, size - 2);
  }
  if (a[1]) ins.bytes(a[1], size);
}
inline void semop_ins(Ins& ins, const u64* a) { ins.bytes(a[1], min<u64>(a[2], 500) * 6); }
inline void msgsnd_ins(Ins& ins, const u64* a) { ins.bytes(a[1], a[2] + 8); }
inline void poll_ins(Ins& ins, const u64* a) {
  // fd and events, not what was left in revents: it is the log's own
  for (u64 i = 0; i < min<u64>(a[1], 4096); ++i) ins.bytes(a[0] + 8 * i, 6);
}
inline void epoll_ctl_ins(Ins& ins, const u64* a) {
  if (a[3] && (i32)a[1] != 2) ins.bytes(a[3], 12);
}

}  // namespace pastcone::runtime::table
