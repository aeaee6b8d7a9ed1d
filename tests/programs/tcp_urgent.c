// MSG_OOB: urgent bytes beside the stream, in it (SO_OOBINLINE), one after the other; ordinary bytes before and behind them.
// e2e: varies
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>

#include "net.h"

static void* sleep_on(void* nothing) {
  pause();
  return nothing;
}

static void await_urgent(int fd) {
  struct pollfd ready = {fd, POLLPRI, 0};
  CHECK(poll(&ready, 1, 10000) == 1 && (ready.revents & POLLPRI));
}

// Up to `last`, in as many pieces as it comes.
static void show_to(int fd, char last) {
  char text[64];
  ssize_t n;
  do {
    int at_mark = 0;
    CHECK(ioctl(fd, SIOCATMARK, &at_mark) == 0);
    CHECK((n = recv(fd, text, sizeof text, 0)) > 0);
    say("%s%.*s\n", at_mark ? "at the mark: " : "", (int)n, text);
  } while (text[n - 1] != last);
}

static void take_urgent(int fd) {
  char byte;
  CHECK(recv(fd, &byte, 1, MSG_OOB) == 1);
  say("urgent: %c\n", byte);
}

static int send_all(int fd) {
  char byte;
  CHECK(send(fd, "abc", 3, 0) == 3 && read_all(fd, &byte, 1) == 1);
  CHECK(send(fd, "de", 2, 0) == 2 && send(fd, "fX", 2, MSG_OOB) == 2 && send(fd, "ghi", 3, 0) == 3);
  CHECK(read_all(fd, &byte, 1) == 1);
  CHECK(send(fd, "1", 1, 0) == 1 && send(fd, "Y", 1, MSG_OOB) == 1 && send(fd, "Z", 1, MSG_OOB) == 1);
  CHECK(send(fd, "23", 2, 0) == 2 && read_all(fd, &byte, 1) == 1);
  CHECK(send(fd, "45", 2, 0) == 2 && send(fd, "I", 1, MSG_OOB) == 1 && send(fd, "6", 1, 0) == 1);
  CHECK(read_all(fd, &byte, 1) == 1);
  CHECK(send(fd, "end", 3, 0) == 3);
  show_to(fd, '.');
  return 0;
}

static void exchange(int fd) {
  char byte;
  CHECK(recv(fd, &byte, 1, MSG_OOB) < 0);
  say("none yet: %s\n", strerror(errno));
  show_to(fd, 'c');
  write_all(fd, "+", 1);
  await_urgent(fd);
  take_urgent(fd);
  show_to(fd, 'i');
  write_all(fd, "+", 1);
  show_to(fd, '3');
  write_all(fd, "+", 1);
  int on = 1;
  CHECK(setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof on) == 0);
  show_to(fd, '6');
  write_all(fd, "+", 1);
  show_to(fd, 'd');
  write_all(fd, "and back.", 9);
}

static void run(const char* what, int threads) {
  say("%s\n", what);
  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0)), port = port_of(listener);
  pid_t pid = fork_checked();
  pthread_t thread;
  if (threads) CHECK(pthread_create(&thread, NULL, sleep_on, NULL) == 0);
  if (pid == 0) _exit(send_all(connected(SOCK_STREAM, loopback(AF_INET, port))));
  int fd = accepted(listener);
  exchange(fd);
  CHECK(exit_status(pid) == 0 && close(fd) == 0 && close(listener) == 0);
}

int main(void) {
  run("one thread each", 0);
  run("several threads each", 1);
  return 0;
}
