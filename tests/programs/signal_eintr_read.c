// Without SA_RESTART: read, accept, waitpid and a semaphore come back with EINTR.
// e2e: stable
#include <semaphore.h>

#include "net.h"

static void nothing(int sig) { (void)sig; }

// Signals its parent again and again until it is killed, so that no wait can miss it.
static pid_t nag(void) {
  pid_t parent = getpid(), pid = fork_checked();
  if (pid == 0) {
    for (;;) {
      sleep_ms(3);
      if (kill(parent, SIGUSR1) != 0) _exit(0);
    }
  }
  return pid;
}

int main(void) {
  on_signal_flags(SIGUSR1, nothing, 0);
  int ends[2];
  CHECK(pipe(ends) == 0);
  sem_t never;
  CHECK(sem_init(&never, 0, 0) == 0);
  int listener = listening(SOCK_STREAM, unix_name("nobody-comes"));
  pid_t pid = nag();
  char byte;
  int result = (int)read(ends[0], &byte, 1), error = errno;
  say("read %d: %s\n", result, strerror(error));
  result = accept(listener, NULL, NULL), error = errno;
  say("accept %d: %s\n", result, strerror(error));
  result = waitpid(pid, NULL, 0), error = errno;
  say("waitpid %d: %s\n", result, strerror(error));
  result = sem_wait(&never), error = errno;
  say("sem_wait %d: %s\n", result, strerror(error));
  CHECK(kill(pid, SIGKILL) == 0);
  int status;
  while (waitpid(pid, &status, 0) < 0) CHECK(errno == EINTR);
  say("ended by %s\n", strsignal(WTERMSIG(status)));
  return 0;
}
