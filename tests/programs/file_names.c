// Names: rename, link, symlink, unlink, rmdir, chdir, openat, umask, chmod, truncate, utimes.
// e2e: stable
#include <sys/time.h>

#include "common.h"

int main(void) {
  write_file("a", "contents", 0666);
  CHECK(rename("a", "b") == 0 && link("b", "c") == 0 && symlink("b", "d") == 0);
  struct stat info;
  CHECK(stat("c", &info) == 0);
  char target[10] = "";
  CHECK(readlink("d", target, sizeof target) == 1);
  say("links %d, symlink to %s\n", (int)info.st_nlink, target);
  CHECK(unlink("b") == 0);
  say("dangling: %s\n", open("d", O_RDONLY) < 0 ? strerror(errno) : "opened");
  mode_t before = umask(077);
  CHECK(mkdir("inner", 0777) == 0 && stat("inner", &info) == 0);
  say("mode under umask: %o\n", info.st_mode & 0777);
  umask(before);
  CHECK(chmod("inner", 0755) == 0 && rename("c", "inner/c") == 0);
  say("not empty: %s\n", rmdir("inner") < 0 ? strerror(errno) : "removed");
  CHECK(chdir("inner") == 0);
  char* cwd = getcwd(NULL, 0);
  say("in %s\n", strrchr(cwd, '/'));
  free(cwd);
  int dir = open("..", O_RDONLY | O_DIRECTORY), fd = openat(dir, "inner/c", O_RDWR);
  CHECK(fd >= 0 && ftruncate(fd, 3) == 0 && fstat(fd, &info) == 0);
  say("truncated: %ld\n", (long)info.st_size);
  CHECK(posix_fallocate(fd, 0, 100) == 0 && fsync(fd) == 0 && fstat(fd, &info) == 0);
  say("allocated: %ld\n", (long)info.st_size);
  struct timeval times[2] = {{1000000000, 0}, {1100000000, 5}};
  CHECK(utimes("c", times) == 0 && stat("c", &info) == 0);
  say("times %ld %ld\n", (long)info.st_atim.tv_sec, (long)info.st_mtim.tv_sec);
  CHECK(fchdir(dir) == 0 && unlinkat(dir, "inner/c", 0) == 0 && unlinkat(dir, "inner", AT_REMOVEDIR) == 0);
  say("gone: %s\n", access("inner", F_OK) < 0 ? strerror(errno) : "still there");
  return 0;
}
