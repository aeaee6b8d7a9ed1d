// What gdbs were told and have to remember: it is told to every one that is started later.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pastcone/base/ids.h"
#include "pastcone/gdb/gdb.h"

namespace pastcone::debug {

struct Setting {
  std::string command;
  std::vector<std::string> body = {};
  std::optional<ProcessId> process = {};  ///< its gdb alone; none: all

  bool operator==(const Setting&) const = default;
};

/// `set $n = 1`: n; empty if it sets none.
std::string variable_set_by(std::string_view command);
/// A number or a string, which means the same to every gdb.
bool is_plain_value(std::string_view text);

class Settings {
 public:
  /// What the gdb of a process has understood. It is given back if all the others are to be told of it as
  /// well.
  std::optional<Setting> note(ProcessId told, const std::string& command,
                              const std::vector<std::string>& body);
  /// A convenience variable; to be told to all.
  Setting note_variable(const std::string& name, const std::string& value);
  /// Those for all; and those for the gdb of one process.
  void tell_common(gdb::Gdb& gdb) const;
  void tell_own(gdb::Gdb& gdb, ProcessId process) const;

 private:
  std::vector<Setting> all_;  ///< in the order in which they were told
};

}  // namespace pastcone::debug
