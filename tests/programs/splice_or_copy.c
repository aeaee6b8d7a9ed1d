// splice, tee and vmsplice where they exist, else read and write: the bytes arrive either way.
// e2e: varies
#include <sys/uio.h>

#include "common.h"

static size_t move(int from, int to, size_t size) {
  size_t done = 0;
  char block[4096];
  while (done < size) {
    ssize_t n = splice(from, NULL, to, NULL, size - done, SPLICE_F_MOVE);
    if (n < 0) {
      CHECK(errno == ENOSYS || errno == EINVAL);
      n = read(from, block, size - done < sizeof block ? size - done : sizeof block);
      if (n > 0) write_all(to, block, (size_t)n);
    }
    if (n <= 0) break;
    done += (size_t)n;
  }
  return done;
}

int main(void) {
  static char data[50000];
  fill_random(data, sizeof data, 3);
  int a[2], b[2], file = open("data", O_RDWR | O_CREAT, 0600);
  CHECK(pipe(a) == 0 && pipe(b) == 0 && file >= 0);
  write_all(file, data, sizeof data);
  CHECK(lseek(file, 0, SEEK_SET) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    close(a[1]);
    close(b[0]);
    say("pipe to pipe: %zu\n", move(a[0], b[1], sizeof data));
    _exit(0);
  }
  close(a[0]);
  close(b[1]);
  say("file to pipe: %zu\n", move(file, a[1], sizeof data));
  close(a[1]);
  static char back[sizeof data];
  size_t n = read_all(b[0], back, sizeof back);
  CHECK(exit_status(pid) == 0);
  say("arrived: %zu, same %d\n", n, memcmp(data, back, sizeof data) == 0);
  return 0;
}
