// Rows of the table: memory, processes and threads, signals, time.
#pragma once

#include "call_table.h"

namespace pastcone::runtime::table {

constexpr void add_process_calls(Table& t) {
  // memory
  t.custom(__NR_mmap, 6, handle_mmap);
  t.custom(__NR_munmap, 2, handle_munmap);
  t.custom(__NR_mremap, 5, handle_mremap);
  t.custom(__NR_mprotect, 3, handle_mprotect);
  t.custom(__NR_shmat, 3, handle_shmat);
  t.custom(__NR_shmdt, 1, handle_shmdt);
  t.custom(__NR_brk, 1, handle_brk);
  t.custom(__NR_madvise, 3, handle_madvise);
  t.logged(__NR_mlock, 2);
  t.logged(__NR_mlock2, 3);
  t.logged(__NR_munlock, 2);
  t.custom(__NR_mlockall, 1, handle_mlockall);
  t.logged(__NR_munlockall, 0);
  t.sleeps(__NR_msync, 3);
  t.logged(__NR_mincore, 3, mincore_outs);
  t.logged(__NR_mbind, 6);
  t.logged(__NR_set_mempolicy, 3);
  t.logged(__NR_get_mempolicy, 5, fixed<0, 4>);
  t.logged(__NR_membarrier, 3);
  t.declined(__NR_pkey_alloc);
  t.declined(__NR_pkey_free);
  t.declined(__NR_pkey_mprotect);
  t.declined(__NR_remap_file_pages);

  // processes and threads
  t.custom(__NR_clone, 5, handle_clone);
  t.custom(__NR_fork, 0, handle_clone);
  t.custom(__NR_vfork, 0, handle_clone);
  t.declined(__NR_clone3);
  t.custom(__NR_execve, 3, handle_execve, nullptr, path<0>);
  t.custom(__NR_execveat, 5, handle_execve, nullptr, path<1>);
  t.custom(__NR_exit, 1, handle_exit);
  t.custom(__NR_exit_group, 1, handle_exit_group);
  t.sleeps(__NR_wait4, 4, wait4_outs);
  t.sleeps(__NR_waitid, 5, waitid_outs);
  t.logged(__NR_getpid, 0);
  t.logged(__NR_gettid, 0);
  t.custom(__NR_getppid, 0, handle_getppid);
  t.custom(__NR_set_tid_address, 1, handle_set_tid_address);
  t.custom(__NR_set_robust_list, 2, handle_set_robust_list);
  t.logged(__NR_get_robust_list, 3, fixed2<1, 8, 2, 8>);
  t.declined(__NR_rseq);
  t.custom(__NR_arch_prctl, 2, handle_arch_prctl);
  t.custom(__NR_prctl, 5, handle_prctl, prctl_outs);
  t.logged(__NR_setsid, 0);
  t.logged(__NR_getsid, 1);
  t.logged(__NR_setpgid, 2);
  t.logged(__NR_getpgid, 1);
  t.logged(__NR_getpgrp, 0);
  t.logged(__NR_kill, 2);
  t.logged(__NR_tkill, 2);
  t.logged(__NR_tgkill, 3);
  t.logged(__NR_rt_sigqueueinfo, 3, nullptr, in<2, 128>);
  t.logged(__NR_rt_tgsigqueueinfo, 4, nullptr, in<3, 128>);
  t.logged(__NR_pidfd_send_signal, 4);
  t.logged(__NR_getuid, 0);
  t.logged(__NR_geteuid, 0);
  t.logged(__NR_getgid, 0);
  t.logged(__NR_getegid, 0);
  t.logged(__NR_setuid, 1);
  t.logged(__NR_setgid, 1);
  t.logged(__NR_setreuid, 2);
  t.logged(__NR_setregid, 2);
  t.logged(__NR_setresuid, 3);
  t.logged(__NR_setresgid, 3);
  t.logged(__NR_setfsuid, 1);
  t.logged(__NR_setfsgid, 1);
  t.logged(__NR_getgroups, 2, [](Exchange& x, const u64* a, long result) {
    if (result > 0 && a[0]) x.out(a[1], (u64)result * 4);
  });
  t.logged(__NR_setgroups, 2);
  t.logged(__NR_getresuid, 3, [](Exchange& x, const u64* a, long result) {
    if (!is_error(result)) for (int i = 0; i < 3; ++i) x.out(a[i], 4);
  });
  t.logged(__NR_getresgid, 3, t.of[__NR_getresuid].outs);
  t.logged(__NR_capget, 2, capget_outs);
  t.logged(__NR_capset, 2);
  t.logged(__NR_getpriority, 2);
  t.logged(__NR_setpriority, 3);
  t.custom(__NR_getrlimit, 2, handle_rlimit, fixed<1, 16>);
  t.custom(__NR_setrlimit, 2, handle_rlimit, nullptr, in<1, 16>);
  t.custom(__NR_prlimit64, 4, handle_rlimit, fixed<3, 16>);
  t.logged(__NR_getrusage, 2, fixed<1, 144>);
  t.logged(__NR_times, 1, fixed<0, 32>);
  t.logged(__NR_sched_getaffinity, 3, counted<2>);
  t.logged(__NR_sched_setaffinity, 3);
  t.logged(__NR_sched_getparam, 2, fixed<1, 4>);
  t.logged(__NR_sched_setparam, 2);
  t.logged(__NR_sched_getscheduler, 1);
  t.logged(__NR_sched_setscheduler, 3);
  t.logged(__NR_sched_get_priority_max, 1);
  t.logged(__NR_sched_get_priority_min, 1);
  t.logged(__NR_sched_rr_get_interval, 2, fixed<1, 16>);
  t.logged(__NR_sched_setattr, 3);
  t.logged(__NR_sched_getattr, 4, [](Exchange& x, const u64* a, long result) { if (!result) x.out(a[1], a[2] & 0xffff); });
  t.logged(__NR_getcpu, 3, fixed2<0, 4, 1, 4>);
  t.logged(__NR_ioprio_get, 2);
  t.logged(__NR_ioprio_set, 3);
  t.logged(__NR_personality, 1);
  t.logged(__NR_kcmp, 5);
  t.custom(__NR_unshare, 1, handle_unshare);
  t.logged(__NR_setns, 2);
  t.logged(__NR_chroot, 1, nullptr, path<0>);
  t.logged(__NR_pivot_root, 2, nullptr, paths<0, 1>);
  t.logged(__NR_mount, 5);
  t.logged(__NR_umount2, 2);
  t.logged(__NR_sethostname, 2);
  t.custom(__NR_seccomp, 3, handle_seccomp);
  t.custom(__NR_ptrace, 4, handle_ptrace);

  // signals
  t.custom(__NR_rt_sigaction, 4, handle_sigaction);
  t.custom(__NR_rt_sigprocmask, 4, handle_sigprocmask);
  t.custom(__NR_rt_sigreturn, 0, handle_sigreturn);
  t.custom(__NR_rt_sigpending, 2, handle_sigpending, fixed<0, 8>);
  t.custom(__NR_rt_sigsuspend, 2, handle_sigsuspend);
  t.custom(__NR_rt_sigtimedwait, 4, handle_sigtimedwait, sigtimedwait_outs);
  t.custom(__NR_sigaltstack, 2, handle_sigaltstack);

  // time
  t.custom(__NR_clock_gettime, 2, handle_clock_gettime);
  t.custom(__NR_gettimeofday, 2, handle_gettimeofday);
  t.custom(__NR_time, 1, handle_time);
  t.logged(__NR_clock_getres, 2, fixed<1, 16>);
  t.logged(__NR_clock_settime, 2);
  t.logged(__NR_settimeofday, 2);
  t.logged(__NR_adjtimex, 1, fixed<0, 208>);
  t.logged(__NR_clock_adjtime, 2, fixed<1, 208>);
  t.logged(__NR_alarm, 1);
  t.logged(__NR_getitimer, 2, fixed<1, 32>);
  t.logged(__NR_setitimer, 3, fixed<2, 32>, in<1, 32>);
  t.logged(__NR_timer_create, 3, fixed<2, 4>);
  t.logged(__NR_timer_settime, 4, fixed<3, 32>, in<2, 32>);
  t.logged(__NR_timer_gettime, 2, fixed<1, 32>);
  t.logged(__NR_timer_getoverrun, 1);
  t.logged(__NR_timer_delete, 1);
  t.logged(__NR_timerfd_settime, 4, fixed<3, 32>, in<2, 32>);
  t.logged(__NR_timerfd_gettime, 2, fixed<1, 32>);
  t.logged(__NR_getrandom, 3, counted<0>);
}

}  // namespace pastcone::runtime::table
