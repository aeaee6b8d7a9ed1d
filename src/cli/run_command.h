// Runs a command and collects what it prints.
#pragma once

#include <string>
#include <vector>

#include "pastcone/base/result.h"

namespace pastcone::cli {

struct CommandRun {
  int status = 0;      ///< of waitpid
  std::string output;  ///< its standard output
  std::string errors;  ///< its standard error

  bool exited(int with) const;
};

/// To its end. Its standard input is /dev/null.
Result<CommandRun> run_command(const std::vector<std::string>& command);

}  // namespace pastcone::cli
