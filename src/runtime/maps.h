// Mapping files into the program: the loader's and mmap's common part.
#pragma once

#include "sys.h"

namespace pastcone::runtime {

/// Maps part of a file; executable parts come from the patched copy where there is one, with its trampolines. `fd` may
/// be -1 in replay: the file is opened by its id. `patched`: in record, whether the patched copy was used; in replay,
/// whether it must be.
long map_file(u64 address, u64 length, int prot, int flags, int fd, u64 offset, u32 id, bool& patched);

/// Record: the number of the shared, writable object that an open file is; 0: nobody has mapped it so.
u32 shared_object_of(int fd);
/// Replay: where such an object lies in the store.
u64 shared_place(u64 object, u64 position);

}  // namespace pastcone::runtime
