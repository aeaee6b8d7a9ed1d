// A private file mapping: reads the file, writes only into memory, sees the rest of the page as zeros.
// e2e: stable
#include <sys/mman.h>

#include "common.h"

int main(void) {
  char data[10000];
  fill_random(data, sizeof data, 9);
  int fd = open("file", O_RDWR | O_CREAT, 0600);
  write_all(fd, data, sizeof data);
  char* map = mmap(NULL, sizeof data, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  char* second = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 8192);
  CHECK(map != MAP_FAILED && second != MAP_FAILED);
  close(fd);
  say("hash %08x, second page %08x\n", hash_bytes(HASH_START, map, sizeof data),
      hash_bytes(HASH_START, second, 1808));
  say("after the end: %d\n", second[1900]);
  memset(map, 'x', 100);
  pid_t pid = fork_checked();
  if (pid == 0) {
    say("child sees %c\n", map[50]);
    map[50] = 'y';
    _exit(0);
  }
  CHECK(exit_status(pid) == 0);
  fd = open("file", O_RDONLY);
  char first;
  CHECK(read(fd, &first, 1) == 1);
  say("parent sees %c, file unchanged %d\n", map[50], first == data[0]);
  return munmap(map, sizeof data);
}
