// Which parts of a module's code debug information knows, and what it says about an address. libdw finds a
// compilation unit by .debug_aranges, which not every compiler writes; this asks the units themselves.
#pragma once

#include <elfutils/libdwfl.h>

#include <optional>
#include <vector>

#include "pastcone/symbols/function_blocks.h"
#include "pastcone/symbols/location.h"

namespace pastcone::symbols {

class DebugUnits {
 public:
  explicit DebugUnits(Dwfl_Module* module);

  bool empty() const { return pieces_.empty(); }
  bool contains(uint64_t address) const { return find(address) != nullptr; }
  /// What is at this address: the innermost inlined function first, last the function that it is compiled
  /// into. Without the module.
  std::vector<Location> locate(uint64_t address) const;
  /// Of the function that has the address.
  std::optional<FunctionBlocks> blocks(uint64_t address) const;

 private:
  struct Piece {
    uint64_t begin, end;  ///< as the module lies
    Dwarf_Addr bias;
    Dwarf_Die* unit;
  };
  const Piece* find(uint64_t address) const;

  std::vector<Piece> pieces_;  ///< by begin
};

}  // namespace pastcone::symbols
