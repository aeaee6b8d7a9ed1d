// The calls that are more than their row in the table, by the file that has them.
#pragma once

#include "call.h"

namespace pastcone::runtime {

// io.cc
long handle_read(Call& c);
long handle_write(Call& c);
// sendfile.cc
long handle_sendfile(Call& c);
// descriptors.cc
long handle_open(Call& c);
long handle_close(Call& c);
long handle_close_range(Call& c);
long handle_dup(Call& c);
long handle_fcntl(Call& c);
long handle_ioctl(Call& c);
long handle_pipe(Call& c);
long handle_new_fd(Call& c);
long handle_signalfd(Call& c);
long handle_readlink(Call& c);
// sockets.cc
long handle_socket(Call& c);
long handle_socketpair(Call& c);
long handle_bind(Call& c);
long handle_connect(Call& c);
long handle_accept(Call& c);
long handle_shutdown(Call& c);
long handle_getpeername(Call& c);
// waiting.cc
long handle_poll(Call& c);
long handle_sleep(Call& c);
long handle_pause(Call& c);
long handle_futex(Call& c);
long handle_pi_futex(Call& c);
long handle_yield(Call& c);
// maps.cc
long handle_mmap(Call& c);
long handle_munmap(Call& c);
long handle_mremap(Call& c);
long handle_ftruncate(Call& c);
/// In parallel mode locks are ordered elsewhere, and what they do with the kernel is nobody's business: it happens in both modes,
/// and leaves no event.
bool passes_by(Call& c);
long pass_call(Call& c);
/// Record: a handler is about to run between two ordered operations, or inside one.
void note_signals_inside(Call& c);
long handle_mprotect(Call& c);
long handle_semop(Call& c);
long handle_msgsnd(Call& c);
long handle_msgrcv(Call& c);
long handle_shmat(Call& c);
long handle_shmdt(Call& c);
long handle_brk(Call& c);
long handle_madvise(Call& c);
// processes.cc, process_ends.cc, exec.cc, identity.cc
long handle_unshare(Call& c);
long handle_clone(Call& c);
/// Replay, parallel mode: if the call was one that found a child to have ended, so it has. Both share memory, where what the
/// child did must be done.
void await_ended_child(Call& c);
inline void set_tid_word(u64 address, u32 tid) {
  if (address) write_memory(address, &tid, 4);
}
long handle_execve(Call& c);
long handle_exit(Call& c);
long handle_exit_group(Call& c);
long handle_getppid(Call& c);
long handle_set_tid_address(Call& c);
long handle_set_robust_list(Call& c);
long handle_arch_prctl(Call& c);
long handle_prctl(Call& c);
long handle_seccomp(Call& c);
long handle_ptrace(Call& c);
// locked_memory.cc
long handle_mlockall(Call& c);
// address_limit.cc
long handle_rlimit(Call& c);
// signals.cc
long handle_sigaction(Call& c);
long handle_sigprocmask(Call& c);
long handle_sigreturn(Call& c);
long handle_sigpending(Call& c);
long handle_sigsuspend(Call& c);
long handle_sigtimedwait(Call& c);
long handle_sigaltstack(Call& c);
// clocks.cc
long handle_clock_gettime(Call& c);
long handle_gettimeofday(Call& c);
long handle_time(Call& c);

}  // namespace pastcone::runtime
