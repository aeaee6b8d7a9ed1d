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

Result<EventNotes> notes_of(const Recording& recording, const std::vector<Place>& places, NoteForm form) {
  std::vector<EventId> events;
  for (const Place& place : places) events.push_back(place.last);
  return EventNotes::read(recording, std::move(events), form);
}

}  // namespace

Table table_of_events(const char* place, const char* event, const Where& where) {
  std::vector<std::pair<std::string, Table::Align>> columns{{place, Table::Align::kLeft},
                                                            {event, Table::Align::kLeft}};
  if (where) columns.push_back({"SOURCE", Table::Align::kLeft});
  return Table(std::move(columns));
}

std::vector<std::string> row_of_event(std::string place, std::string what, const Where& where,
                                      EventId event) {
  std::vector<std::string> row{std::move(place), std::move(what)};
  if (where) row.push_back(where.text(event));
  return row;
}

Status print_cut(const Asked& asked, const Where& where, const causal::Cut& cut) {
  std::vector<Place> all = places(asked.graph(), cut);
  EventNotes notes = TRY(notes_of(asked.recording, all, NoteForm::kText));
  Table table = table_of_events("WHERE", "LAST EVENT", where);
  for (const Place& place : all)
    table.add(row_of_event(place_text(place), notes[place.last].what, where, place.last));
  fmt::print("{}", table.text(terminal_width()));
  print_transit(asked.graph(), causal::in_transit(asked.graph(), cut));
  return {};
}

Status put_cut(const Asked& asked, const Where& where, const causal::Cut& cut, Json& json) {
  std::vector<Place> all = places(asked.graph(), cut);
  EventNotes notes = TRY(notes_of(asked.recording, all, NoteForm::kJson));
  json["threads"] = Json::array();
  for (const Place& place : all) {
    bool begun = place.last.index() != 0;
    json["threads"].push_back({{"thread", to_string(place.last.thread())},
                               {"event", begun ? Json(to_string(place.last)) : Json()},
                               {"entering", place.entered},
                               {"ended", place.ended},
                               {"point", place.point != 0 ? Json(place.point) : Json()},
                               {"last", notes[place.last].json},
                               {"location", where.json(place.last)}});
  }
  json["in_transit"] = pieces_json(asked.graph(), causal::in_transit(asked.graph(), cut));
  return {};
}

}  // namespace pastcone::cli
