// Directories and metadata: stat, lstat, fstatat, statx, access, readdir of 300 names, times as they are.
// e2e: varies
#include <dirent.h>
#include <sys/statvfs.h>

#include "common.h"

int main(void) {
  CHECK(mkdir("many", 0755) == 0);
  for (int i = 0; i < 300; i++) {
    char name[40];
    snprintf(name, sizeof name, "many/file-with-number-%03d", i);
    write_file(name, "x", 0600);
  }
  DIR* dir = opendir("many");
  uint32_t order = HASH_START;
  int count = 0;
  for (struct dirent* entry; (entry = readdir(dir)) != NULL; count++)
    order = hash_bytes(order, entry->d_name, strlen(entry->d_name));
  say("%d entries, order %08x\n", count, order);
  rewinddir(dir);
  CHECK(readdir(dir) != NULL);
  closedir(dir);
  CHECK(symlink("many", "link") == 0);
  struct stat a, b;
  struct statx x;
  CHECK(stat("link", &a) == 0 && lstat("link", &b) == 0);
  say("directory %d, link %d, size %ld\n", S_ISDIR(a.st_mode), S_ISLNK(b.st_mode), (long)b.st_size);
  CHECK(fstatat(AT_FDCWD, "many/file-with-number-007", &a, 0) == 0);
  CHECK(statx(AT_FDCWD, "many/file-with-number-007", 0, STATX_ALL, &x) == 0 && x.stx_ino == a.st_ino);
  say("inode %ld, changed %ld.%09ld, mode %o\n", (long)a.st_ino, (long)a.st_ctim.tv_sec, a.st_ctim.tv_nsec,
      a.st_mode);
  say("access: %d %d\n", access("many", R_OK | X_OK), access("none", F_OK));
  struct statvfs fs;
  CHECK(statvfs(".", &fs) == 0);
  say("free blocks %lu of %lu\n", (unsigned long)fs.f_bfree, (unsigned long)fs.f_blocks);
  return 0;
}
