// What passes from one program image of a process to the next, through a pipe: memory does not survive exec.
#pragma once

#include "call.h"

namespace pastcone::runtime {

struct HandoffFd {
  i32 fd;
  Fd entry;
};

/// First in the pipe; then path and name (NUL-terminated, `strings` bytes), then fd_count HandoffFd.
struct HandoffHeader {
  u32 strings;
  u32 fd_count;
  u32 thread, process, pid, parent_pid, group;
  u64 mask, captured;
  u64 exec_count;
  AddressLimit address_limit;
  Log log;
};

/// The program to load next, as exec or the recorder said.
struct Target {
  char path[4096];
  char name[4096];
};

/// Replay, at the beginning of a process that shall be seen as its program: executes it, if the director takes it over then.
void become_program(Thread& t);

}  // namespace pastcone::runtime
