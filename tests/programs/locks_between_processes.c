// flock, fcntl and open-file-description locks between processes: who got them in which order.
// e2e: varies
#include <sys/file.h>

#include "common.h"

static void contend(const char* what, int kind) {
  int log = open(what, O_RDWR | O_CREAT | O_APPEND, 0600);
  CHECK(log >= 0);
  pid_t pids[3];
  for (int i = 0; i < 3; i++) {
    if ((pids[i] = fork_checked()) != 0) continue;
    int fd = open("lock", O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0);
    for (int k = 0; k < 8; k++) {
      struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};
      CHECK((kind == 0 ? flock(fd, LOCK_EX) : fcntl(fd, kind == 1 ? F_SETLKW : F_OFD_SETLKW, &range)) == 0);
      char c = (char)('a' + i);
      write_all(log, &c, 1);
      if (k % 3 == 0) usleep(30);
      write_all(log, &c, 1);
      range.l_type = F_UNLCK;
      CHECK((kind == 0 ? flock(fd, LOCK_UN) : fcntl(fd, kind == 1 ? F_SETLK : F_OFD_SETLK, &range)) == 0);
    }
    _exit(0);
  }
  for (int i = 0; i < 3; i++) CHECK(exit_status(pids[i]) == 0);
  char text[100] = "";
  CHECK(pread(log, text, sizeof text - 1, 0) == 48);
  for (int i = 0; i < 48; i += 2) CHECK(text[i] == text[i + 1]);
  say("%s: %s\n", what, text);
}

int main(void) {
  contend("flock", 0);
  contend("fcntl", 1);
  contend("ofd", 2);
  int fd = open("lock", O_RDWR), held = 0;
  CHECK(flock(fd, LOCK_SH) == 0);
  int other = open("lock", O_RDWR);
  held = flock(other, LOCK_EX | LOCK_NB);
  say("held: %s\n", held < 0 ? strerror(errno) : "not held");
  return 0;
}
