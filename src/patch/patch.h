// Makes a copy of an ELF file (x86-64 program or shared library) in which the instructions whose result
// cannot be computed again — syscall, rdtsc, rdtscp, rdrand, rdseed — jump to the runtime. abi.h says how
// they arrive there and what the copy looks like; it is good for any load address, so callers cache it.
//
// What a jump cannot replace safely (see displace.h) is left to the runtime's net, or becomes an int3: always
// for instructions other than syscall, which Syscall User Dispatch does not catch; on demand for syscall.
// Only code inside known functions is touched (see functions.h); a stripped Go program, say, has none.
//
// Trampolines have no unwind information of their own: a table says which instruction of the file each piece of them
// stands for (TrampolineOrigin).
// May be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pastcone/base/bytes.h"
#include "pastcone/base/files.h"
#include "pastcone/base/result.h"
#include "pastcone/patch/abi.h"
#include "pastcone/patch/hooks.h"

namespace pastcone::patch {

struct PatchOptions {
  /// Also make traps of the syscall sites that cannot be jumps: for kernels without Syscall User Dispatch.
  bool traps = false;
  /// Also hook the functions of hooks.h.
  bool hooks = false;
};

/// One instruction that was found, and what became of it.
struct Site {
  uint64_t offset = 0;   ///< in the file
  uint64_t address = 0;  ///< as in the file, without load bias
  Kind kind = Kind::kSyscall;
  bool patched = false;     ///< it is now a jump
  bool trapped = false;     ///< it is now an int3
  const char* reason = "";  ///< why it is not a jump; empty if it is
  uint64_t start = 0;       ///< the addresses that the jump or trap replaced: [start, end)
  uint64_t end = 0;
};

struct PatchReport {
  bool needed = false;  ///< something was patched or trapped, so there is an output file
  size_t patched = 0;
  size_t trapped = 0;
  size_t left = 0;  ///< untouched
  /// Byte patterns outside known functions that could be such an instruction, or just data: not looked at.
  size_t unexamined = 0;
  std::vector<Site> sites;  ///< in order of address
  std::vector<Hook> hooked;
  std::vector<std::string> not_hooked;  ///< functions that must be, and why they cannot
  std::vector<std::string> left_out;    ///< functions that should be
};

/// Writes the patched copy of `input` to `output`, atomically, with mode 0644; or nothing, if none is needed.
Result<PatchReport> patch_file(const Path& input, const Path& output, PatchOptions options = {});

struct PatchedBytes {
  PatchReport report;
  Bytes contents;  ///< empty if none are needed
};

/// The same in memory.
Result<PatchedBytes> patch_bytes(ByteView file, PatchOptions options = {});

}  // namespace pastcone::patch
