// For the programs of made_programs.py: actions that log each state of their process, with what it needed of
// others.
//
// A state is what a process shows directly behind an action. `noted` goes up after every one of them, so it
// is the number of the states before; behind an action that shows, nothing of the program has run. Messages
// carry who sent them and in which of his states. Logs are kept in memory, and written at the end.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct Message {
  int process, noted, value;
};
struct Entry {
  const char* what;
  int about, noted, line, x, y, z, process, needed, local;
};
struct Link {
  int ends[2], listener;
  struct sockaddr_in in;
  struct sockaddr_un un;
};

volatile int x, y, noted;
struct Message last;  // received: z is last.value
static int self, count;
static struct Entry entries[20000];
static struct Link links[64];
static pid_t pids[64];
static const char* folder;

static void fail(const char* what) {
  perror(what);
  exit(2);
}

__attribute__((noinline)) static int note(const char* what, int about, int line, int process, int needed,
                                          int local) {
  struct Entry entry = {what, about, noted, line, x, y, last.value, process, needed, local};
  entries[count] = entry;
  noted++;
  return count++;
}

__attribute__((noinline)) static void write_log(void) {
  char path[4096], text[200];
  snprintf(path, sizeof path, "%s/%d", folder, self);
  int file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  if (file < 0) fail(path);
  char* all = (char*)malloc((size_t)(count + 2) * sizeof text);
  size_t size = (size_t)sprintf(all, "pid %d\n", getpid());
  for (const struct Entry* e = entries; e < entries + count; e++)
    size += (size_t)sprintf(all + size, "%s %d %d %d %d %d %d %d %d %d\n", e->what, e->about, e->noted,
                            e->line, e->x, e->y, e->z, e->process, e->needed, e->local);
  if (write(file, all, size) != (ssize_t)size) fail("log");
  close(file);
}

#define SET(name, to)                   \
  do {                                  \
    name = (to);                        \
    note("set", 0, __LINE__, -1, 0, 0); \
  } while (0)
#define LOCAL(to)                             \
  do {                                        \
    local = (to);                             \
    note("local", 0, __LINE__, -1, 0, local); \
  } while (0)
#define SEND(call, channel, to)                   \
  do {                                            \
    struct Message message = {self, noted, (to)}; \
    if ((call) != sizeof message) fail("send");   \
    note("send", channel, __LINE__, -1, 0, 0);    \
  } while (0)
#define RECV(call, channel)                                       \
  do {                                                            \
    if ((call) != sizeof last) fail("recv");                      \
    note("recv", channel, __LINE__, last.process, last.noted, 0); \
  } while (0)
#define TRY(call, channel)                                          \
  do {                                                              \
    ssize_t got = (call);                                           \
    if (got > 0)                                                    \
      note("recv", channel, __LINE__, last.process, last.noted, 0); \
    else                                                            \
      note("try", channel, __LINE__, -1, 0, 0);                     \
  } while (0)
// Two events, on two lines.
#define READY(call)                               \
  do {                                            \
    if ((call) != 1) fail("ready");               \
    ready = note("ready", 0, __LINE__, -1, 0, 0); \
  } while (0)
#define RECV_READY(call, channel)                                 \
  do {                                                            \
    if ((call) != sizeof last) fail("recv");                      \
    entries[ready].process = last.process;                        \
    entries[ready].needed = last.noted;                           \
    note("recv", channel, __LINE__, last.process, last.noted, 0); \
  } while (0)
#define CONNECT(link, address)                                                                              \
  do {                                                                                                      \
    if (connect(links[link].ends[0], (struct sockaddr*)&links[link].address, sizeof links[link].address) != \
        0)                                                                                                  \
      fail("connect");                                                                                      \
    note("connect", link, __LINE__, -1, 0, 0);                                                              \
  } while (0)
#define ACCEPT(link)                                                \
  do {                                                              \
    links[link].ends[1] = accept(links[link].listener, NULL, NULL); \
    if (links[link].ends[1] < 0) fail("accept");                    \
    note("accept", link, __LINE__, -1, 0, 0);                       \
  } while (0)
#define FORK(child)                                 \
  do {                                              \
    pid_t pid = fork();                             \
    if (pid < 0) fail("fork");                      \
    if (pid == 0) {                                 \
      int parent = self;                            \
      self = child, count = 0;                      \
      note("birth", 0, __LINE__, parent, noted, 0); \
      process##child();                             \
      END();                                        \
    }                                               \
    pids[child] = pid;                              \
    note("fork", child, __LINE__, -1, 0, (int)pid); \
  } while (0)
#define FORK_EXEC(child)                                \
  do {                                                  \
    pid_t pid = fork();                                 \
    if (pid < 0) fail("fork");                          \
    if (pid == 0) {                                     \
      execl(program, program, folder, #child, NULL);    \
      fail("exec");                                     \
    }                                                   \
    pids[child] = pid;                                  \
    note("forkexec", child, __LINE__, -1, 0, (int)pid); \
  } while (0)
#define WAIT(child)                                      \
  do {                                                   \
    if (waitpid(pids[child], NULL, 0) < 0) fail("wait"); \
    note("wait", child, __LINE__, -1, 0, 0);             \
  } while (0)
#define KILL(child)                                                \
  do {                                                             \
    union sigval value = {self * 100000 + noted};                  \
    if (sigqueue(pids[child], SIGRTMIN, value) != 0) fail("kill"); \
    note("kill", child, __LINE__, -1, 0, 0);                       \
  } while (0)
#define SUSPEND()                         \
  do {                                    \
    sigset_t none;                        \
    sigemptyset(&none);                   \
    sigsuspend(&none);                    \
    note("woken", 0, __LINE__, -1, 0, 0); \
  } while (0)
#define END()                           \
  do {                                  \
    note("end", 0, __LINE__, -1, 0, 0); \
    write_log();                        \
    _exit(0);                           \
  } while (0)

static void on_signal(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  y = info->si_value.sival_int % 5;
  note("signal", 0, __LINE__, info->si_value.sival_int / 100000, info->si_value.sival_int % 100000, 0);
}

static void catch_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGRTMIN, &action, NULL);
  sigset_t all;
  sigemptyset(&all);
  sigaddset(&all, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &all, NULL);
}

static int watch(int fd, struct epoll_event* event) {
  memset(event, 0, sizeof *event);
  event->events = EPOLLIN;
  int set = epoll_create1(0);
  if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fd, event) != 0) fail("epoll");
  return set;
}

static void make_pair(int link, int type) {
  if (socketpair(AF_UNIX, type, 0, links[link].ends) != 0) fail("socketpair");
}

static void make_pipe(int link, int flags) {
  int ends[2];
  if (pipe2(ends, flags) != 0) fail("pipe");
  links[link].ends[0] = ends[1], links[link].ends[1] = ends[0];
}

static int any_port(struct sockaddr_in* in, int type) {
  socklen_t size = sizeof *in;
  memset(in, 0, sizeof *in);
  in->sin_family = AF_INET;
  in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, type, 0);
  if (bind(fd, (struct sockaddr*)in, size) != 0 || getsockname(fd, (struct sockaddr*)in, &size) != 0)
    fail("bind");
  return fd;
}

static void make_tcp(int link) {
  links[link].listener = any_port(&links[link].in, SOCK_STREAM);
  if (listen(links[link].listener, 4) != 0) fail("listen");
  links[link].ends[0] = socket(AF_INET, SOCK_STREAM, 0);
}

static void bind_unix(int link, int fd) {
  links[link].un.sun_family = AF_UNIX;
  snprintf(links[link].un.sun_path, sizeof links[link].un.sun_path, "%.80s/u%d", folder, link);
  if (bind(fd, (struct sockaddr*)&links[link].un, sizeof links[link].un) != 0) fail("bind");
}

static void make_unix(int link) {
  links[link].listener = socket(AF_UNIX, SOCK_STREAM, 0);
  bind_unix(link, links[link].listener);
  if (listen(links[link].listener, 4) != 0) fail("listen");
  links[link].ends[0] = socket(AF_UNIX, SOCK_STREAM, 0);
}

static void make_named(int link) {
  links[link].ends[1] = socket(AF_UNIX, SOCK_DGRAM, 0);
  bind_unix(link, links[link].ends[1]);
  links[link].ends[0] = socket(AF_UNIX, SOCK_DGRAM, 0);
}
