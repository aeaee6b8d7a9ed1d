// Files that are kept by reference: programs, libraries, what is mapped, and reads of the system's own files and of large ones.
// A file has an id in the stage; the recorder, asked through it, keeps a copy or notes the file's hash, and patches code.
#pragma once

#include "sys.h"

namespace pastcone::runtime {

/// Record: the id of an open regular file, 0 if it cannot be kept. Waits for the recorder. `wanted`: stage::kWant…
u32 file_id(int fd, u32 wanted);
/// Record: the id of a file of which reads need not be stored, or 0: it belongs to the system, or it is large and nobody writes to it.
u32 readable_file_id(int fd);
/// After a read: whether replay will find the same in the file.
bool is_steady(u32 id);
bool is_read_by_reference(const Stat& file);
/// Both modes: opens the file (replay) or its patched copy (either), or -errno. Close it after use.
int open_file(u32 id);
int open_patched(u32 id);

}  // namespace pastcone::runtime
