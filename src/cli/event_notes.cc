#include "pastcone/cli/event_notes.h"

#include <algorithm>

#include "pastcone/cli/event_text.h"

namespace pastcone::cli {

Status visit_events(const Recording& recording, std::vector<EventId> events,
                    const std::function<void(EventId, const Event&, EventReader&)>& visit) {
  std::ranges::sort(events);
  events.erase(std::unique(events.begin(), events.end()), events.end());
  for (auto next = events.begin(); next != events.end();) {
    ThreadId thread = next->thread();
    EventReader reader(recording, thread);
    while (next != events.end() && next->thread() == thread) {
      const Event* event = next->index() == 0 ? nullptr : TRY(reader.next());
      if (event != nullptr && event->item.event < next->index()) continue;
      if (event != nullptr) visit(*next, *event, reader);
      ++next;
    }
  }
  return {};
}

Result<EventNotes> EventNotes::read(const Recording& recording, std::vector<EventId> events) {
  EventNotes notes;
  EventText text(recording.files());
  TRY_STATUS(
      visit_events(recording, std::move(events), [&](EventId id, const Event& event, EventReader& reader) {
        notes.notes_[id] = {text.what(event, reader), text.json(id.thread(), event, reader)};
      }));
  return notes;
}

const EventNote& EventNotes::operator[](EventId event) const {
  static const EventNote kNothing;
  auto found = notes_.find(event);
  return found == notes_.end() ? kNothing : found->second;
}

}  // namespace pastcone::cli
