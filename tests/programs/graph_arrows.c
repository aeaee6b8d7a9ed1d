// A server and a client, with one of each thing by which one process can wait for another.
// e2e: stable
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals, ends;
static sigset_t none;
static void on_signal(int s) { (void)s, signals = 1; }
static void on_end(int s) { (void)s, ends = 1; }

static void client(struct sockaddr_in* to, int pipe_end) {
  int s = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(s, (struct sockaddr*)to, sizeof *to)) exit(2);
  char byte = 'a';
  for (int i = 0; i < 2; i++) {  // a question and an answer
    if (write(s, &byte, 1) != 1 || read(s, &byte, 1) != 1) exit(3);
  }
  shutdown(s, SHUT_WR);
  if (read(s, &byte, 1) != 1) exit(4);
  close(pipe_end);
  kill(getppid(), SIGUSR1);
  while (!signals) sigsuspend(&none);
}

int main(void) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof at;
  int listener = socket(AF_INET, SOCK_STREAM, 0), ends_of_pipe[2];
  if (bind(listener, (struct sockaddr*)&at, sizeof at) || listen(listener, 1) || pipe(ends_of_pipe)) return 2;
  getsockname(listener, (struct sockaddr*)&at, &length);
  sigset_t blocked;
  sigemptyset(&none);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigaddset(&blocked, SIGCHLD);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  signal(SIGUSR1, on_signal);
  signal(SIGCHLD, on_end);
  pid_t child = fork();
  if (!child) {
    client(&at, ends_of_pipe[1]);
    return 0;
  }
  close(ends_of_pipe[1]);
  fd_set set;
  FD_ZERO(&set);
  FD_SET(listener, &set);
  if (select(listener + 1, &set, NULL, NULL, NULL) != 1) return 3;
  int s = accept(listener, NULL, NULL);
  char byte;
  struct pollfd one = {.fd = s, .events = POLLIN};
  if (poll(&one, 1, -1) != 1 || read(s, &byte, 1) != 1 || write(s, &byte, 1) != 1) return 4;
  int e = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = 77};
  epoll_ctl(e, EPOLL_CTL_ADD, s, &event);
  if (epoll_wait(e, &event, 1, -1) != 1 || read(s, &byte, 1) != 1 || write(s, &byte, 1) != 1) return 5;
  if (read(s, &byte, 1) != 0 || write(s, &byte, 1) != 1) return 6;   // shut down
  if (read(ends_of_pipe[0], &byte, 1) != 0) return 7;                // closed
  while (!signals) sigsuspend(&none);
  kill(child, SIGUSR1);
  while (!ends) sigsuspend(&none);
  int status;
  if (waitpid(child, &status, 0) != child || status) return 8;
  printf("all of it\n");
  return 0;
}
