// What a patched file and the runtime agree on: where trampolines lie, what they do on entry, and the trailer
// that describes a patched file. Freestanding: the runtime includes it.
//
// A patched file is the original, byte by byte, except for the patched sites; then, page aligned, for each
// executable segment its trampolines; then the tables of traps and of origins; and at its very end a PatchTrailer. The runtime
// maps the file's executable segments from it as usual, and trampolines at load bias + trampoline_vaddr,
// readable and executable.
//
// A syscall site arrives at kSyscallEntry by a jump, with
//   %rcx     where to go on: as after the instruction itself, which leaves the next %rip there. In front of it lie a
//            kReturnMark and an int32_t: from here to behind the instruction in the file, for unwinders (entry.S)
//   %r11     nothing of use: the instruction destroys it
// and the rest (flags, vector registers, the stack with its red zone) as the program left it. The instruction
// keeps all of that, so the entry has to; it may change %rax, %rcx and %r11 only.
//
// Any other site arrives at kInstructionEntry by a jump, with
//   %rsp     a SavedRegisters, 128 bytes below the program's stack pointer; aligned to 8 only
//   %edi     the descriptor, see below
//   %rcx     where to go on, with %rsp as it was on entry
// The entry writes the instruction's results into the SavedRegisters, from which all general registers and
// the flags are loaded on return. So it may use these as it likes, but must keep the vector registers. It
// must not assume that the direction flag is clear.
//
// A hooked function starts with a jump to the runtime's function of that number in the table at kHookTable, which has the same
// arguments and gives the same result. The trampoline holds what stood there and goes on behind it, for the runtime to call: the
// hook table of a segment says where.
//
// A trapped site starts with int3; the rest of its instruction is nops. The trap table says what stood there.
#pragma once

#include <cstdint>

namespace pastcone::patch {

/// The runtime is linked at this address.
inline constexpr uint64_t kRuntimeBase = 0x200000000000;
inline constexpr uint64_t kRuntimeEnd = kRuntimeBase + 0x40000000;  ///< its code and data end before
inline constexpr uint64_t kSyscallEntry = kRuntimeBase + 0x1000;
inline constexpr uint64_t kInstructionEntry = kRuntimeBase + 0x1040;

inline constexpr uint64_t kHookTable = kRuntimeBase + 0x1080;

/// Trampolines lie this far below the page at which their executable segment starts, so that jumps are the
/// same for every load address.
inline constexpr uint64_t kTrampolineDistance = 0x40000000;
/// Except for programs linked at a fixed low address, below which there is no such room: theirs lie here,
/// between the lowest address the kernel lets one map (vm.mmap_min_addr) and the program. Above it the kernel
/// puts the heap.
inline constexpr uint64_t kLowTrampolines = 0x10000;

inline constexpr uint32_t kReturnMark = 0x52544350;  // "PCTR"

enum class Kind : uint8_t { kSyscall = 0, kRdtsc = 1, kRdtscp = 2, kRdrand = 3, kRdseed = 4 };

/// An instruction in 32 bits. Bits 0-7: Kind; 8-15: destination register, 0 = rax … 15 = r15 as instructions
/// encode it, with rdrand and rdseed only; 16-23: operand size in bytes (2, 4, 8), the same; 24-31: the
/// instruction's length.
using Descriptor = uint32_t;

constexpr Descriptor make_descriptor(Kind kind, uint8_t destination, uint8_t operand_size, uint8_t length) {
  return static_cast<uint32_t>(kind) | uint32_t{destination} << 8 | uint32_t{operand_size} << 16 |
         uint32_t{length} << 24;
}
constexpr Kind descriptor_kind(Descriptor d) { return static_cast<Kind>(d & 0xff); }
constexpr uint8_t descriptor_destination(Descriptor d) { return d >> 8 & 0xff; }
constexpr uint8_t descriptor_operand_size(Descriptor d) { return d >> 16 & 0xff; }
constexpr uint8_t descriptor_length(Descriptor d) { return static_cast<uint8_t>(d >> 24); }

/// What kInstructionEntry finds at %rsp. Pushed from the end: flags, r15, …, rax.
struct SavedRegisters {
  uint64_t general[16];  ///< indexed by register number. [4] is the stack pointer somewhere in the middle of
                         ///< the pushing: not the program's, and not loaded again.
  uint64_t flags;
};
inline constexpr uint64_t kRedZone = 128;  ///< between the end of SavedRegisters and the program's %rsp

/// Sets what rdrand or rdseed gave as the processor would: 32 bits clear the upper half, 16 leave the rest.
constexpr void set_destination(SavedRegisters& registers, Descriptor d, uint64_t value) {
  uint64_t& destination = registers.general[descriptor_destination(d) & 15];
  switch (descriptor_operand_size(d)) {
    case 2:
      destination = (destination & ~uint64_t{0xffff}) | (value & 0xffff);
      break;
    case 4:
      destination = value & 0xffffffff;
      break;
    default:
      destination = value;
      break;
  }
}

/// One trapped site. Tables are sorted by offset.
struct TrapEntry {
  uint32_t offset;  ///< from the segment's vaddr
  Descriptor descriptor;
};

/// One hooked function.
struct HookEntry {
  uint32_t hook;        ///< its number: hooks.h
  uint32_t trampoline;  ///< offset from trampoline_vaddr: calling it is calling the function as it was
};

/// What the code in a trampoline, from here to the next entry, stands for: one instruction of the file. Sorted by
/// `trampoline`. Who unwinds the stack goes on at `original`, where the file's own tables are right.
struct TrampolineOrigin {
  uint32_t trampoline;  ///< offset from trampoline_vaddr
  uint32_t original;    ///< offset from the segment's vaddr
};

inline constexpr uint32_t kMaxSegments = 4;

/// One executable segment. Addresses are as in the file: the load bias is to be added. File offsets of
/// trampolines and their size are multiples of the page size; the size is 0 if there are none, the count 0 if
/// there are no traps.
struct PatchedSegment {
  uint64_t vaddr;             ///< of the page at which it starts
  uint64_t offset;            ///< of that page in the file
  uint64_t size;              ///< in bytes, from vaddr to its last byte that comes from the file
  uint64_t trampoline_vaddr;  ///< may be "negative" (wrap around) in a position independent file
  uint64_t trampoline_offset;
  uint64_t trampoline_size;
  uint64_t trap_offset;
  uint64_t trap_count;
  uint64_t origin_offset;  ///< TrampolineOrigin, so many
  uint64_t origin_count;
  uint64_t hook_offset;
  uint64_t hook_count;
};

inline constexpr uint64_t kPatchMagic = 0x4843544150545350;  // "PSTPATCH"
inline constexpr uint32_t kPatchVersion = 3;
inline constexpr uint32_t kFlagAllTrapped = 1;  ///< every syscall site that was found is patched or trapped

/// The last bytes of a patched file.
struct PatchTrailer {
  uint32_t version;
  uint32_t flags;
  uint64_t original_size;  ///< of the file before it was patched
  uint32_t segment_count;
  uint32_t reserved;
  PatchedSegment segments[kMaxSegments];
  uint64_t magic;
};

static_assert(sizeof(SavedRegisters) == 136 && sizeof(TrapEntry) == 8 && sizeof(TrampolineOrigin) == 8);
static_assert(sizeof(PatchedSegment) == 96 && sizeof(PatchTrailer) == 416);

}  // namespace pastcone::patch
