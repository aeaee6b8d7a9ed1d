// epoll, one-shot: silent until armed again, with changing data and epoll_pwait's mask.
// e2e: stable
#include <sys/epoll.h>

#include "common.h"

int main(void) {
  int ends[2], epoll = epoll_create1(0), first = 1, second = 2;
  CHECK(pipe(ends) == 0);
  struct epoll_event event = {EPOLLIN | EPOLLONESHOT, {.ptr = &first}}, got;
  CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    close(ends[0]);
    write_all(ends[1], "abc", 3);
    _exit(0);
  }
  close(ends[1]);
  int n = epoll_wait(epoll, &got, 1, -1);
  say("armed: %d, data %d\n", n, *(int*)got.data.ptr);
  say("fired: %d\n", epoll_wait(epoll, &got, 1, 2));
  event.data.ptr = &second;
  CHECK(epoll_ctl(epoll, EPOLL_CTL_MOD, ends[0], &event) == 0);
  sigset_t all;
  sigfillset(&all);
  n = epoll_pwait(epoll, &got, 1, -1, &all);
  say("armed again: %d, data %d\n", n, *(int*)got.data.ptr);
  char text[4] = "";
  CHECK(read_all(ends[0], text, 3) == 3);
  CHECK(epoll_ctl(epoll, EPOLL_CTL_MOD, ends[0], &event) == 0);
  n = epoll_wait(epoll, &got, 1, -1);
  say("read %s, then hang-up: %d %d\n", text, n, got.events == EPOLLHUP);
  CHECK(epoll_ctl(epoll, EPOLL_CTL_DEL, ends[0], NULL) == 0);
  CHECK(epoll_ctl(epoll, EPOLL_CTL_DEL, ends[0], NULL) < 0);
  say("deleted twice: %s\n", strerror(errno));
  return exit_status(pid);
}
