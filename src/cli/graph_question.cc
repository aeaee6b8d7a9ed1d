#include "pastcone/cli/graph_question.h"

#include <unordered_map>

#include "pastcone/cli/event_text.h"
#include "pastcone/cli/graph_facts.h"
#include "pastcone/cli/graph_text.h"
#include "pastcone/cli/recordings.h"
#include "pastcone/cli/text.h"

namespace pastcone::cli {

using causal::Arrow;
using Json = nlohmann::ordered_json;

void add_rec(CLI::App& command, GraphOptions& options) {
  command.add_option("REC", options.rec, "name or directory of a recording; left out, the newest");
}

void add_json(CLI::App& command, GraphOptions& options) {
  command.add_flag("--json", options.json, "for programs");
}

void add_turns(CLI::App& command, GraphOptions& options) {
  command.add_flag(
      "--turns", options.turns,
      "count the turns that threads took as well: replay --to keeps to them, but they say nothing "
      "about the program");
}

void add_where(CLI::App& command, GraphOptions& options) {
  command.add_flag(
      "--where", options.where,
      "where in the program the events are, though that takes a replay; else shown if it is known");
}

Result<Asked> Asked::open(const std::string& rec, bool with_places) {
  Recording recording = TRY(open_recording(rec, Check::kAsRead));
  graph::OpenedGraph opened = TRY(open_whole_graph(recording, with_places));
  return Asked{std::move(recording), std::move(opened)};
}

Status print_chain(const Asked& asked, const Where& where, const std::vector<Arrow>& arrows) {
  if (arrows.empty()) return {};
  std::vector<EventId> events;
  for (const Arrow& arrow : arrows) {
    for (causal::Node node : {arrow.from, arrow.to}) events.push_back(event_of(asked.graph(), node));
  }
  std::unordered_map<EventId, std::string> kinds;
  TRY_STATUS(visit_events(
      asked.recording, std::move(events),
      [&](EventId id, const Event& event, EventReader&) { kinds[id] = event_kind(event.item); }));
  auto step = [&](causal::Node node) {
    EventId event = event_of(asked.graph(), node);
    const std::string& place = where.text(event);
    return fmt::format("{} {}{}{}", step_text(asked.graph(), node), kinds[event], place.empty() ? "" : " at ",
                       place);
  };
  Table table({{"FROM", Table::Align::kLeft}, {"TO", Table::Align::kLeft}, {"BY", Table::Align::kLeft}});
  for (const Arrow& arrow : arrows)
    table.add({step(arrow.from), step(arrow.to), why_text(asked.graph(), arrow)});
  fmt::print("{}", table.text(terminal_width()));
  return {};
}

Json chain_json(const causal::Graph& graph, const Where& where, const std::vector<Arrow>& arrows) {
  Json json = Json::array();
  for (const Arrow& arrow : arrows) {
    Json& each = json.emplace_back(arrow_json(graph, arrow));
    each["from_location"] = where.json(event_of(graph, arrow.from));
    each["to_location"] = where.json(event_of(graph, arrow.to));
  }
  return json;
}

}  // namespace pastcone::cli
