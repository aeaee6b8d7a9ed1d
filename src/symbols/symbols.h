// From addresses in a process to functions and source lines, and from registers to the calls that led there.
// The only place that sees elfutils. Looks at files alone: what is in memory comes through ReadMemory, so the
// process may be alive, stopped, or a picture of one.
//
// Copies of files with patched code are as good as the files: trampolines are taken for the code they stand
// for. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/symbols/function_blocks.h"
#include "pastcone/symbols/location.h"
#include "pastcone/symbols/mappings.h"

namespace pastcone::symbols {

/// The general registers as DWARF numbers them: rax rdx rcx rbx rsi rdi rbp rsp r8 … r15 rip.
struct Registers {
  static constexpr size_t kRsp = 7, kRip = 16, kCount = 17;
  uint64_t values[kCount] = {};
};

/// Eight bytes of the process's memory; false: they are not there.
using ReadMemory = std::function<bool(uint64_t address, uint64_t& word)>;

class Symbols {
 public:
  /// `originals`: for files that are copies of others, by what name these are known. Debug information in a
  /// file of its own is looked for by build id, and beside the original. Files that cannot be read are left
  /// out.
  explicit Symbols(const std::vector<Mapping>& mappings, const std::map<Path, Path>& originals = {});
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// What is at this address: known() is false if nothing is.
  Location locate(uint64_t address) const;
  /// The same with the functions that it is inlined into: innermost first.
  std::vector<Location> locate_all(uint64_t address) const;

  /// Of the function that has the address, if debug information knows one.
  std::optional<FunctionBlocks> blocks(uint64_t address) const;

  /// An address inside each call instruction that led to `registers`, innermost first; the first is that of
  /// `registers` itself. As far as the unwind tables reach, and at most `limit`.
  std::vector<uint64_t> unwind(const Registers& registers, const ReadMemory& read, size_t limit = 100) const;

  /// The registers of the first caller whose code is not `inside`, as far as they are known; others are 0.
  std::optional<Registers> leave(const Registers& registers, const ReadMemory& read,
                                 const std::function<bool(uint64_t pc)>& inside) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pastcone::symbols
