#include "pastcone/cli/event_notes.h"

#include <algorithm>
#include <span>

#include "pastcone/cli/event_text.h"

namespace pastcone::cli {

namespace {

using Visit = std::function<void(EventId, const Event&, EventReader&)>;

/// Events of one thread, ascending. False: some of what was asked for takes reading all before it.
Result<bool> visit_thread(const Recording& recording, std::span<const EventId> events, bool skip,
                          const Visit& visit) {
  EventReader reader(recording, events.front().thread());
  for (EventId wanted : events) {
    if (wanted.index() == 0) continue;
    if (skip) reader.skip_to(wanted.index());
    const Event* event = TRY(reader.next());
    while (event != nullptr && event->item.event < wanted.index()) event = TRY(reader.next());
    if (event == nullptr) break;
    visit(wanted, *event, reader);
    if (!reader.whole()) return false;
  }
  return true;
}

}  // namespace

Status visit_events(const Recording& recording, std::vector<EventId> events, const Visit& visit) {
  std::ranges::sort(events);
  events.erase(std::unique(events.begin(), events.end()), events.end());
  for (std::span<const EventId> left = events; !left.empty();) {
    auto last = std::ranges::upper_bound(left, left.front().thread(), {}, &EventId::thread);
    auto count = static_cast<size_t>(last - left.begin());
    if (!TRY(visit_thread(recording, left.first(count), true, visit)))
      TRY(visit_thread(recording, left.first(count), false, visit));
    left = left.subspan(count);
  }
  return {};
}

Result<EventNotes> EventNotes::read(const Recording& recording, std::vector<EventId> events, NoteForm form) {
  EventNotes notes;
  EventText text(recording.files());
  TRY_STATUS(
      visit_events(recording, std::move(events), [&](EventId id, const Event& event, EventReader& reader) {
        EventNote& note = notes.notes_[id];
        if (form == NoteForm::kText) note.what = text.what(event, reader);
        if (form == NoteForm::kJson) note.json = text.json(id.thread(), event, reader);
      }));
  return notes;
}

const EventNote& EventNotes::operator[](EventId event) const {
  static const EventNote kNothing;
  auto found = notes_.find(event);
  return found == notes_.end() ? kNothing : found->second;
}

}  // namespace pastcone::cli
