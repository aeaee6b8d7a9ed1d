// Replay with kFlagWhere: where in the program each event is. The tool lays tables into Header::index_directory by which the
// runtime finds its way from a call to its callers; the runtime writes down there what it found. Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pastcone::stage {

/// How to go from an instruction to the caller of its function; DWARF's call frame information, as far as it is needed for that.
enum class UnwindRule : uint8_t {
  kNone = 0,           ///< not known; there may be a frame pointer
  kStackPointer = 1,   ///< the caller's frame (CFA) is at rsp + `frame`
  kFramePointer = 2,   ///< at rbp + `frame`
  kBehindPointer = 3,  ///< where the word at rbp - 8 says, and rbp points to the caller's: the function has aligned its stack
  kSignal = 4,         ///< to where signal handlers return: the kernel's frame lies at rsp
  kOutermost = 5,      ///< there is no caller
};

/// Holds from `begin`, an offset in the file, up to the next row's.
struct UnwindRow {
  uint32_t begin;
  int32_t frame;
  int16_t saved_rbp;  ///< where the caller's rbp is, from the CFA; 0: in rbp still. The return address is just below the CFA
  UnwindRule rule;
  uint8_t flags;      ///< kRow…
};
static_assert(sizeof(UnwindRow) == 12);
inline constexpr uint8_t kRowSource = 1;  ///< there is debug information about it

/// A file "unwind.ID" for each file with code (FileSlot), and one for the runtime itself: this, then the rows by `begin`.
struct UnwindTable {
  uint32_t count;
  uint32_t flags;  ///< kTable…

  const UnwindRow* rows() const { return reinterpret_cast<const UnwindRow*>(this + 1); }
};
inline constexpr uint32_t kTableEnough = 1;  ///< who gets into this file need not go on to callers,
inline constexpr uint32_t kTableStatic = 2;  ///< but to kStaticPlaces of them: the C library is part of it
inline constexpr uint32_t kStaticPlaces = 8;

// A place: the file's number, and the offset in it of a byte of the instruction.
inline constexpr unsigned kPlaceFileAt = 40;
inline constexpr uint64_t kPlaceOffset = (uint64_t{1} << kPlaceFileAt) - 1;
inline constexpr uint32_t kRuntimeFile = 0xffffff;  ///< from its base
inline constexpr uint32_t kNoFile = 0xfffffe;       ///< code in no file: the address

// What a thread writes down, in a file PROCESS.THREAD.where: words, up to the first that is 0. A chain of callers is
// kWhereChain | number << 8 | how many places; then these, innermost first. An event is kWhereEvent | chain << 38 | event. Of
// chains with the same number, and of words about the same event, the last before counts.
inline constexpr uint64_t kWhereChain = uint64_t{1} << 62, kWhereEvent = uint64_t{2} << 62;
inline constexpr unsigned kWhereChainAt = 38, kWhereNumberAt = 8;
inline constexpr uint64_t kWhereEventMask = (uint64_t{1} << kWhereChainAt) - 1;
inline constexpr uint32_t kWhereChainMask = (1 << 24) - 1;
inline constexpr uint64_t kWhereWindow = 1 << 16;  ///< such a file grows by this
inline constexpr uint32_t kMostPlaces = 48;        ///< of a chain,
inline constexpr uint32_t kMostSources = 12;       ///< and those that debug information knows

}  // namespace pastcone::stage
