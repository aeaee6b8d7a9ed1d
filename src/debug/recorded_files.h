// What the programs and libraries of a recording have, whether they are loaded yet or not: asked of a gdb that looks at
// the files alone.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pastcone/debug/engine.h"
#include "pastcone/gdb/gdb.h"

namespace pastcone::debug {

class RecordedFiles {
 public:
  explicit RecordedFiles(Engine& engine) : engine_(engine) {}

  /// Whether a library has the location; for who has not loaded all of them yet. Or a program, for who will execute
  /// one: one that is not there any more may have it.
  Result<bool> have_location(const std::string& location, bool programs);
  /// An expression that is about no function's own variables: an error if it is none, or names what no file has.
  Status check_expression(ProcessId process, const std::string& expression);

 private:
  std::optional<std::vector<std::string>> all(bool programs) const;
  Result<gdb::Answer> ask(const std::string& file, const std::string& command);
  /// Whether one of them understands it; `error`: what the first one says else.
  Result<bool> have(const std::vector<std::string>& files, const std::string& expression, std::string& error);
  Result<bool> compile(const std::vector<std::string>& files, const std::string& expression);

  Engine& engine_;
  std::unique_ptr<gdb::Gdb> gdb_;
  std::string file_;  ///< that gdb looks at
  std::map<std::pair<std::string, bool>, bool> locations_;
  std::set<std::string> expressions_;  ///< that are good
};

}  // namespace pastcone::debug
