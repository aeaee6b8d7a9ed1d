// Rows of the table: bytes, descriptors, sockets, waiting.
#pragma once

#include "call_table.h"

namespace pastcone::runtime::table {

constexpr void add_io_calls(Table& t) {
  // bytes
  t.custom(__NR_read, 3, handle_read);
  t.custom(__NR_readv, 3, handle_read);
  t.custom(__NR_pread64, 4, handle_read);
  t.custom(__NR_preadv, 5, handle_read);
  t.custom(__NR_preadv2, 6, handle_read);
  t.custom(__NR_recvfrom, 6, handle_read);
  t.custom(__NR_recvmsg, 3, handle_read);
  t.custom(__NR_recvmmsg, 5, handle_read);
  t.custom(__NR_write, 3, handle_write);
  t.custom(__NR_writev, 3, handle_write);
  t.custom(__NR_pwrite64, 4, handle_write);
  t.custom(__NR_pwritev, 5, handle_write);
  t.custom(__NR_pwritev2, 6, handle_write);
  t.custom(__NR_sendto, 6, handle_write);
  t.custom(__NR_sendmsg, 3, handle_write);
  t.custom(__NR_sendmmsg, 4, handle_write);
  t.custom(__NR_sendfile, 4, handle_sendfile, fixed<2, 8>);

  // descriptors
  t.custom(__NR_open, 3, handle_open, nullptr, path<0>);
  t.custom(__NR_openat, 4, handle_open, nullptr, path<1>);
  t.custom(__NR_openat2, 4, handle_open, nullptr, path<1>);
  t.custom(__NR_creat, 2, handle_open, nullptr, path<0>);
  t.custom(__NR_close, 1, handle_close);
  t.custom(__NR_close_range, 3, handle_close_range);
  t.custom(__NR_dup, 1, handle_dup);
  t.custom(__NR_dup2, 2, handle_dup);
  t.custom(__NR_dup3, 3, handle_dup);
  t.custom(__NR_fcntl, 3, handle_fcntl, fcntl_outs);
  t.custom(__NR_ioctl, 3, handle_ioctl, ioctl_outs);
  t.custom(__NR_pipe, 1, handle_pipe, pipe_outs);
  t.custom(__NR_pipe2, 2, handle_pipe, pipe_outs);
  t.custom(__NR_eventfd, 1, handle_new_fd);
  t.custom(__NR_eventfd2, 2, handle_new_fd);
  t.custom(__NR_epoll_create, 1, handle_new_fd);
  t.custom(__NR_epoll_create1, 1, handle_new_fd);
  t.custom(__NR_timerfd_create, 2, handle_new_fd);
  t.custom(__NR_signalfd, 3, handle_signalfd, nullptr, in<1, 8>);
  t.custom(__NR_signalfd4, 4, handle_signalfd, nullptr, in<1, 8>);
  t.custom(__NR_inotify_init, 0, handle_new_fd);
  t.custom(__NR_inotify_init1, 1, handle_new_fd);
  t.custom(__NR_memfd_create, 2, handle_new_fd, nullptr, path<0>);
  t.custom(__NR_pidfd_open, 2, handle_new_fd);
  t.custom(__NR_mq_open, 4, handle_new_fd, nullptr, path<0>);
  t.custom(__NR_fanotify_init, 2, handle_new_fd);

  // sockets
  t.custom(__NR_socket, 3, handle_socket);
  t.custom(__NR_socketpair, 4, handle_socketpair, fixed<3, 8>);
  t.custom(__NR_bind, 3, handle_bind, nullptr, in_address);
  t.custom(__NR_connect, 3, handle_connect, nullptr, in_address);
  t.custom(__NR_accept, 3, handle_accept);
  t.custom(__NR_accept4, 4, handle_accept);
  t.logged(__NR_listen, 2);
  t.custom(__NR_shutdown, 2, handle_shutdown);
  t.logged(__NR_getsockname, 3, sized<1, 2>);
  t.custom(__NR_getpeername, 3, handle_getpeername, sized<1, 2>);
  t.logged(__NR_setsockopt, 5, nullptr, in_sized<3, 4>);
  t.logged(__NR_getsockopt, 5, sized<3, 4>);

  // waiting
  t.custom(__NR_poll, 3, handle_poll, poll_outs, poll_ins);
  t.custom(__NR_ppoll, 5, handle_poll, poll_outs, poll_ins);
  t.custom(__NR_select, 5, handle_poll, select_outs<false>);
  t.custom(__NR_pselect6, 6, handle_poll, select_outs<true>);
  t.custom(__NR_epoll_wait, 4, handle_poll, epoll_outs);
  t.custom(__NR_epoll_pwait, 6, handle_poll, epoll_outs);
  t.custom(__NR_epoll_pwait2, 6, handle_poll, epoll_outs);
  t.logged(__NR_epoll_ctl, 4, nullptr, epoll_ctl_ins);
  t.custom(__NR_nanosleep, 2, handle_sleep, remainder<1>, in<0, 16>);
  t.custom(__NR_clock_nanosleep, 4, handle_sleep, clock_remainder, in<2, 16>);
  t.custom(__NR_pause, 0, handle_pause);
  t.custom(__NR_futex, 3, handle_futex, nullptr, futex_ins);
  t.custom(__NR_sched_yield, 0, handle_yield);
  t.sleeps(__NR_flock, 2);
  t.custom(__NR_semop, 3, handle_semop, nullptr, semop_ins);
  t.custom(__NR_semtimedop, 4, handle_semop, nullptr, semop_ins);
  t.custom(__NR_msgsnd, 4, handle_msgsnd, nullptr, msgsnd_ins);
  t.custom(__NR_msgrcv, 5, handle_msgrcv, msgrcv_outs);
  t.sleeps(__NR_mq_timedsend, 5, nullptr, in_sized<1, 2>);
  t.sleeps(__NR_mq_timedreceive, 5, mq_outs);
}

}  // namespace pastcone::runtime::table
