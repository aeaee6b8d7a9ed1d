// Processes that share memory, and agree upon it by System V semaphores, message queues and eventfd: each changes it in its turn.
// e2e: varies parallel
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include "common.h"

enum { kWorkers = 3, kTurns = 60 };
static struct Shared {
  unsigned by_semaphore, by_event, by_message;
} * s;
static int semaphore, event, queue;

static unsigned add(unsigned hash, unsigned what) { return hash * 31 + what; }

static void change(short by) {
  struct sembuf operation = {.sem_op = by};
  CHECK(semop(semaphore, &operation, 1) == 0);
}

static void work(unsigned me) {
  struct {
    long type;
    char text[8];
  } message = {1, "token"};
  unsigned seen = 0;
  for (int i = 0; i < kTurns; i++) {
    change(-1);
    seen = add(seen, s->by_semaphore = add(s->by_semaphore, me));
    change(1);
    eventfd_t value;
    CHECK(eventfd_read(event, &value) == 0);
    seen = add(seen, s->by_event = add(s->by_event, me));
    CHECK(eventfd_write(event, 1) == 0);
    CHECK(msgrcv(queue, &message, sizeof message.text, 0, 0) >= 0);
    seen = add(seen, s->by_message = add(s->by_message, me));
    CHECK(msgsnd(queue, &message, sizeof message.text, 0) == 0);
  }
  say("%u saw %x\n", me, seen);
  _exit(0);
}

int main(void) {
  s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  semaphore = semget(IPC_PRIVATE, 1, 0600);
  event = eventfd(1, EFD_SEMAPHORE);
  queue = msgget(IPC_PRIVATE, 0600);
  CHECK(s != MAP_FAILED && semaphore >= 0 && event >= 0 && queue >= 0);
  struct {
    long type;
    char text[8];
  } token = {1, "token"};
  CHECK(msgsnd(queue, &token, sizeof token.text, 0) == 0);
  change(1);
  pid_t pids[kWorkers];
  for (unsigned i = 0; i < kWorkers; i++)
    if ((pids[i] = fork_checked()) == 0) work(i + 1);
  for (int i = 0; i < kWorkers; i++) CHECK(exit_status(pids[i]) == 0);
  CHECK(semctl(semaphore, 0, IPC_RMID) == 0 && msgctl(queue, IPC_RMID, NULL) == 0);
  say("%x %x %x\n", s->by_semaphore, s->by_event, s->by_message);
  return 0;
}
