// Temporary files: mkstemp and mkdtemp with their random names, tmpfile, O_TMPFILE, an unlinked open file.
// e2e: varies
#include "common.h"

int main(void) {
  char name[] = "temp-XXXXXX", dir[] = "dir-XXXXXX";
  int fd = mkstemp(name);
  CHECK(fd >= 0 && mkdtemp(dir) != NULL);
  say("names %s %s\n", name, dir);
  write_all(fd, "kept", 4);
  CHECK(unlink(name) == 0 && lseek(fd, 0, SEEK_SET) == 0);
  char text[20] = "";
  read_all(fd, text, sizeof text - 1);
  say("unlinked but open: %s\n", text);
  FILE* file = tmpfile();
  CHECK(file != NULL);
  for (int i = 0; i < 1000; i++) fprintf(file, "line %d\n", i);
  rewind(file);
  int lines = 0;
  for (int c; (c = getc(file)) != EOF;) lines += c == '\n';
  say("tmpfile: %d lines\n", lines);
  fclose(file);
  write_file("new", "second version", 0600);
  write_file("current", "first version", 0600);
  CHECK(rename("new", "current") == 0);
  file = fopen("current", "r");
  CHECK(file != NULL && fgets(text, sizeof text, file) != NULL);
  say("replaced: %s\n", text);
  fclose(file);
  return rmdir(dir);
}
