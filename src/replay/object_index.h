// Who used which object, in which order: the histories that `show obj` prints. Made from what the threads of
// an indexing replay have written down (stage::IndexEntry), and kept in the recording as bytes.
//
// An object is known by the thread that used it first and by how many new ones that thread had used before,
// so it has the same number in every replay, wherever it lies. Those with names come first. Reads between the
// same two writes have no order; they are listed by thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pastcone/base/bytes.h"
#include "pastcone/base/ids.h"
#include "pastcone/base/result.h"
#include "pastcone/stage/layout.h"

namespace pastcone::replay {

using stage::ObjectKind;

/// "mutex", "object" …
const char* kind_name(ObjectKind kind);

/// A place in a thread, between two of its events: see stage::ThreadSlot::horizon.
struct Point {
  uint64_t step = 0, number = 0;  ///< number 0: none

  bool operator==(const Point&) const = default;
};

struct Access {
  ThreadId thread;
  bool write = false;
  uint64_t event = 0;   ///< of the thread: the last before it
  uint64_t caller = 0;  ///< return address, in the recorded memory
  // What follows is not kept in objects.idx.
  Point at = {}, until = {};  ///< from where to where the thread had the object
  ThreadId released_by = {};  ///< if it was another thread that gave it back, `until` is one of its places
  uint64_t writes = 0;        ///< see stage::IndexEntry
  bool gives = false;         ///< of a semaphore: a post

  bool operator==(const Access&) const = default;
};

struct ObjectHistory {
  ObjectKind kind = ObjectKind::kNone;
  bool shared = false;  ///< lies in memory that processes share
  std::string name;     ///< as the program says; most have none
  std::vector<Access> accesses;

  uint64_t hand_overs() const;  ///< accesses by another thread than the one before
  uint64_t threads() const;

  bool operator==(const ObjectHistory&) const = default;
};

/// What one thread wrote down.
struct ThreadEntries {
  ThreadId thread;
  std::vector<stage::IndexEntry> entries;
};

/// Object n is at n - 1. Those of the heap come last, and users do not see them.
std::vector<ObjectHistory> merge_entries(const std::vector<ThreadEntries>& threads);

/// Without those of the heap, and without those uses that only find that all have come.
void drop_hidden(std::vector<ObjectHistory>& objects);

/// `recording` says of which one they are.
Bytes pack_objects(const std::vector<ObjectHistory>& objects, const std::string& recording);
/// An error if the bytes are damaged, of another version or of another recording.
Result<std::vector<ObjectHistory>> unpack_objects(ByteView bytes, const std::string& recording);

}  // namespace pastcone::replay
