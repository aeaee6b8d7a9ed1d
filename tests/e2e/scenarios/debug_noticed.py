"""What a process notices of others without receiving anything: that they have hung up, or listen at last. It is in the past of what the
process does then; what it has done itself is not."""
from building import compile_c
from debugging import debug, values

# The child sets `step` before each thing that it does, the parent `got` when it has noticed.
PROGRAM = r"""
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

volatile int step, got;
enum { kPairs = 9 };
static int pairs[kPairs][2], first[2], second[2];
static struct sockaddr_in in;
#define UNTIL(condition) while (!(condition)) usleep(1000)

static void child(int listener) {
  char byte;
  step = 1, write(pairs[0][1], "x", 1);
  step = 2, close(pairs[0][1]);
  step = 3, write(pairs[1][1], "x", 1);
  step = 4, shutdown(pairs[1][1], SHUT_WR);
  step = 5, close(first[0]);
  step = 6, close(second[0]);
  step = 7, close(pairs[2][1]);
  step = 8, shutdown(pairs[3][1], SHUT_RD);
  step = 9, close(pairs[4][1]);
  step = 10, close(pairs[5][1]);
  step = 11, listen(listener, 1);
  step = 12, write(accept(listener, NULL, NULL), "x", 1);
  step = 13, read(pairs[6][1], &byte, 1);
  step = 14, close(pairs[7][1]);
  step = 15, close(pairs[8][1]);
}

static int both(fd_set* set) {
  struct timeval now = {0, 0};
  FD_ZERO(set);
  FD_SET(pairs[4][0], set);
  FD_SET(pairs[5][0], set);
  return select(pairs[5][0] + 1, set, NULL, NULL, &now) == 2;
}

int main(void) {
  struct pollfd hung_up = {0, POLLIN, 0}, broken = {0, 0, 0};
  struct epoll_event event = {EPOLLRDHUP, {0}};
  fd_set set;
  char byte;
  signal(SIGPIPE, SIG_IGN);
  for (int i = 0; i < kPairs; i++) socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]);
  pipe(first), pipe(second);
  int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0), watcher = epoll_create1(0);
  socklen_t size = sizeof in;
  in.sin_family = AF_INET, in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bind(listener, (struct sockaddr*)&in, size), getsockname(listener, (struct sockaddr*)&in, &size);
  write(pairs[2][0], "x", 1);
  if (connect(fd, (struct sockaddr*)&in, sizeof in) == 0) return 1;
  if (fork() == 0) {
    for (int i = 0; i < kPairs; i++) close(pairs[i][0]);
    child(listener);
    _exit(0);
  }
  for (int i = 0; i < kPairs; i++) close(pairs[i][1]);
  close(first[0]), close(second[0]);
  hung_up.fd = pairs[0][0], broken.fd = second[1];
  UNTIL(poll(&hung_up, 1, 0) && hung_up.revents & POLLHUP);
  got = 1;
  epoll_ctl(watcher, EPOLL_CTL_ADD, pairs[1][0], &event), epoll_wait(watcher, &event, 1, -1);
  got = 2;
  UNTIL(write(first[1], "x", 1) < 0 && errno == EPIPE);
  got = 3;
  poll(&broken, 1, -1);
  got = 4;
  if (read(pairs[2][0], &byte, 1) >= 0 || errno != ECONNRESET) return 2;
  got = 5;
  UNTIL(send(pairs[3][0], "x", 1, 0) < 0 && errno == EPIPE);
  got = 6;
  UNTIL(both(&set));
  got = 7;
  read(pairs[4][0], &byte, 1), read(pairs[5][0], &byte, 1);
  UNTIL(connect(fd, (struct sockaddr*)&in, sizeof in) == 0);
  read(fd, &byte, 1);
  got = 8;
  shutdown(pairs[7][0], SHUT_RDWR), shutdown(pairs[8][0], SHUT_WR);
  if (read(pairs[7][0], &byte, 1) != 0 || write(pairs[8][0], "x", 1) >= 0) return 3;
  got = 9;
  write(pairs[6][0], "x", 1);
  wait(NULL);
  return 0;
}
"""

STEPS = {1: 2, 2: 4, 3: 5, 4: 6, 5: 7, 6: 8, 7: 10, 8: 12, 9: 12}  # got → the child's step then


def test_debug_noticed(context):
    """POLLHUP, EPOLLRDHUP, EPIPE, POLLERR, ECONNRESET, several ends at once, a listener that came late."""
    context.need("gdb")
    program, recording = compile_c(context, "noticed", PROGRAM, "-w"), context.path("noticed")
    recorded = context.record(recording, [program])
    context.expect(recorded.status == 0, "recording", recorded)
    commands = [command for got in STEPS for command in (f"stop if p1: got == {got}", "continue", f"delete {got}", "focus p2", "print step")]
    done = debug(context, recording, *commands)
    context.expect(b"cycle" not in done.stderr, "the graph is made without what was noticed", done)
    context.expect(values(done.stdout.decode()) == list(STEPS.values()), f"{values(done.stdout.decode())} instead of {list(STEPS.values())}", done)


UNSURE = r"""
#include <arpa/inet.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

volatile int step, got;

int main(void) {
  struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int ends[2], listener = socket(AF_INET, SOCK_STREAM, 0), bytes = 0;
  socklen_t size = sizeof in;
  pipe(ends), bind(listener, (struct sockaddr*)&in, size), getsockname(listener, (struct sockaddr*)&in, &size);
  int child = fork();
  if (child == 0) {
    step = 1, write(ends[1], "x", 1);
    step = 2, listen(listener, 1);
    sleep(100);
  }
  while (bytes == 0) ioctl(ends[0], FIONREAD, &bytes);
  got = 1;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  while (connect(fd, (struct sockaddr*)&in, sizeof in) != 0) usleep(1000);
  got = 2;
  kill(child, 9);
}
"""


def test_limit_noticed(context):
    """How many bytes there are, and that there is a listener although nobody accepts, is not taken for what others have done."""
    context.need("gdb")
    program, recording = compile_c(context, "unsure", UNSURE, "-w"), context.path("unsure")
    context.record(recording, [program])
    done = debug(context, recording, "stop if p1: got == 2", "continue", "focus p2", "print step")
    context.expect(values(done.stdout.decode()) == [0], "it is in the past now: say so in docs/limitations.md", done)
