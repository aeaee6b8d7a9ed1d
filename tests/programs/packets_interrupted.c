// Four senders say the same to a full datagram socket by its name, and a timer interrupts them again and again.
// e2e: varies
#include <sys/time.h>

#include "net.h"

enum { kSenders = 4, kMessages = 150 };

static volatile sig_atomic_t alarms;
static void on_alarm(int sig) {
  (void)sig;
  alarms++;
}

static void send_all(int number, struct Address to) {
  char name[20];
  snprintf(name, sizeof name, "sender%d", number);
  int fd = bound(SOCK_DGRAM, unix_name(name)), interrupted = 0;
  on_signal_flags(SIGALRM, on_alarm, 0);
  struct itimerval often = {{0, 700 + number * 100}, {0, 500}};
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  for (int i = 0; i < kMessages; i++)
    while (sendto(fd, "tick", 4, 0, addr(&to), to.size) < 0) {
      CHECK(errno == EINTR);
      interrupted++;
    }
  often = (struct itimerval){{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  say("sender %d: interrupted %d times\n", number, interrupted);
  _exit(0);
}

int main(void) {
  struct Address name = unix_name("receiver");
  int fd = bound(SOCK_DGRAM, name);
  pid_t pids[kSenders];
  for (int i = 0; i < kSenders; i++) {
    pids[i] = fork_checked();
    if (pids[i] == 0) send_all(i, name);
  }
  static char work[20000];
  for (int i = 0; i < kSenders * kMessages; i++) {
    // Slower than the senders, so that they wait.
    fill_random(work, sizeof work, (uint64_t)i);
    char text[10];
    struct Address from = {.size = sizeof from.storage};
    CHECK(recvfrom(fd, text, sizeof text, 0, addr(&from), &from.size) == 4);
    say("%.4s from %s, %08x\n", text, ((struct sockaddr_un*)&from.storage)->sun_path,
        hash_bytes(HASH_START, work, sizeof work));
  }
  for (int i = 0; i < kSenders; i++) CHECK(exit_status(pids[i]) == 0);
  return 0;
}
