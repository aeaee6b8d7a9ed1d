// Where threads are in the source, without a gdb: for looking at all of them at once.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "pastcone/debug/engine.h"
#include "pastcone/symbols/symbols.h"

namespace pastcone::debug {

class Whereabouts {
 public:
  explicit Whereabouts(Engine& engine) : engine_(engine) {}

  /// The user's own function that the thread is in; nothing known if it has not begun or has ended.
  symbols::Location locate(ThreadId thread);
  /// Of what the process has mapped now.
  symbols::Symbols& symbols_of(ProcessId process);

 private:
  Engine& engine_;
  std::map<std::string, std::unique_ptr<symbols::Symbols>> known_;  ///< by what is mapped
};

}  // namespace pastcone::debug
