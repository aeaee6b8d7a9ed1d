// Executing scripts: #! with an argument, a script whose interpreter is a script, and env.
// e2e: stable
#include "common.h"

static void run(const char* path) {
  pid_t pid = fork_checked();
  if (pid == 0) {
    execl(path, path, "one", "two", (char*)NULL);
    CHECK(!"exec came back");
  }
  say("%s: status %d\n", path, exit_status(pid));
}

int main(void) {
  write_file("./direct", "#!/bin/sh -e\necho \"$0 got $# arguments: $*\"\nfalse\necho not reached\n", 0755);
  write_file("./nested", "#!./direct extra\nnot read by sh\n", 0755);
  write_file("./by_env", "#!/usr/bin/env sh\necho env ran me with $1; exit 4\n", 0755);
  run("./direct");
  run("./nested");
  run("./by_env");
  return 0;
}
