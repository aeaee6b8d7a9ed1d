#include "pastcone/symbols/debug_units.h"

#include <dwarf.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <ranges>
#include <span>

#include "pastcone/symbols/read_blocks.h"

namespace pastcone::symbols {
namespace {

struct Free {
  void operator()(Dwarf_Die* scopes) const { std::free(scopes); }
};

bool is_function(Dwarf_Die* scope) {
  int tag = dwarf_tag(scope);
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/// Names of files may be relative to where the compiler ran.
void set_source(Location& location, Dwarf_Die* unit, const char* file, int line) {
  if (file == nullptr || line <= 0) return;
  Dwarf_Attribute attribute;
  const char* directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  location.file = directory == nullptr ? file : (Path(directory) / file).native();
  location.line = static_cast<uint32_t>(line);
}

uint64_t number(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 ? value : 0;
}

/// From where an inlined function was called.
void set_call(Location& location, Dwarf_Die* unit, Dwarf_Die* inlined) {
  Dwarf_Files* files = nullptr;
  if (dwarf_getsrcfiles(unit, &files, nullptr) != 0) return;
  set_source(location, unit, dwarf_filesrc(files, number(inlined, DW_AT_call_file), nullptr, nullptr),
             static_cast<int>(number(inlined, DW_AT_call_line)));
}

/// Optimised code has several lines at one address: as gdb does, that which begins a statement there.
Dwarf_Line* statement_at(Dwarf_Die* unit, Dwarf_Line* line) {
  bool begins = false;
  Dwarf_Addr address = 0;
  Dwarf_Lines* all = nullptr;
  size_t count = 0;
  if (dwarf_linebeginstatement(line, &begins) != 0 || begins || dwarf_lineaddr(line, &address) != 0) return line;
  if (dwarf_getsrclines(unit, &all, &count) != 0) return line;
  auto address_of = [&](size_t index) {
    Dwarf_Addr at = 0;
    dwarf_lineaddr(dwarf_onesrcline(all, index), &at);
    return at;
  };
  auto indices = std::views::iota(size_t{0}, count);
  auto first = std::ranges::lower_bound(indices, address, {}, address_of);
  for (auto each = first; each != indices.end() && address_of(*each) == address; ++each) {
    Dwarf_Line* other = dwarf_onesrcline(all, *each);
    if (dwarf_linebeginstatement(other, &begins) == 0 && begins) line = other;
  }
  return line;
}

/// Whether a piece of an inlined function begins there: then lines of the call are at that address, too.
bool is_inlined_from(Dwarf_Die* scope, Dwarf_Line* line) {
  Dwarf_Addr address = 0, base = 0, begin = 0, end = 0;
  if (dwarf_tag(scope) != DW_TAG_inlined_subroutine || dwarf_lineaddr(line, &address) != 0) return false;
  for (ptrdiff_t at = 0; (at = dwarf_ranges(scope, at, &base, &begin, &end)) > 0;)
    if (begin == address) return true;
  return false;
}

}  // namespace

DebugUnits::DebugUnits(Dwfl_Module* module) {
  Dwarf_Addr bias = 0;
  for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module, unit, &bias)) != nullptr;) {
    Dwarf_Attribute attribute;
    if (dwarf_attr(unit, DW_AT_stmt_list, &attribute) == nullptr) continue;  // without lines
    Dwarf_Addr base = 0, begin = 0, end = 0;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0;) {
      if (begin < end && begin != 0) pieces_.push_back({begin + bias, end + bias, bias, unit});
    }
  }
  std::ranges::sort(pieces_, {}, &Piece::begin);
}

const DebugUnits::Piece* DebugUnits::find(uint64_t address) const {
  auto next = std::ranges::upper_bound(pieces_, address, {}, &Piece::begin);
  if (next == pieces_.begin()) return nullptr;
  const Piece& piece = *(next - 1);
  return address < piece.end ? &piece : nullptr;
}

std::optional<FunctionBlocks> DebugUnits::blocks(uint64_t address) const {
  const Piece* piece = find(address);
  if (piece == nullptr) return {};
  return read_blocks(piece->unit, piece->bias, address);
}

std::vector<Location> DebugUnits::locate(uint64_t address) const {
  const Piece* piece = find(address);
  if (piece == nullptr) return {};
  // Of an inlined function libdw first gives the scopes of its definition; around its DIE are those of the
  // call.
  Dwarf_Die* found = nullptr;
  int count = dwarf_getscopes(piece->unit, address - piece->bias, &found);
  std::unique_ptr<Dwarf_Die, Free> scopes(found);
  if (count > 0 && (count = dwarf_getscopes_die(found, &found)) > 0) scopes.reset(found);
  std::span all(scopes.get(), static_cast<size_t>(std::max(count, 0)));
  Location here;
  if (Dwarf_Line* line = dwarf_getsrc_die(piece->unit, address - piece->bias)) {
    auto inner = std::ranges::find_if(all, [](Dwarf_Die& scope) { return is_function(&scope); });
    if (inner == all.end() || !is_inlined_from(&*inner, line)) line = statement_at(piece->unit, line);
    int number = 0;
    dwarf_lineno(line, &number);
    set_source(here, piece->unit, dwarf_linesrc(line, nullptr, nullptr), number);
  }
  std::vector<Location> result;
  for (Dwarf_Die& scope : all) {
    if (!is_function(&scope)) continue;
    if (const char* name = dwarf_diename(&scope)) here.function = name;
    result.push_back(here);
    here = {};
    if (dwarf_tag(&scope) != DW_TAG_inlined_subroutine) break;
    set_call(here, piece->unit, &scope);
  }
  if (result.empty() && !here.file.empty()) result.push_back(here);
  return result;
}

}  // namespace pastcone::symbols
