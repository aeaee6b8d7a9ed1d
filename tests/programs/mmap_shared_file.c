// A shared file mapping between processes and read() of the same file: both see what the other wrote.
// e2e: stable
#include <sys/mman.h>

#include "common.h"

int main(void) {
  int fd = open("file", O_RDWR | O_CREAT, 0600), to[2], from[2];
  CHECK(ftruncate(fd, 8192) == 0 && pipe(to) == 0 && pipe(from) == 0);
  char byte;
  pid_t pid = fork_checked();
  if (pid == 0) {
    char* map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(map != MAP_FAILED && read(to[0], &byte, 1) == 1);
    say("child: %s\n", map);
    strcpy(map + 4096, "written by the child");
    write_all(from[1], "x", 1);
    CHECK(read(to[0], &byte, 1) == 1);
    say("child: %s\n", map + 100);
    _exit(0);
  }
  char* map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(map != MAP_FAILED);
  strcpy(map, "written by the parent");
  write_all(to[1], "x", 1);
  CHECK(read(from[0], &byte, 1) == 1);
  say("parent: %s\n", map + 4096);
  char text[10] = "";
  CHECK(pread(fd, text, 7, 4096) == 7);
  say("parent by read: %s\n", text);
  CHECK(pwrite(fd, "by pwrite", 10, 100) == 10);
  say("parent in memory: %s\n", map + 100);
  CHECK(msync(map, 8192, MS_SYNC) == 0);
  write_all(to[1], "x", 1);
  return exit_status(pid);
}
