#include "pastcone/symbols/unwind_rows.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "pastcone/patch/functions.h"

namespace pastcone::symbols {
namespace {

using stage::UnwindRow;
using stage::UnwindRule;

constexpr int kRbp = 6, kRsp = 7, kReturnAddress = 16;  // as DWARF numbers them

struct FreeFrame {
  void operator()(Dwarf_Frame* frame) const { std::free(frame); }
};
using Frame = std::unique_ptr<Dwarf_Frame, FreeFrame>;

/// Where the caller's frame is, if that is one of the forms there are rules for.
void set_frame(Dwarf_Frame* frame, UnwindRow& row) {
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0) return;
  // A register and an offset: libdw's own way of saying so, and that of expressions.
  bool named = ops[0].atom == DW_OP_bregx;
  int reg = named ? static_cast<int>(ops[0].number) : ops[0].atom - DW_OP_breg0;
  if (reg != kRbp && reg != kRsp) return;
  auto offset = static_cast<int64_t>(named ? ops[0].number2 : ops[0].number);
  if (offset != static_cast<int32_t>(offset)) return;
  row.frame = static_cast<int32_t>(offset);
  if (count == 1) row.rule = reg == kRsp ? UnwindRule::kStackPointer : UnwindRule::kFramePointer;
  if (count == 2 && reg == kRbp && offset == -8 && ops[1].atom == DW_OP_deref)
    row.rule = UnwindRule::kBehindPointer;
}

/// How a register is found; `offset` from the CFA, if it was saved there.
enum class Saved { kNot, kAtOffset, kUndefined, kOtherwise };
Saved saved_register(Dwarf_Frame* frame, int reg, int64_t& offset) {
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_register(frame, reg, memory, &ops, &count) != 0) return Saved::kOtherwise;
  if (count == 0) return ops == nullptr ? Saved::kNot : Saved::kUndefined;
  if (ops[0].atom == DW_OP_call_frame_cfa && count <= 2 && ops[count - 1].atom != DW_OP_stack_value) {
    offset = count == 2 ? static_cast<int64_t>(ops[1].number) : 0;
    return Saved::kAtOffset;
  }
  return Saved::kOtherwise;
}

UnwindRow row_of(Dwarf_Frame* frame, bool signal) {
  UnwindRow row{};
  if (signal) {
    row.rule = UnwindRule::kSignal;
    return row;
  }
  int64_t offset = 0;
  Saved caller = saved_register(frame, kReturnAddress, offset);
  if (caller == Saved::kUndefined) row.rule = UnwindRule::kOutermost;
  if (caller != Saved::kAtOffset || offset != -8) return row;
  set_frame(frame, row);
  Saved rbp = saved_register(frame, kRbp, offset);
  if (rbp == Saved::kAtOffset && offset == static_cast<int16_t>(offset))
    row.saved_rbp = static_cast<int16_t>(offset);
  return row;
}

/// The tables that a file may have, in the order in which they are asked.
struct Tables {
  explicit Tables(Dwfl_Module* module) {
    Dwarf_Addr bias = 0;
    for (Dwarf_CFI* table : {dwfl_module_eh_cfi(module, &bias), dwfl_module_dwarf_cfi(module, &bias)}) {
      if (table != nullptr) all.push_back(table);
    }
  }
  Frame find(uint64_t address) const {
    Dwarf_Frame* frame = nullptr;
    for (Dwarf_CFI* table : all) {
      if (dwarf_cfi_addrframe(table, address, &frame) == 0) return Frame(frame);
    }
    return nullptr;
  }
  std::vector<Dwarf_CFI*> all;
};

}  // namespace

std::vector<AddressRow> make_unwind_rows(Dwfl_Module* module, const patch::ElfImage& image,
                                         const DebugUnits& units) {
  Tables tables(module);
  std::vector<AddressRow> rows;
  auto add = [&](uint64_t address, UnwindRow row) {
    bool same = !rows.empty() && rows.back().row.rule == row.rule && rows.back().row.frame == row.frame &&
                rows.back().row.saved_rbp == row.saved_rbp && rows.back().row.flags == row.flags;
    if (!same) rows.push_back({address, row});
  };
  for (const patch::Piece& piece : patch::find_pieces(image, patch::read_frames(image))) {
    uint8_t flags = units.contains(piece.start) ? stage::kRowSource : 0;
    for (uint64_t at = piece.start; at < piece.end;) {
      Frame frame = tables.find(at);
      Dwarf_Addr begin = 0, end = 0;
      bool signal = false;
      UnwindRow row{};
      if (frame != nullptr && dwarf_frame_info(frame.get(), &begin, &end, &signal) >= 0 && end > at) {
        row = row_of(frame.get(), signal);
      } else {
        end = piece.end;
      }
      row.flags = flags;
      // Nobody calls it: what returns to it is looked for before its first byte.
      add(signal && at == piece.start ? at - 1 : at, row);
      at = end;
    }
    if (piece.end < piece.limit) add(piece.end, {});
  }
  return rows;
}

void add_trampoline_rows(const Origins& origins, std::vector<UnwindRow>& rows) {
  std::vector<UnwindRow> more;
  for (const Origins::Piece& piece : origins.pieces()) {
    auto next = std::ranges::upper_bound(rows, piece.original, {}, &UnwindRow::begin);
    if (next == rows.begin() || piece.begin > UINT32_MAX) continue;
    more.push_back(*(next - 1));
    more.back().begin = static_cast<uint32_t>(piece.begin);
  }
  rows.insert(rows.end(), more.begin(), more.end());
  std::ranges::stable_sort(rows, {}, &UnwindRow::begin);
}

}  // namespace pastcone::symbols
