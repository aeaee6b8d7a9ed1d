// A file with code, without a process around it: how stacks are walked through it, and what its instructions
// come from. Places in it are offsets in the file. One thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/stage/where.h"
#include "pastcone/symbols/location.h"
#include "pastcone/symbols/origins.h"

namespace pastcone::symbols {

class CodeFile {
 public:
  /// Nothing if it is not an ELF file with code. `original`: by which name the user knows it; debug
  /// information in a file of its own is looked for beside that, and by build id.
  static std::optional<CodeFile> open(const Path& file, const Path& original);
  ~CodeFile();
  CodeFile(CodeFile&&) noexcept;
  CodeFile& operator=(CodeFile&&) noexcept;

  /// Whether there is debug information.
  bool has_source() const;
  /// An executable that brings its libraries along.
  bool is_static() const;
  bool in_c_library() const;

  /// By `begin`. With `origins`, also for its trampolines.
  std::vector<stage::UnwindRow> unwind_rows(const Origins* origins) const;
  /// The same, but by address, from `base` on, instead of by offset in the file.
  std::vector<stage::UnwindRow> unwind_rows_from(uint64_t base) const;

  /// Inlined functions first, the innermost before all; empty: there is no code.
  std::vector<Location> locate(uint64_t offset) const;

 private:
  struct State;
  explicit CodeFile(std::unique_ptr<State> state);
  bool is_library(const Location& location, uint64_t offset) const;
  std::unique_ptr<State> state_;
};

}  // namespace pastcone::symbols
