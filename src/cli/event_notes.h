// What given events are, looked up in the recording: of every thread the parts that have some of them are
// read; all up to the last of them only where their data is asked for, or what a clock said.
#pragma once

#include <cstdint>
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

/// Calls visit for each of them that there is, by thread and event; if it asked for what is not known without
/// reading all before, again for all of that thread. An error where a stream is damaged.
Status visit_events(const Recording& recording, std::vector<EventId> events,
                    const std::function<void(EventId, const Event&, EventReader&)>& visit);

enum class NoteForm : uint8_t { kText, kJson };

struct EventNote {
  std::string what;  ///< "read              ch 12<-  = 45"
  nlohmann::ordered_json json;
};

/// As `events` shows them, in one form. An event that is not there has an empty note.
class EventNotes {
 public:
  static Result<EventNotes> read(const Recording& recording, std::vector<EventId> events, NoteForm form);
  const EventNote& operator[](EventId event) const;

 private:
  std::map<EventId, EventNote> notes_;
};

}  // namespace pastcone::cli
