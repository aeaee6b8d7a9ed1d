// Starting gdb: where it is, and a child that runs it.
#pragma once

#include <sys/types.h>

#include <string>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"

namespace pastcone::gdb {

/// $PASTCONE_GDB if set, else gdb in $PATH.
Result<std::string> find_gdb();

struct Spawned {
  pid_t pid;
  UniqueFd in;   ///< a socket
  UniqueFd out;  ///< a pipe
};

/// In a session of its own, killed when the calling thread ends, with no descriptor of ours.
Result<Spawned> spawn_gdb(const std::string& path);

}  // namespace pastcone::gdb
