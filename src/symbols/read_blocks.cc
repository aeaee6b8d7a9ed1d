#include "pastcone/symbols/read_blocks.h"

#include <dwarf.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>

namespace pastcone::symbols {
namespace {

struct Free {
  void operator()(Dwarf_Die* scopes) const { std::free(scopes); }
};

class Reader {
 public:
  explicit Reader(Dwarf_Addr bias) : bias_(bias) {}

  /// Functions that are inlined, or defined inside, have variables of their own.
  void add(Dwarf_Die* scope, size_t parent) {
    size_t index = all.size();
    Block& block = all.emplace_back(Block{parent, {}, {}});
    Dwarf_Addr base = 0, begin = 0, end = 0;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(scope, at, &base, &begin, &end)) > 0;)
      block.code.push_back({begin + bias_, end + bias_});
    Dwarf_Die child;
    if (dwarf_child(scope, &child) != 0) return;
    do {
      int tag = dwarf_tag(&child);
      const char* name = dwarf_diename(&child);
      if (tag == DW_TAG_variable && name != nullptr) all[index].names.insert(name);
      if (tag == DW_TAG_lexical_block) add(&child, index);
    } while (dwarf_siblingof(&child, &child) == 0);
  }

  std::vector<Block> all;

 private:
  Dwarf_Addr bias_;
};

std::vector<SourceRow> rows_in(Dwarf_Die* unit, Dwarf_Addr bias, const Block& function) {
  std::vector<SourceRow> rows;
  Dwarf_Lines* lines = nullptr;
  size_t count = 0;
  if (dwarf_getsrclines(unit, &lines, &count) != 0) return rows;
  for (size_t i = 0; i < count; ++i) {
    Dwarf_Line* line = dwarf_onesrcline(lines, i);
    Dwarf_Addr address = 0;
    int number = 0;
    bool known = dwarf_lineaddr(line, &address) == 0 && dwarf_lineno(line, &number) == 0 && number > 0;
    const char* file = dwarf_linesrc(line, nullptr, nullptr);
    if (known && file != nullptr && function.contains(address + bias))
      rows.push_back({address + bias, file, static_cast<uint32_t>(number)});
  }
  return rows;
}

}  // namespace

std::optional<FunctionBlocks> read_blocks(Dwarf_Die* unit, Dwarf_Addr bias, uint64_t address) {
  Dwarf_Die* found = nullptr;
  int count = dwarf_getscopes(unit, address - bias, &found);
  std::unique_ptr<Dwarf_Die, Free> scopes(found);
  std::span all(scopes.get(), static_cast<size_t>(std::max(count, 0)));
  auto function =
      std::ranges::find_if(all, [](Dwarf_Die& scope) { return dwarf_tag(&scope) == DW_TAG_subprogram; });
  if (function == all.end()) return {};
  Reader reader(bias);
  reader.add(&*function, 0);
  // The definition of a function that is inlined there has no code of its own.
  if (!reader.all.front().contains(address)) return {};
  std::vector<SourceRow> rows = rows_in(unit, bias, reader.all.front());
  return FunctionBlocks{std::move(reader.all), std::move(rows)};
}

}  // namespace pastcone::symbols
