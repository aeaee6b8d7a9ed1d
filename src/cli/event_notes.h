// What given events are, looked up in the recording: every thread that has one of them is read once, up to
// the last of them.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pastcone/base/ids.h"
#include "pastcone/base/result.h"
#include "pastcone/trace/event_reader.h"
#include "pastcone/trace/recording.h"

namespace pastcone::cli {

/// Calls visit for each of them that there is, once, by thread and event. An error where a stream is damaged.
Status visit_events(const Recording& recording, std::vector<EventId> events,
                    const std::function<void(EventId, const Event&, EventReader&)>& visit);

struct EventNote {
  std::string what;  ///< "read              ch 12<-  = 45"
  nlohmann::ordered_json json;
};

/// As `events` shows them. An event that is not there has an empty note.
class EventNotes {
 public:
  static Result<EventNotes> read(const Recording& recording, std::vector<EventId> events);
  const EventNote& operator[](EventId event) const;

 private:
  std::map<EventId, EventNote> notes_;
};

}  // namespace pastcone::cli
