// The objects of a recording. Found out by replaying it once, and kept beside it in objects.idx, which is
// made again should it be missing, damaged or old. A recording that cannot be written to is replayed each
// time.
#pragma once

#include <optional>
#include <vector>

#include "pastcone/replay/object_index.h"
#include "pastcone/trace/recording.h"

namespace pastcone::replay {

struct IndexedObjects {
  std::vector<ObjectHistory> objects;
  std::string divergence;  ///< of the replay: they are known only so far. Empty: it was exact
};

Result<IndexedObjects> index_objects(const Recording& recording);

/// What else such a replay tells (stage::FactKind), in its order. Not kept here.
struct IndexedFacts {
  struct Fact {
    ThreadId thread;
    stage::IndexEntry entry;
  };
  std::vector<Fact> facts;
  std::string divergence;
};
Result<IndexedFacts> index_facts(const Recording& recording);

/// As they are in objects.idx; nothing if that has to be made first.
std::optional<std::vector<ObjectHistory>> known_objects(const Recording& recording);

}  // namespace pastcone::replay
