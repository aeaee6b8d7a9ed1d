// System V and POSIX message queues: two senders, two receivers each, by type and by priority; a queue that is full.
// e2e: varies
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>

#include "common.h"

struct Message {
  long type;
  char text[32];
};

static void sysv(void) {
  int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
  CHECK(queue >= 0);
  pid_t pids[4];
  for (int i = 0; i < 4; i++) {
    pids[i] = fork_checked();
    if (pids[i]) continue;
    struct Message m;
    for (int k = 0; k < 20; k++) {
      if (i < 2) {
        m.type = 1 + (k + i) % 2;
        memset(m.text, 0, sizeof m.text);
        snprintf(m.text, sizeof m.text, "s%d.%d", i, k);
        CHECK(msgsnd(queue, &m, strlen(m.text) + 1, 0) == 0);
      } else {
        ssize_t n = msgrcv(queue, &m, sizeof m.text, i - 1, 0);
        CHECK(n > 0);
        say("receiver %d: %s (%zd bytes)\n", i, m.text, n);
      }
    }
    _exit(0);
  }
  for (int i = 0; i < 4; i++) CHECK(exit_status(pids[i]) == 0);
  struct msqid_ds about;
  CHECK(msgctl(queue, IPC_STAT, &about) == 0);
  say("left %d\n", (int)about.msg_qnum);
  CHECK(msgctl(queue, IPC_RMID, 0) == 0);
}

static void posix(void) {
  char name[40];
  snprintf(name, sizeof name, "/pastcone-test-%d", (int)getpid());
  struct mq_attr about = {.mq_maxmsg = 4, .mq_msgsize = 32};
  mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &about);
  if (queue < 0) {
    say("no POSIX queues here\n");
    return;
  }
  pid_t pids[3];
  for (int i = 0; i < 3; i++) {
    pids[i] = fork_checked();
    if (pids[i]) continue;
    char text[32];
    for (int k = 0; k < 20; k++) {
      snprintf(text, sizeof text, "p%d.%d", i, k);
      CHECK(mq_send(queue, text, strlen(text) + 1, (unsigned)(k % 3)) == 0);
    }
    _exit(0);
  }
  for (int k = 0; k < 60; k++) {
    char text[32];
    unsigned priority;
    CHECK(mq_receive(queue, text, sizeof text, &priority) > 0);
    say("%s with %u\n", text, priority);
  }
  for (int i = 0; i < 3; i++) CHECK(exit_status(pids[i]) == 0);
  struct timespec soon = {0};
  char text[32];
  CHECK(mq_timedreceive(queue, text, sizeof text, 0, &soon) < 0 && errno == ETIMEDOUT);
  CHECK(mq_getattr(queue, &about) == 0);
  say("%ld of %ld\n", about.mq_curmsgs, about.mq_maxmsg);
  CHECK(mq_close(queue) == 0 && mq_unlink(name) == 0);
}

int main(void) {
  sysv();
  posix();
  return 0;
}
