#include "pastcone/patch/decoder.h"

#include <Zydis/Zydis.h>

namespace pastcone::patch {
namespace {

ZydisDecoder make_decoder() {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  return decoder;
}

std::optional<Kind> site_kind(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_SYSCALL:
      return Kind::kSyscall;
    case ZYDIS_MNEMONIC_RDTSC:
      return Kind::kRdtsc;
    case ZYDIS_MNEMONIC_RDTSCP:
      return Kind::kRdtscp;
    case ZYDIS_MNEMONIC_RDRAND:
      return Kind::kRdrand;
    case ZYDIS_MNEMONIC_RDSEED:
      return Kind::kRdseed;
    default:
      return std::nullopt;
  }
}

Descriptor describe(Kind kind, const ZydisDecodedInstruction& raw) {
  if (kind != Kind::kRdrand && kind != Kind::kRdseed) return make_descriptor(kind, 0, 0, raw.length);
  auto destination = static_cast<uint8_t>(raw.raw.modrm.rm | raw.raw.rex.B << 3);
  return make_descriptor(kind, destination, raw.operand_width / 8, raw.length);
}

Flow flow_of(const ZydisDecodedInstruction& raw, bool has_target) {
  switch (raw.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      // Only jcc can be given a longer displacement; loop, jrcxz and xbegin cannot.
      return (raw.opcode & 0xf0) == (raw.opcode_map == ZYDIS_OPCODE_MAP_0F ? 0x80 : 0x70) ? Flow::kBranch
                                                                                          : Flow::kOther;
    case ZYDIS_CATEGORY_UNCOND_BR:
      if (raw.mnemonic != ZYDIS_MNEMONIC_JMP || raw.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
        return Flow::kOther;
      return has_target ? Flow::kJump : Flow::kIndirectJump;
    case ZYDIS_CATEGORY_RET:
      return raw.mnemonic == ZYDIS_MNEMONIC_RET ? Flow::kReturn : Flow::kOther;
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
      return Flow::kOther;
    default:
      break;
  }
  switch (raw.mnemonic) {
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
      return Flow::kEnd;
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_XABORT:
      return Flow::kOther;
    default:
      return Flow::kNext;
  }
}

}  // namespace

std::optional<Instruction> decode(ByteView bytes, uint64_t address) {
  static const ZydisDecoder kDecoder = make_decoder();
  ZydisDecodedInstruction raw;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&kDecoder, nullptr, bytes.data(), bytes.size(), &raw))) {
    return std::nullopt;
  }
  Instruction result;
  result.address = address;
  result.length = raw.length;
  bool has_target = raw.raw.imm[0].is_relative != 0;
  if (has_target) {
    result.target = result.end() + static_cast<uint64_t>(raw.raw.imm[0].value.s);
  } else if (raw.raw.imm[0].size >= 32) {
    result.constant = raw.raw.imm[0].value.u;
  }
  result.flow = flow_of(raw, has_target);
  result.condition = raw.opcode & 0x0f;
  result.is_padding = raw.mnemonic == ZYDIS_MNEMONIC_NOP || raw.mnemonic == ZYDIS_MNEMONIC_INT3;
  result.is_call = has_target && raw.meta.category == ZYDIS_CATEGORY_CALL;
  result.is_lea = raw.mnemonic == ZYDIS_MNEMONIC_LEA;
  result.is_compare = raw.mnemonic == ZYDIS_MNEMONIC_CMP || raw.mnemonic == ZYDIS_MNEMONIC_TEST;
  bool rip_relative = (raw.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 && raw.raw.modrm.mod == 0 &&
                      raw.raw.modrm.rm == 5 && raw.raw.disp.size == 32;
  if (rip_relative) {
    result.displacement_at = raw.raw.disp.offset;
    result.reference = result.end() + static_cast<uint64_t>(raw.raw.disp.value);
  }
  // A short address (prefix 67) is cut to 32 bits, a short branch (66) perhaps to 16: never seen, not moved.
  result.is_movable = !((rip_relative && raw.address_width != 64) || (has_target && raw.operand_width == 16));
  if (auto kind = site_kind(raw.mnemonic)) {
    result.is_site = true;
    result.descriptor = describe(*kind, raw);
  }
  return result;
}

}  // namespace pastcone::patch
