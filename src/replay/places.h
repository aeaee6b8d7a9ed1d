// Where in the program the events of a recording are: function and source line, as far as the files tell.
// Found by replaying once, and kept beside the recording in where.idx, which is made again should it be
// missing, damaged or old.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "pastcone/replay/where_index.h"
#include "pastcone/symbols/code_file.h"
#include "pastcone/trace/recording.h"

namespace pastcone::replay {

class Places {
 public:
  /// The recording must outlive it. `known` comes from index_places().
  Places(const Recording& recording, WhereIndex known);
  ~Places();

  /// The user's code that made the event; nullptr: not known. The same place has the same address.
  const symbols::Location* find(EventId event);

 private:
  const symbols::CodeFile* file(uint32_t id);
  const std::vector<symbols::Location>& locations_at(uint64_t place);
  const symbols::Location* locate(const CallChain& chain);

  const Recording& recording_;
  WhereIndex index_;
  std::map<uint32_t, std::optional<symbols::CodeFile>> files_;
  std::map<std::string, symbols::Location> locations_;  ///< by all that they say
  std::map<uint64_t, std::vector<symbols::Location>> by_place_;
  std::map<uint32_t, const symbols::Location*> by_chain_;
};

}  // namespace pastcone::replay
