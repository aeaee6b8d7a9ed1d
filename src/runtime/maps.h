// Mapping files into the program: the loader's and mmap's common part.
#pragma once

#include "thread.h"

namespace pastcone::runtime {

/// Maps part of a file; executable parts come from the patched copy where there is one, with its trampolines. `fd` may
/// be -1 in replay: the file is opened by its id. `patched`: in record, whether the patched copy was used; in replay,
/// whether it must be.
long map_file(u64 address, u64 length, int prot, int flags, int fd, u64 offset, u32 id, bool& patched);

/// Record: the current process is about to share memory, known by these two keys, with whoever else has it: it joins their
/// group, and Thread::shared_object is the number of the memory.
void share_object(Thread& t, u64 group_key, u64 object_key);
/// Replay: the same, for object `object` (0: not shared after all).
void share_replayed(Thread& t, u64 object);
/// Replay: memory of the run's own, shared by those who shared it in the recording, with the contents it had at this moment.
long map_shared_copy(u64 address, u64 length, int prot, u64 object, u64 offset, const char* bytes, u64 size);

/// Record: the number of the shared, writable object that an open file is; 0: nobody has mapped it so.
u32 shared_object_of(int fd);
/// Replay: where such an object lies in the store.
u64 shared_place(u64 object, u64 position);

}  // namespace pastcone::runtime
