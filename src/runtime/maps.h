// Mapping files into the program: the loader's and mmap's common part.
#pragma once

#include "call.h"

namespace pastcone::runtime {

/// Maps part of a file; executable parts come from the patched copy where there is one, with its trampolines. `fd` may
/// be -1 in replay: the file is opened by its id. `patched`: in record, whether the patched copy was used; in replay,
/// whether it must be.
long map_file(u64 address, u64 length, int prot, int flags, int fd, u64 offset, u32 id, bool& patched);

/// Thread::shared_object has, above the object's number, how many pages of the mapping are in another log already; only in
/// parallel mode, where no turn says who maps it first.
inline constexpr u32 kObjectBits = 32;
/// Record: adds that, and gives the number of their bytes.
u64 skip_kept_pages(Thread& t, u64 offset, u64 length);

/// Replay of what record_result wrote, once expect_item has found shape kOut: the object's number, then `size` bytes. Maps as
/// much (or `length`, if that is not 0) at the recorded address, for all who share it. Gives that address, or the error.
long finish_shared_mapping(Call& c, u64 length, int prot, u64 offset, u64& size);

}  // namespace pastcone::runtime
