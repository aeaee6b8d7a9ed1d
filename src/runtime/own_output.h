// Standard output and error under other names. Who opens them again writes output too, which replay has to show.
#pragma once

#include "call.h"

namespace pastcone::runtime {

/// Record, first image: `fd`, which is 1 or 2, is what all output of the recording goes to.
void note_output(int fd);
/// While recording: output, if it is the file of the recording's standard output or error; else kClosed.
Fd output_of_file(int fd);
/// The table does not tell what it is: it is closed, or came in a way that we do not know, or from another process with this table.
bool is_uncertain(const Fd& fd);
/// The descriptor that a path means by its spelling; -1: another file. The same in record and replay.
i64 descriptor_named(u64 path);
/// While recording: what was just opened for writing, by this path of this directory, is output; kClosed: it is not.
Fd find_output(int opened, u64 directory, u64 path);

}  // namespace pastcone::runtime
