// What is known about the programs that processes run: where gdb finds locations in them, and expressions as
// bytecode. Asked once for a program at an address; the processes of a program mostly have it at the same one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "pastcone/debug/loader.h"
#include "pastcone/debug/recorded_files.h"
#include "pastcone/debug/seats.h"
#include "pastcone/gdb/compile.h"
#include "pastcone/gdb/formula.h"

namespace pastcone::debug {

/// A program as one process has it in memory.
struct Image {
  Path program;
  uint64_t entry = 0;     ///< where it begins, which says where it lies
  std::string libraries;  ///< what it has loaded besides
  auto operator<=>(const Image&) const = default;
};

/// Where a breakpoint is to stop.
struct Site {
  uint64_t address = 0;
  std::string function, file, line;  ///< empty: not known
  std::optional<gdb::Formula> condition;
  std::string
      asked;  ///< the condition, if the process has to stand for it: functions are called, or gdb is asked
};

/// By a gdb that looks at the program. The error is gdb's.
Result<std::vector<Site>> find_sites(gdb::Gdb& gdb, const std::string& location, const std::string& condition);

class Images {
 public:
  Images(Engine& engine, Seats& seats) : engine_(engine), seats_(seats), files_(engine) {}

  Seats& seats() { return seats_; }
  RecordedFiles& files() { return files_; }
  Image image(ProcessId process);
  /// None: it is none's, or has not been mapped yet.
  std::optional<Loader> loader(ProcessId process);
  std::string libraries(ProcessId process);
  /// Of a process that stands. The error is gdb's.
  Result<std::vector<Site>> find(ProcessId process, const std::string& location, const std::string& condition);

 private:
  uint64_t auxiliary(ProcessId process, uint64_t type);
  Loader::Read reader(ProcessId process);

  Engine& engine_;
  Seats& seats_;
  RecordedFiles files_;
  std::map<std::tuple<Image, std::string, std::string>, std::vector<Site>> found_;
};

}  // namespace pastcone::debug
