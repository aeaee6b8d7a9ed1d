// Files that are kept by reference: programs, libraries, what is mapped, and reads of the system's own files. A file has an
// id in the stage; the recorder, asked through it, keeps a copy or notes the file's hash, and patches code.
#pragma once

#include "sys.h"

namespace pastcone::runtime {

/// Record: the id of an open regular file, 0 if it cannot be kept. Waits for the recorder.
u32 file_id(int fd, bool code);
/// Record: worth keeping by reference when read: it belongs to the system, or it is large and nobody may write to it.
bool is_unchanging(int fd);
/// Both modes: opens the file (replay) or its patched copy (either), or -errno. Close it after use.
int open_file(u32 id);
int open_patched(u32 id);

}  // namespace pastcone::runtime
