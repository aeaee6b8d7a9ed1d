#include "pastcone/cli/cut_text.h"

#include "pastcone/causal/transit.h"
#include "pastcone/cli/graph_text.h"
#include "pastcone/cli/text.h"

namespace pastcone::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Place> places(const causal::Graph& graph, const causal::Cut& cut) {
  std::vector<Place> all;
  for (uint32_t thread = 0; thread < graph.real_threads; ++thread)
    all.push_back(place_of(graph, {thread, cut[thread]}));
  return all;
}

Result<EventNotes> notes_of(const Recording& recording, const std::vector<Place>& places) {
  std::vector<EventId> events;
  for (const Place& place : places) events.push_back(place.last);
  return EventNotes::read(recording, std::move(events));
}

}  // namespace

Status print_cut(const Asked& asked, const causal::Cut& cut) {
  std::vector<Place> all = places(asked.graph(), cut);
  EventNotes notes = TRY(notes_of(asked.recording, all));
  Table table({{"WHERE", Table::Align::kLeft}, {"LAST EVENT", Table::Align::kLeft}});
  for (const Place& place : all) table.add({place_text(place), notes[place.last].what});
  fmt::print("{}", table.text(terminal_width()));
  print_transit(asked.graph(), causal::in_transit(asked.graph(), cut));
  return {};
}

Status put_cut(const Asked& asked, const causal::Cut& cut, Json& json) {
  std::vector<Place> all = places(asked.graph(), cut);
  EventNotes notes = TRY(notes_of(asked.recording, all));
  json["threads"] = Json::array();
  for (const Place& place : all) {
    bool begun = place.last.index() != 0;
    json["threads"].push_back({{"thread", to_string(place.last.thread())},
                               {"event", begun ? Json(to_string(place.last)) : Json()},
                               {"entering", place.entered},
                               {"ended", place.ended},
                               {"last", notes[place.last].json}});
  }
  json["in_transit"] = pieces_json(asked.graph(), causal::in_transit(asked.graph(), cut));
  return {};
}

}  // namespace pastcone::cli
