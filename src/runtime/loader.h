// Maps a program and its interpreter into the address space, as the kernel does on exec.
#pragma once

#include "sys.h"

namespace pastcone::runtime {

struct Image {
  u64 base;         ///< load bias
  u64 entry;
  u64 headers;      ///< program headers in memory
  u16 header_count;
  u64 data_begin, data_end;  ///< its writable segments
  u64 end;          ///< first free page behind its data
  bool relocatable;
  bool executable_stack;
  bool patched;     ///< record: whether the patched copy was mapped; replay: whether it must be
  char interpreter[256];
};

/// Record: `fixed_base` 0 lets the kernel choose (for relocatable files without `preferred`). Replay: the recorded base.
long load_image(int fd, u32 file, u64 fixed_base, u64 preferred, Image& image);

/// Why a file cannot be recorded as a program; nullptr: it can.
const char* refuse_reason(const void* first_bytes, long n);

}  // namespace pastcone::runtime
