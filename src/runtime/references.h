// Reads of which the recording has only the place: a file's number and a position in it. Replay reads them again.
#pragma once

#include "buffers.h"
#include "call.h"
#include "fds.h"

namespace pastcone::runtime {

/// Record: the file's id if reads of this descriptor need not be stored, else 0; asks once.
u32 referenced_file(i64 number, Fd& fd);
/// Record: executes a read of such a file.
long record_file_read(Call& c, u32 file);
/// Record: what was read at `position`, if replay will find it there; else the bytes themselves.
void record_file_bytes(Call& c, u32 file, i64 position, long result, OutsFunction outs);
/// Replay, once expect_item has found shape kFile.
long finish_file_read(Call& c, const Buffers& buffers);

}  // namespace pastcone::runtime
