// Files that are mapped shared and writable: objects of their own, whose processes take turns. In replay each has room in the
// store, and no file is touched. Other memory that processes share (System V's) has its objects here too.
#pragma once

#include "call.h"

namespace pastcone::runtime {

struct Buffers;

/// Record: the current process is about to share memory, known by these two keys, with whoever else has it: it joins their
/// group, and Thread::shared_object is the number of the memory. In parallel mode it joins nobody; Header::share_lock is held.
void share_object(Thread& t, u64 group_key, u64 object_key);
void share_file(Thread& t, int fd);

/// Which file it is, among those that had its number before: file systems give the numbers of deleted files to new ones at once.
u64 file_identity(int fd, const Stat& s);

/// Record: the number of the shared, writable object that an open file is; 0: nobody has mapped it so.
u32 shared_object_of(int fd);
/// Parallel mode, record: how many of the object's pages [from, until) are in somebody's log already, from the first on; the
/// others are to be put into the caller's. Under Header::share_lock, until they are. kApart: all of them, and nobody counts them:
/// they do not go on where others ended.
u64 pages_kept(u64 object, u64 from, u64 until);
inline constexpr u64 kApart = u64{1} << 31;
/// Replay: waits until the first `until` pages are there, or says so. Who maps them later finds what has become of them.
void await_pages(Thread& t, u64 object, u64 until);
void pages_are_there(u64 object, u64 until);
/// Replay: where such an object lies in the store.
u64 shared_place(u64 object, u64 position);

/// A write to a file, which somebody may have mapped.
long record_file_write(Call& c);
long replay_file_write(Call& c, const Buffers& buffers);

}  // namespace pastcone::runtime
