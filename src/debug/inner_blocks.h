// Variables that are declared inside a function (`for (int i = 0; …)`): they are there only while it executes
// their block. A thread comes into a block and out of it at gates, which are found in the function's code;
// those who are thrown there from elsewhere (jumps.h) have to be asked where they are.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "pastcone/debug/condition.h"
#include "pastcone/gdb/gdb.h"
#include "pastcone/symbols/function_blocks.h"

namespace pastcone::debug {

struct InnerBlocks {
  struct One {
    symbols::Block block;
    std::string location;
    uint64_t address = 0;  ///< of that place in it: the conditions are understood there
    Conditions conditions;
    std::vector<OwnVariable> own = {};

    bool is_inside(const One& other) const;
  };
  static constexpr size_t kNone = SIZE_MAX;

  symbols::Block function;
  std::vector<One> all;  ///< each behind those around it
  std::set<uint64_t> gates;

  /// The innermost one there.
  size_t at(uint64_t address) const;
};

/// What is meant at a place, by its addresses.
using CompileAt = std::function<Result<std::map<uint64_t, Conditions>>(const std::string& location)>;

/// Those blocks in which all `names` are known. None: no block has them. The error of `compile`, if it is
/// another one than gdb's "No symbol", is that of this.
Result<InnerBlocks> find_inner_blocks(gdb::Gdb& gdb, const symbols::FunctionBlocks& function,
                                      const std::set<std::string>& names, const CompileAt& compile);

}  // namespace pastcone::debug
