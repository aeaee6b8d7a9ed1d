// The table of system calls: for each, what goes in, what comes out, and who handles it. Calls that are not here are
// unsupported. docs/limitations.md names the declined ones.
#include <initializer_list>

#include "call.h"
#include "handlers.h"

namespace pastcone::runtime {
namespace {

// --- what comes out ----------------------------------------------------------------------------------------------------

template <int kArgument, u64 kSize>
void fixed(Exchange& x, const u64* a, long result) {
  if (!is_error(result)) x.out(a[kArgument], kSize);
}
template <int kFirst, u64 kFirstSize, int kSecond, u64 kSecondSize>
void fixed2(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  x.out(a[kFirst], kFirstSize);
  x.out(a[kSecond], kSecondSize);
}
/// As many bytes as the result says.
template <int kArgument, u64 kUnit = 1>
void counted(Exchange& x, const u64* a, long result) {
  if (result > 0) x.out(a[kArgument], (u64)result * kUnit);
}
/// As getxattr: with size 0 only the length is asked for.
template <int kArgument, int kSize>
void counted_if_asked(Exchange& x, const u64* a, long result) {
  if (result > 0 && a[kSize]) x.out(a[kArgument], (u64)result);
}
/// An address or option with its length beside it: the length comes out first, so replay knows how much follows.
template <int kArgument, int kLength>
void sized(Exchange& x, const u64* a, long result) {
  if (is_error(result) || !a[kArgument] || !a[kLength]) return;
  x.out(a[kLength], 4);
  u32 n = 0;
  read_memory(n, a[kLength]);
  x.out(a[kArgument], min<u64>(n, 4096));
}
/// The rest of a sleep that a signal cut short.
template <int kArgument>
void remainder(Exchange& x, const u64* a, long result) {
  if (result == -EINTR || is_restart(result)) x.out(a[kArgument], 16);
}
void clock_remainder(Exchange& x, const u64* a, long result) {
  if (!(a[1] & 1)) remainder<3>(x, a, result);
}
void poll_outs(Exchange& x, const u64* a, long result) {
  if (result >= 0) x.out(a[0], a[1] * 8);
}
template <bool kTimespec>
void select_outs(Exchange& x, const u64* a, long result) {
  u64 size = ((a[0] & 0xffff) + 63) / 64 * 8;
  if (result >= 0)
    for (int i = 1; i <= 3; ++i) x.out(a[i], size);
  if (result >= 0) x.out(a[4], 16);
}
void epoll_outs(Exchange& x, const u64* a, long result) {
  if (result > 0) x.out(a[1], (u64)result * 12);
}
void pipe_outs(Exchange& x, const u64* a, long result) { fixed<0, 8>(x, a, result); }
void msgrcv_outs(Exchange& x, const u64* a, long result) {
  if (result >= 0) x.out(a[1], (u64)result + 8);
}
void mq_outs(Exchange& x, const u64* a, long result) {
  if (result < 0) return;
  x.out(a[1], (u64)result);
  x.out(a[3], 4);
}
void ioctl_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  u32 request = (u32)a[1];
  switch (request) {
    case 0x5401: x.out(a[2], 36); return;                                    // TCGETS
    case 0x5405: x.out(a[2], 18); return;                                    // TCGETA
    case 0x5413: x.out(a[2], 8); return;                                     // TIOCGWINSZ
    case 0x540f: case 0x5411: case 0x541b: case 0x5429: case 0x5424: case 0x5415: case 0x5419:
      x.out(a[2], 4); return;                                                // TIOCGPGRP, TIOCOUTQ, FIONREAD, TIOCGSID …
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
void prctl_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  switch ((i32)a[0]) {
    case 2: case 9: case 11: case 19: case 25: case 37: x.out(a[1], 4); return;  // PDEATHSIG, FPEMU, … SUBREAPER
    case 16: x.out(a[1], 16); return;                                        // PR_GET_NAME
    case 40: x.out(a[1], 8); return;                                         // PR_GET_TID_ADDRESS
    default: return;
  }
}
void fcntl_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  switch ((i32)a[1]) {
    case 5: case 36: x.out(a[2], 32); return;                                // F_GETLK, F_OFD_GETLK
    case 16: x.out(a[2], 8); return;                                         // F_GETOWN_EX
    case 1035: case 1037: case 1039: x.out(a[2], 8); return;                 // F_GET_RW_HINT …
    default: return;
  }
}
void waitid_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  x.out(a[2], 128);
  x.out(a[4], 144);
}
void wait4_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  x.out(a[1], 4);
  x.out(a[3], 144);
}
void sigtimedwait_outs(Exchange& x, const u64* a, long result) {
  if (result > 0) x.out(a[1], 128);
}
/// The commands that shmctl, semctl and msgctl have in common; kInfo fills a smaller structure.
constexpr i32 kIpcStat = 2, kIpcInfo = 3, kIpc64 = 0x100;
void semctl_outs(Exchange& x, const u64* a, long result) {
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
void msgctl_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  switch ((i32)a[1] & ~kIpc64) {
    case kIpcStat: case 11: case 13: x.out(a[2], 120); return;  // MSG_STAT, MSG_STAT_ANY
    case kIpcInfo: case 12: x.out(a[2], 32); return;            // MSG_INFO
    default: return;
  }
}
void shmctl_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  switch ((i32)a[1] & ~kIpc64) {
    case kIpcStat: case 13: case 15: x.out(a[2], 112); return;  // SHM_STAT, SHM_STAT_ANY
    case kIpcInfo: x.out(a[2], 72); return;
    case 14: x.out(a[2], 48); return;                           // SHM_INFO
    default: return;
  }
}
void mincore_outs(Exchange& x, const u64* a, long result) {
  if (!result) x.out(a[2], (a[1] + kPage - 1) / kPage);
}
void capget_outs(Exchange& x, const u64* a, long result) {
  x.out(a[0], 4);
  if (!result) x.out(a[1], 24);
}

// --- what goes in ---------------------------------------------------------------------------------------------------------

template <int kArgument>
void path(Ins& ins, const u64* a) { ins.string(a[kArgument]); }
template <int kFirst, int kSecond>
void paths(Ins& ins, const u64* a) {
  ins.string(a[kFirst]);
  ins.string(a[kSecond]);
}
template <int kArgument, u64 kSize>
void in(Ins& ins, const u64* a) {
  if (a[kArgument]) ins.bytes(a[kArgument], kSize);
}
template <int kArgument, int kLength>
void in_sized(Ins& ins, const u64* a) {
  if (a[kArgument]) ins.bytes(a[kArgument], min<u64>((u32)a[kLength], 65536));
}
void semop_ins(Ins& ins, const u64* a) { ins.bytes(a[1], min<u64>(a[2], 500) * 6); }
void msgsnd_ins(Ins& ins, const u64* a) { ins.bytes(a[1], a[2] + 8); }
void poll_ins(Ins& ins, const u64* a) {
  // fd and events, not what was left in revents: it is the log's own
  for (u64 i = 0; i < min<u64>(a[1], 4096); ++i) ins.bytes(a[0] + 8 * i, 6);
}
void epoll_ctl_ins(Ins& ins, const u64* a) {
  if (a[3] && (i32)a[1] != 2) ins.bytes(a[3], 12);
}

struct Table {
  CallInfo of[kCallCount];
};

constexpr Table make_table() {
  Table t{};
  auto logged = [&](u32 nr, u8 arguments, OutsFunction outs = nullptr, InsFunction ins = nullptr) {
    t.of[nr] = {Kind::kLogged, arguments, ins, outs, nullptr};
  };
  auto sleeps = [&](u32 nr, u8 arguments, OutsFunction outs = nullptr, InsFunction ins = nullptr) {
    t.of[nr] = {Kind::kBlocking, arguments, ins, outs, nullptr};
  };
  auto custom = [&](u32 nr, u8 arguments, Handler handler, OutsFunction outs = nullptr, InsFunction ins = nullptr) {
    t.of[nr] = {Kind::kCustom, arguments, ins, outs, handler};
  };
  auto native = [&](u32 nr, u8 arguments) { t.of[nr] = {Kind::kNative, arguments, nullptr, nullptr, nullptr}; };
  auto declined = [&](u32 nr) { t.of[nr] = {Kind::kDeclined, 0, nullptr, nullptr, nullptr}; };

  // bytes
  custom(__NR_read, 3, handle_read);
  custom(__NR_readv, 3, handle_read);
  custom(__NR_pread64, 4, handle_read);
  custom(__NR_preadv, 5, handle_read);
  custom(__NR_preadv2, 6, handle_read);
  custom(__NR_recvfrom, 6, handle_read);
  custom(__NR_recvmsg, 3, handle_read);
  custom(__NR_recvmmsg, 5, handle_read);
  custom(__NR_write, 3, handle_write);
  custom(__NR_writev, 3, handle_write);
  custom(__NR_pwrite64, 4, handle_write);
  custom(__NR_pwritev, 5, handle_write);
  custom(__NR_pwritev2, 6, handle_write);
  custom(__NR_sendto, 6, handle_write);
  custom(__NR_sendmsg, 3, handle_write);
  custom(__NR_sendmmsg, 4, handle_write);
  custom(__NR_sendfile, 4, handle_sendfile, fixed<2, 8>);

  // descriptors
  custom(__NR_open, 3, handle_open, nullptr, path<0>);
  custom(__NR_openat, 4, handle_open, nullptr, path<1>);
  custom(__NR_openat2, 4, handle_open, nullptr, path<1>);
  custom(__NR_creat, 2, handle_open, nullptr, path<0>);
  custom(__NR_close, 1, handle_close);
  custom(__NR_close_range, 3, handle_close_range);
  custom(__NR_dup, 1, handle_dup);
  custom(__NR_dup2, 2, handle_dup);
  custom(__NR_dup3, 3, handle_dup);
  custom(__NR_fcntl, 3, handle_fcntl, fcntl_outs);
  custom(__NR_ioctl, 3, handle_ioctl, ioctl_outs);
  custom(__NR_pipe, 1, handle_pipe, pipe_outs);
  custom(__NR_pipe2, 2, handle_pipe, pipe_outs);
  custom(__NR_eventfd, 1, handle_new_fd);
  custom(__NR_eventfd2, 2, handle_new_fd);
  custom(__NR_epoll_create, 1, handle_new_fd);
  custom(__NR_epoll_create1, 1, handle_new_fd);
  custom(__NR_timerfd_create, 2, handle_new_fd);
  custom(__NR_signalfd, 3, handle_signalfd, nullptr, in<1, 8>);
  custom(__NR_signalfd4, 4, handle_signalfd, nullptr, in<1, 8>);
  custom(__NR_inotify_init, 0, handle_new_fd);
  custom(__NR_inotify_init1, 1, handle_new_fd);
  custom(__NR_memfd_create, 2, handle_new_fd, nullptr, path<0>);
  custom(__NR_pidfd_open, 2, handle_new_fd);
  custom(__NR_pidfd_getfd, 3, handle_new_fd);
  custom(__NR_mq_open, 4, handle_new_fd, nullptr, path<0>);
  custom(__NR_fanotify_init, 2, handle_new_fd);

  // sockets
  custom(__NR_socket, 3, handle_socket);
  custom(__NR_socketpair, 4, handle_socketpair, fixed<3, 8>);
  custom(__NR_bind, 3, handle_bind, nullptr, in_sized<1, 2>);
  custom(__NR_connect, 3, handle_connect, nullptr, in_sized<1, 2>);
  custom(__NR_accept, 3, handle_accept);
  custom(__NR_accept4, 4, handle_accept);
  logged(__NR_listen, 2);
  custom(__NR_shutdown, 2, handle_shutdown);
  logged(__NR_getsockname, 3, sized<1, 2>);
  custom(__NR_getpeername, 3, handle_getpeername, sized<1, 2>);
  logged(__NR_setsockopt, 5, nullptr, in_sized<3, 4>);
  logged(__NR_getsockopt, 5, sized<3, 4>);

  // waiting
  custom(__NR_poll, 3, handle_poll, poll_outs, poll_ins);
  custom(__NR_ppoll, 5, handle_poll, poll_outs, poll_ins);
  custom(__NR_select, 5, handle_poll, select_outs<false>);
  custom(__NR_pselect6, 6, handle_poll, select_outs<true>);
  custom(__NR_epoll_wait, 4, handle_poll, epoll_outs);
  custom(__NR_epoll_pwait, 6, handle_poll, epoll_outs);
  custom(__NR_epoll_pwait2, 6, handle_poll, epoll_outs);
  logged(__NR_epoll_ctl, 4, nullptr, epoll_ctl_ins);
  custom(__NR_nanosleep, 2, handle_sleep, remainder<1>, in<0, 16>);
  custom(__NR_clock_nanosleep, 4, handle_sleep, clock_remainder, in<2, 16>);
  custom(__NR_pause, 0, handle_pause);
  custom(__NR_futex, 6, handle_futex);
  custom(__NR_sched_yield, 0, handle_yield);
  sleeps(__NR_flock, 2);
  sleeps(__NR_semop, 3, nullptr, semop_ins);
  sleeps(__NR_semtimedop, 4, nullptr, semop_ins);
  sleeps(__NR_msgsnd, 4, nullptr, msgsnd_ins);
  sleeps(__NR_msgrcv, 5, msgrcv_outs);
  sleeps(__NR_mq_timedsend, 5, nullptr, in_sized<1, 2>);
  sleeps(__NR_mq_timedreceive, 5, mq_outs);

  // memory
  custom(__NR_mmap, 6, handle_mmap);
  custom(__NR_munmap, 2, handle_munmap);
  custom(__NR_mremap, 5, handle_mremap);
  custom(__NR_mprotect, 3, handle_mprotect);
  custom(__NR_shmat, 3, handle_shmat);
  custom(__NR_shmdt, 1, handle_shmdt);
  custom(__NR_brk, 1, handle_brk);
  custom(__NR_madvise, 3, handle_madvise);
  logged(__NR_mlock, 2);
  logged(__NR_mlock2, 3);
  logged(__NR_munlock, 2);
  logged(__NR_mlockall, 1);
  logged(__NR_munlockall, 0);
  sleeps(__NR_msync, 3);
  logged(__NR_mincore, 3, mincore_outs);
  logged(__NR_mbind, 6);
  logged(__NR_set_mempolicy, 3);
  logged(__NR_get_mempolicy, 5, fixed<0, 4>);
  logged(__NR_membarrier, 3);
  declined(__NR_pkey_alloc);
  declined(__NR_pkey_free);
  declined(__NR_pkey_mprotect);
  declined(__NR_remap_file_pages);

  // processes and threads
  custom(__NR_clone, 5, handle_clone);
  custom(__NR_fork, 0, handle_clone);
  custom(__NR_vfork, 0, handle_clone);
  declined(__NR_clone3);
  custom(__NR_execve, 3, handle_execve, nullptr, path<0>);
  custom(__NR_execveat, 5, handle_execve, nullptr, path<1>);
  custom(__NR_exit, 1, handle_exit);
  custom(__NR_exit_group, 1, handle_exit_group);
  sleeps(__NR_wait4, 4, wait4_outs);
  sleeps(__NR_waitid, 5, waitid_outs);
  logged(__NR_getpid, 0);
  logged(__NR_gettid, 0);
  custom(__NR_getppid, 0, handle_getppid);
  custom(__NR_set_tid_address, 1, handle_set_tid_address);
  custom(__NR_set_robust_list, 2, handle_set_robust_list);
  logged(__NR_get_robust_list, 3, fixed2<1, 8, 2, 8>);
  declined(__NR_rseq);
  custom(__NR_arch_prctl, 2, handle_arch_prctl);
  custom(__NR_prctl, 5, handle_prctl, prctl_outs);
  logged(__NR_setsid, 0);
  logged(__NR_getsid, 1);
  logged(__NR_setpgid, 2);
  logged(__NR_getpgid, 1);
  logged(__NR_getpgrp, 0);
  logged(__NR_kill, 2);
  logged(__NR_tkill, 2);
  logged(__NR_tgkill, 3);
  logged(__NR_rt_sigqueueinfo, 3, nullptr, in<2, 128>);
  logged(__NR_rt_tgsigqueueinfo, 4, nullptr, in<3, 128>);
  logged(__NR_pidfd_send_signal, 4);
  logged(__NR_getuid, 0);
  logged(__NR_geteuid, 0);
  logged(__NR_getgid, 0);
  logged(__NR_getegid, 0);
  logged(__NR_setuid, 1);
  logged(__NR_setgid, 1);
  logged(__NR_setreuid, 2);
  logged(__NR_setregid, 2);
  logged(__NR_setresuid, 3);
  logged(__NR_setresgid, 3);
  logged(__NR_setfsuid, 1);
  logged(__NR_setfsgid, 1);
  logged(__NR_getgroups, 2, counted_if_asked<1, 0>);
  t.of[__NR_getgroups].outs = [](Exchange& x, const u64* a, long result) {
    if (result > 0 && a[0]) x.out(a[1], (u64)result * 4);
  };
  logged(__NR_setgroups, 2);
  logged(__NR_getresuid, 3, [](Exchange& x, const u64* a, long result) {
    if (!is_error(result)) for (int i = 0; i < 3; ++i) x.out(a[i], 4);
  });
  logged(__NR_getresgid, 3, t.of[__NR_getresuid].outs);
  logged(__NR_capget, 2, capget_outs);
  logged(__NR_capset, 2);
  logged(__NR_getpriority, 2);
  logged(__NR_setpriority, 3);
  custom(__NR_getrlimit, 2, handle_rlimit, fixed<1, 16>);
  custom(__NR_setrlimit, 2, handle_rlimit, nullptr, in<1, 16>);
  custom(__NR_prlimit64, 4, handle_rlimit, fixed<3, 16>);
  logged(__NR_getrusage, 2, fixed<1, 144>);
  logged(__NR_times, 1, fixed<0, 32>);
  logged(__NR_sched_getaffinity, 3, counted<2>);
  logged(__NR_sched_setaffinity, 3);
  logged(__NR_sched_getparam, 2, fixed<1, 4>);
  logged(__NR_sched_setparam, 2);
  logged(__NR_sched_getscheduler, 1);
  logged(__NR_sched_setscheduler, 3);
  logged(__NR_sched_get_priority_max, 1);
  logged(__NR_sched_get_priority_min, 1);
  logged(__NR_sched_rr_get_interval, 2, fixed<1, 16>);
  logged(__NR_sched_setattr, 3);
  logged(__NR_sched_getattr, 4, [](Exchange& x, const u64* a, long result) { if (!result) x.out(a[1], a[2] & 0xffff); });
  logged(__NR_getcpu, 3, fixed2<0, 4, 1, 4>);
  logged(__NR_ioprio_get, 2);
  logged(__NR_ioprio_set, 3);
  logged(__NR_personality, 1);
  logged(__NR_kcmp, 5);
  logged(__NR_unshare, 1);
  logged(__NR_setns, 2);
  logged(__NR_chroot, 1, nullptr, path<0>);
  logged(__NR_pivot_root, 2, nullptr, paths<0, 1>);
  logged(__NR_mount, 5);
  logged(__NR_umount2, 2);
  logged(__NR_sethostname, 2);
  custom(__NR_seccomp, 3, handle_seccomp);
  declined(__NR_ptrace);
  t.of[__NR_ptrace] = {Kind::kCustom, 4, nullptr, nullptr, handle_ptrace};

  // signals
  custom(__NR_rt_sigaction, 4, handle_sigaction);
  custom(__NR_rt_sigprocmask, 4, handle_sigprocmask);
  custom(__NR_rt_sigreturn, 0, handle_sigreturn);
  custom(__NR_rt_sigpending, 2, handle_sigpending, fixed<0, 8>);
  custom(__NR_rt_sigsuspend, 2, handle_sigsuspend);
  custom(__NR_rt_sigtimedwait, 4, handle_sigtimedwait, sigtimedwait_outs);
  custom(__NR_sigaltstack, 2, handle_sigaltstack);

  // time
  custom(__NR_clock_gettime, 2, handle_clock_gettime);
  custom(__NR_gettimeofday, 2, handle_gettimeofday);
  custom(__NR_time, 1, handle_time);
  logged(__NR_clock_getres, 2, fixed<1, 16>);
  logged(__NR_clock_settime, 2);
  logged(__NR_settimeofday, 2);
  logged(__NR_adjtimex, 1, fixed<0, 208>);
  logged(__NR_clock_adjtime, 2, fixed<1, 208>);
  logged(__NR_alarm, 1);
  logged(__NR_getitimer, 2, fixed<1, 32>);
  logged(__NR_setitimer, 3, fixed<2, 32>, in<1, 32>);
  logged(__NR_timer_create, 3, fixed<2, 4>);
  logged(__NR_timer_settime, 4, fixed<3, 32>, in<2, 32>);
  logged(__NR_timer_gettime, 2, fixed<1, 32>);
  logged(__NR_timer_getoverrun, 1);
  logged(__NR_timer_delete, 1);
  logged(__NR_timerfd_settime, 4, fixed<3, 32>, in<2, 32>);
  logged(__NR_timerfd_gettime, 2, fixed<1, 32>);
  logged(__NR_getrandom, 3, counted<0>);

  // files
  logged(__NR_stat, 2, fixed<1, 144>, path<0>);
  logged(__NR_lstat, 2, fixed<1, 144>, path<0>);
  logged(__NR_fstat, 2, fixed<1, 144>);
  logged(__NR_newfstatat, 4, fixed<2, 144>, path<1>);
  logged(__NR_statx, 5, fixed<4, 256>, path<1>);
  logged(__NR_statfs, 2, fixed<1, 120>, path<0>);
  logged(__NR_fstatfs, 2, fixed<1, 120>);
  logged(__NR_ustat, 2, fixed<1, 32>);
  logged(__NR_lseek, 3);
  logged(__NR_access, 2, nullptr, path<0>);
  logged(__NR_faccessat, 3, nullptr, path<1>);
  logged(__NR_faccessat2, 4, nullptr, path<1>);
  custom(__NR_readlink, 3, handle_readlink, counted<1>, path<0>);
  custom(__NR_readlinkat, 4, handle_readlink, counted<2>, path<1>);
  logged(__NR_getcwd, 2, counted<0>);
  logged(__NR_chdir, 1, nullptr, path<0>);
  logged(__NR_fchdir, 1);
  logged(__NR_getdents, 3, counted<1>);
  logged(__NR_getdents64, 3, counted<1>);
  logged(__NR_mkdir, 2, nullptr, path<0>);
  logged(__NR_mkdirat, 3, nullptr, path<1>);
  logged(__NR_rmdir, 1, nullptr, path<0>);
  logged(__NR_rename, 2, nullptr, paths<0, 1>);
  logged(__NR_renameat, 4, nullptr, paths<1, 3>);
  logged(__NR_renameat2, 5, nullptr, paths<1, 3>);
  logged(__NR_link, 2, nullptr, paths<0, 1>);
  logged(__NR_linkat, 5, nullptr, paths<1, 3>);
  logged(__NR_symlink, 2, nullptr, paths<0, 1>);
  logged(__NR_symlinkat, 3, nullptr, paths<0, 2>);
  logged(__NR_unlink, 1, nullptr, path<0>);
  logged(__NR_unlinkat, 3, nullptr, path<1>);
  logged(__NR_mknod, 3, nullptr, path<0>);
  logged(__NR_mknodat, 4, nullptr, path<1>);
  logged(__NR_chmod, 2, nullptr, path<0>);
  logged(__NR_fchmod, 2);
  logged(__NR_fchmodat, 3, nullptr, path<1>);
  logged(__NR_chown, 3, nullptr, path<0>);
  logged(__NR_fchown, 3);
  logged(__NR_lchown, 3, nullptr, path<0>);
  logged(__NR_fchownat, 5, nullptr, path<1>);
  logged(__NR_umask, 1);
  logged(__NR_utime, 2, nullptr, path<0>);
  logged(__NR_utimes, 2, nullptr, path<0>);
  logged(__NR_futimesat, 3, nullptr, path<1>);
  logged(__NR_utimensat, 4, nullptr, path<1>);
  logged(__NR_truncate, 2, nullptr, path<0>);
  custom(__NR_ftruncate, 2, handle_ftruncate);
  logged(__NR_fallocate, 4);
  logged(__NR_fadvise64, 4);
  logged(__NR_readahead, 3);
  sleeps(__NR_sync, 0);
  sleeps(__NR_syncfs, 1);
  sleeps(__NR_fsync, 1);
  sleeps(__NR_fdatasync, 1);
  sleeps(__NR_sync_file_range, 4);
  logged(__NR_setxattr, 5, nullptr, paths<0, 1>);
  logged(__NR_lsetxattr, 5, nullptr, paths<0, 1>);
  logged(__NR_fsetxattr, 5, nullptr, path<1>);
  logged(__NR_getxattr, 4, counted_if_asked<2, 3>, paths<0, 1>);
  logged(__NR_lgetxattr, 4, counted_if_asked<2, 3>, paths<0, 1>);
  logged(__NR_fgetxattr, 4, counted_if_asked<2, 3>, path<1>);
  logged(__NR_listxattr, 3, counted_if_asked<1, 2>, path<0>);
  logged(__NR_llistxattr, 3, counted_if_asked<1, 2>, path<0>);
  logged(__NR_flistxattr, 3, counted_if_asked<1, 2>);
  logged(__NR_removexattr, 2, nullptr, paths<0, 1>);
  logged(__NR_lremovexattr, 2, nullptr, paths<0, 1>);
  logged(__NR_fremovexattr, 2, nullptr, path<1>);
  logged(__NR_inotify_add_watch, 3, nullptr, path<1>);
  logged(__NR_inotify_rm_watch, 2);
  logged(__NR_mq_unlink, 1, nullptr, path<0>);
  logged(__NR_mq_getsetattr, 3, fixed<2, 64>);
  logged(__NR_mq_notify, 2);
  logged(__NR_semget, 3);
  logged(__NR_semctl, 4, semctl_outs);
  logged(__NR_msgget, 2);
  logged(__NR_msgctl, 3, msgctl_outs);
  logged(__NR_shmget, 3);
  logged(__NR_shmctl, 3, shmctl_outs);
  logged(__NR_uname, 1, fixed<0, 390>);
  logged(__NR_sysinfo, 1, fixed<0, 112>);
  logged(__NR_syslog, 3, counted<1>);
  logged(__NR_add_key, 5);
  logged(__NR_request_key, 4);
  logged(__NR_keyctl, 5);
  logged(__NR_getpgrp, 0);
  logged(__NR_vhangup, 0);

  // programs fall back from these
  for (u32 nr : {__NR_splice, __NR_tee, __NR_vmsplice, __NR_copy_file_range, __NR_io_uring_enter, __NR_io_uring_register,
                 __NR_io_submit, __NR_io_getevents, __NR_io_destroy, __NR_io_cancel, __NR_io_pgetevents,
                 __NR_process_madvise, __NR_memfd_secret, __NR_landlock_create_ruleset, __NR_landlock_add_rule,
                 __NR_landlock_restrict_self, __NR_futex_waitv, __NR_name_to_handle_at, __NR_open_by_handle_at})
    declined(nr);
  // and from some of these, which the user should know about
  for (u32 nr : {__NR_io_uring_setup, __NR_io_setup, __NR_userfaultfd, __NR_bpf, __NR_perf_event_open,
                 __NR_process_vm_readv, __NR_process_vm_writev})
    t.of[nr] = {Kind::kDenied, 0, nullptr, nullptr, nullptr};
  native(__NR_restart_syscall, 0);
  return t;
}

constexpr Table kTable = make_table();

}  // namespace

const CallInfo* const call_table = kTable.of;

const char* call_name(u32 number) {
  switch (number) {
#define PASTCONE_CALL(nr, name) \
  case nr: return #name;
#include "pastcone/trace/calls.inc"
#undef PASTCONE_CALL
    default: return "?";
  }
}

}  // namespace pastcone::runtime
