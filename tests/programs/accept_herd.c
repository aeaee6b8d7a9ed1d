// Workers that wait by epoll for one listener and race for accept; who came too late is shown.
// e2e: varies
#include <sys/epoll.h>

#include "net.h"

static void serve(int listener, int me, int stop) {
  int epoll = epoll_create1(0), served = 0, late = 0;
  struct epoll_event on_listen = {EPOLLIN, {.fd = listener}}, on_stop = {EPOLLIN, {.fd = stop}}, event;
  CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &on_listen) == 0);
  CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, stop, &on_stop) == 0);
  while (epoll_wait(epoll, &event, 1, -1) == 1 && event.data.fd == listener) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) {
      CHECK(errno == EAGAIN);
      late++;
      continue;
    }
    dprintf(fd, "%d", me);
    close(fd);
    served++;
  }
  say("worker %d served %d, late %d\n", me, served, late);
  _exit(0);
}

int main(void) {
  int listener = listening(SOCK_STREAM, unix_name("herd")), stop[2];
  CHECK(fcntl(listener, F_SETFL, O_NONBLOCK) == 0 && pipe(stop) == 0);
  pid_t workers[3];
  for (int i = 0; i < 3; i++) {
    if ((workers[i] = fork_checked()) == 0) {
      close(stop[1]);
      serve(listener, i, stop[0]);
    }
  }
  for (int i = 0; i < 20; i++) {
    int fd = connected(SOCK_STREAM, unix_name("herd"));
    char by;
    CHECK(read_all(fd, &by, 1) == 1);
    say("%c", by);
    close(fd);
  }
  say("\n");
  close(stop[1]);
  for (int i = 0; i < 3; i++) CHECK(exit_status(workers[i]) == 0);
  return 0;
}
