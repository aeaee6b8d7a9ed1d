// Where a gdb connects to us. gdb wants a socket that has a path; this one has a name only for a moment, and
// then is found by the descriptor that we have of it. So who is killed leaves nothing, and nobody else can
// come in.
#pragma once

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"

namespace pastcone::debug {

class Door {
 public:
  static Result<Door> open();

  int fd() const { return listener_.get(); }
  /// For `target remote`, as long as this lives.
  Path path() const;
  /// Who has knocked.
  UniqueFd let_in();

 private:
  Door(UniqueFd listener, UniqueFd file) : listener_(std::move(listener)), file_(std::move(file)) {}

  UniqueFd listener_, file_;
};

/// What debuggers that were killed at that moment have left.
void sweep_doors();

}  // namespace pastcone::debug
