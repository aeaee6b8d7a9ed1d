// The blocks of a function: where the variables that are declared inside it can be seen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace pastcone::symbols {

struct CodeRange {
  uint64_t begin = 0, end = 0;
};

struct Block {
  size_t parent = 0;  ///< its place in the list; of the function itself: 0
  std::vector<CodeRange> code;
  std::set<std::string> names;  ///< of variables that are declared in it; not of parameters

  bool contains(uint64_t address) const {
    return std::ranges::any_of(
        code, [&](const CodeRange& range) { return range.begin <= address && address < range.end; });
  }
};

struct SourceRow {
  uint64_t address = 0;
  std::string file;  ///< as the compiler was given it
  uint32_t line = 0;
};

struct FunctionBlocks {
  std::vector<Block> blocks;    ///< that of the function first, each before those inside it
  std::vector<SourceRow> rows;  ///< of its code
};

}  // namespace pastcone::symbols
