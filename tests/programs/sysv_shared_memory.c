// System V shared memory and semaphores: four processes append to one text, some without the semaphore; attached twice, detached.
// e2e: varies
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "common.h"

struct Shared {
  int used, unlocked;
  char text[4000];
};

static void change(int semaphores, int by) {
  struct sembuf operation = {.sem_num = 1, .sem_op = (short)by};
  CHECK(semop(semaphores, &operation, 1) == 0);
}

int main(void) {
  int segment = shmget(IPC_PRIVATE, sizeof(struct Shared), IPC_CREAT | 0600);
  int semaphores = semget(IPC_PRIVATE, 3, IPC_CREAT | 0600);
  CHECK(segment >= 0 && semaphores >= 0);
  unsigned short values[3] = {5, 1, 7}, now[3] = {0};
  CHECK(semctl(semaphores, 0, SETALL, values) == 0 && semctl(semaphores, 0, GETALL, now) == 0);
  say("semaphores %d %d %d\n", now[0], now[1], now[2]);
  struct Shared* shared = shmat(segment, 0, 0);
  CHECK(shared != (void*)-1 && shared->used == 0);
  pid_t pids[4];
  for (int i = 0; i < 4; i++) {
    pids[i] = fork_checked();
    if (pids[i] == 0) {
      struct Shared* mine = shared;
      if (i % 2) {  // at another address
        CHECK(shmdt(shared) == 0);
        mine = shmat(segment, 0, 0);
        CHECK(mine != (void*)-1);
      }
      for (int k = 0; k < 50; k++) {
        for (int j = 0; j < 200; j++) mine->unlocked++;
        change(semaphores, -1);
        mine->text[mine->used++] = (char)('a' + i);
        change(semaphores, 1);
      }
      _exit(0);
    }
  }
  for (int i = 0; i < 4; i++) CHECK(exit_status(pids[i]) == 0);
  struct shmid_ds about;
  CHECK(shmctl(segment, IPC_STAT, &about) == 0);
  say("%d letters, %d attached, unlocked %d: %s\n", shared->used, (int)about.shm_nattch, shared->unlocked, shared->text);
  CHECK(shmdt(shared) == 0 && shmdt(shared) != 0);
  const struct Shared* again = shmat(segment, 0, SHM_RDONLY);
  CHECK(again != (void*)-1);
  say("read again: %d\n", again->used);
  CHECK(shmctl(segment, IPC_RMID, 0) == 0 && semctl(semaphores, 0, IPC_RMID) == 0);
  return 0;
}
