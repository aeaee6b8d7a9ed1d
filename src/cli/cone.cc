// pastcone cone: the past of an event, or its future.
#include "pastcone/causal/cone.h"

#include <memory>

#include "pastcone/cli/cut_text.h"
#include "pastcone/cli/graph_question.h"
#include "pastcone/cli/graph_text.h"
#include "pastcone/cli/program.h"
#include "pastcone/cli/text.h"
#include "pastcone/graph/steps.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {
namespace {

using causal::Graph;
using causal::Node;
using Json = nlohmann::ordered_json;

struct Options : GraphOptions {
  std::string event;
  bool future = false;
};

/// The first step of each thread that is in the future; none for those that have none.
std::vector<Node> first_steps(const Graph& graph, Node event, causal::Order order) {
  std::vector<uint32_t> future = causal::future_cone(graph, std::span(&event, 1), order);
  std::vector<Node> steps;
  for (uint32_t thread = 0; thread < graph.real_threads; ++thread) {
    if (future[thread] <= graph.threads[thread].events) steps.push_back({thread, future[thread]});
  }
  return steps;
}

Status show_future(const Asked& asked, const Where& where, Node event, const Options& options) {
  const Graph& graph = asked.graph();
  std::vector<Node> steps = first_steps(graph, event, options.order());
  std::vector<EventId> events;
  for (Node step : steps) events.push_back(event_of(graph, step));
  NoteForm form = options.json ? NoteForm::kJson : NoteForm::kText;
  EventNotes notes = TRY(EventNotes::read(asked.recording, events, form));
  if (!options.json) {
    Table table = table_of_events("FROM", "FIRST EVENT", where);
    for (Node step : steps) {
      EventId first = event_of(graph, step);
      table.add(row_of_event(step_text(graph, step), notes[first].what, where, first));
    }
    fmt::print("{}", table.text(terminal_width()));
    if (steps.size() == graph.real_threads) return {};
    fmt::print("nothing of it in {}\n",
               plural(graph.real_threads - steps.size(), "other thread", "other threads"));
    return {};
  }
  Json json{{"event", to_string(event_of(graph, event))},
            {"cone", "future"},
            {"order", to_string(options.order())}};
  json["threads"] = Json::array();
  for (Node step : steps) {
    EventId first = event_of(graph, step);
    json["threads"].push_back({{"thread", to_string(first.thread())},
                               {"event", to_string(first)},
                               {"entering", graph::is_entering(graph, step)},
                               {"first", notes[first].json},
                               {"location", where.json(first)}});
  }
  fmt::print("{}\n", dump_json(json, 2));
  return {};
}

Status show_past(const Asked& asked, const Where& where, Node event, const Options& options) {
  const Graph& graph = asked.graph();
  causal::Cut cut = causal::past_cone(graph, event, options.order());
  if (!options.json) return print_cut(asked, where, cut);
  Json json{
      {"event", to_string(event_of(graph, event))}, {"cone", "past"}, {"order", to_string(options.order())}};
  TRY_STATUS(put_cut(asked, where, cut, json));
  fmt::print("{}\n", dump_json(json, 2));
  return {};
}

Result<int> show_cone(const Options& options) {
  EventId id = TRY(EventId::parse(options.event));
  Asked asked = TRY(Asked::open(options.rec, options.where));
  Node event = TRY(find_event(asked.graph(), id));
  Where where = Where::known(asked.recording, options.where);
  TRY_STATUS(options.future ? show_future(asked, where, event, options)
                            : show_past(asked, where, event, options));
  return 0;
}

}  // namespace

void add_cone(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& cone = program.add("cone", "the past of an event: how far each thread had to come for it",
                               [options] { return show_cone(*options); });
  cone.add_option("EVENT", options->event, "p1:17, or p1.2:17 in the second thread of p1")->required();
  add_rec(cone, *options);
  cone.add_flag("--future", options->future,
                "its future instead: from where on each thread could know of it");
  add_turns(cone, *options);
  add_where(cone, *options);
  add_json(cone, *options);
}

}  // namespace pastcone::cli
