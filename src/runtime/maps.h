// Mapping files into the program: the loader's and mmap's common part.
#pragma once

#include "call.h"

namespace pastcone::runtime {

/// Maps part of a file; executable parts come from the patched copy where there is one, with its trampolines. `fd` may
/// be -1 in replay: the file is opened by its id. `patched`: in record, whether the patched copy was used; in replay,
/// whether it must be.
long map_file(u64 address, u64 length, int prot, int flags, int fd, u64 offset, u32 id, bool& patched);

/// Replay of what record_result wrote, once expect_item has found shape kOut: the object's number, then `size` bytes. Maps as
/// much (or `length`, if that is not 0) at the recorded address, for all who share it. Gives that address, or the error.
long finish_shared_mapping(Call& c, u64 length, int prot, u64 offset, u64& size);

}  // namespace pastcone::runtime
