// What is known of a recording once it has been replayed: its objects, and where in the program its events
// are. Kept beside it in objects.idx and where.idx, which are made again should they be missing, damaged or
// old. A recording that cannot be written to is replayed each time.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "pastcone/replay/object_index.h"
#include "pastcone/replay/where_index.h"
#include "pastcone/trace/recording.h"

namespace pastcone::replay {

class Live;

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
  std::vector<ObjectHistory> objects;  ///< also those that users do not see
  std::string divergence;
};
/// `with_places`: where.idx is made as well, if it is not there, by the same replay. `interrupted`: asked now and
/// then whether to stop, by one who has other children too. Without it a signal does what it always does, after the
/// replay has been ended. `on_wait`: as ReplayOptions has it.
Result<IndexedFacts> index_facts(const Recording& recording, bool with_places = false,
                                 std::function<bool()> interrupted = {},
                                 std::function<void(const Live&)> on_wait = {});

/// Where in the program events are; Places says what that is called.
struct IndexedPlaces {
  WhereIndex places;
  std::string divergence;
};
Result<IndexedPlaces> index_places(const Recording& recording);

/// As they are in objects.idx; nothing if that has to be made first.
std::optional<std::vector<ObjectHistory>> known_objects(const Recording& recording);
/// The same of where.idx.
std::optional<WhereIndex> known_places(const Recording& recording);

}  // namespace pastcone::replay
