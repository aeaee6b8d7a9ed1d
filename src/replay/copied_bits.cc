// Those of general registers that are encoded as those of vectors are: of bits, and shifts without flags.
#include "pastcone/replay/copied_forms.h"

namespace pastcone::replay {
namespace {

using Encoding = InstructionName::Encoding;
using Prefix = InstructionName::Prefix;

/// Else they would be done here in vain. Who executes them has them.
bool has_them() {
  static const bool has = __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
  return has;
}

}  // namespace

std::optional<CopiedForm> bit_form(const InstructionName& name) {
  if (name.encoding != Encoding::kVex || name.length != 16 || !has_them()) return std::nullopt;
  CopiedForm form;
  form.size = name.wide ? 8 : 4;
  form.rm_general = form.rm_read = true;
  bool plain = name.prefix == Prefix::kNone;
  if (name.map == 3) {  // rorx
    if (name.operation != 0xf0 || name.prefix != Prefix::kF2) return std::nullopt;
    form.immediate = 1;
    form.reg_general = form.reg_written = true;
    return form;
  }
  if (name.map != 2) return std::nullopt;
  form.third = form.third_general = true;
  switch (name.operation) {
    case 0xf3:  // blsr, blsmsk, blsi
      if (!plain || name.field < 1 || name.field > 3) return std::nullopt;
      form.reg_is_name = form.third_written = true;
      return form;
    case 0xf2:  // andn
      if (!plain) return std::nullopt;
      break;
    case 0xf5:  // bzhi, pext, pdep
      if (name.prefix == Prefix::k66) return std::nullopt;
      break;
    case 0xf7:  // bextr, shlx, sarx, shrx
      break;
    default:
      return std::nullopt;
  }
  form.reg_general = form.reg_written = true;
  return form;
}

}  // namespace pastcone::replay
