// Mapping files into the program: the loader's and mmap's common part.
#pragma once

#include "sys.h"

namespace pastcone::runtime {

/// Maps part of a file; executable parts come from the patched copy where there is one, with its trampolines. `fd` may
/// be -1 in replay: the file is opened by its id. `patched`: in record, whether the patched copy was used; in replay,
/// whether it must be.
long map_file(u64 address, u64 length, int prot, int flags, int fd, u64 offset, u32 id, bool& patched);

}  // namespace pastcone::runtime
