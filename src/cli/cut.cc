// pastcone cut: whether a choice of events is a state that could have been, and what is in transit there.
#include "pastcone/causal/cut.h"

#include <memory>

#include "pastcone/causal/transit.h"
#include "pastcone/cli/cut_text.h"
#include "pastcone/cli/graph_question.h"
#include "pastcone/cli/graph_text.h"
#include "pastcone/cli/program.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {
namespace {

using causal::Graph;
using causal::Node;
using Json = nlohmann::ordered_json;

struct Options : GraphOptions {
  std::vector<std::string> what;  ///< EVENT… [REC]
};

/// The events; the recording, if it is the last of these arguments or the first, goes to `rec`.
Result<std::vector<EventId>> events_of(const std::vector<std::string>& what, std::string& rec) {
  std::vector<EventId> events;
  for (size_t i = 0; i < what.size(); ++i) {
    auto event = EventId::parse(what[i]);
    bool may_be_rec = (i == 0 || i + 1 == what.size()) && rec.empty() && what.size() > 1;
    bool meant_as_event = what[i].find(':') != std::string::npos && what[i].find('/') == std::string::npos;
    if (!event && may_be_rec && !meant_as_event) {
      rec = what[i];
      continue;
    }
    events.push_back(TRY(std::move(event)));
  }
  return events;
}

Result<int> show_cut(Options options) {
  std::vector<EventId> events = TRY(events_of(options.what, options.rec));
  Asked asked = TRY(Asked::open(options.rec, options.where));
  const Graph& graph = asked.graph();
  std::vector<Node> nodes = TRY(find_cut(graph, events));
  causal::Breakpoint there = causal::causal_breakpoint(graph, nodes, options.order());
  causal::Cut cut = there.cut;
  for (Node node : nodes) cut[node.thread] = node.event;
  std::vector<causal::Piece> orphans = causal::orphans(graph, cut);
  Where where = Where::known(asked.recording, options.where);
  if (options.json) {
    Json json{{"consistent", !there.conflict}, {"order", to_string(options.order())}};
    json["witness"] = there.conflict ? arrow_json(graph, *there.conflict) : Json();
    TRY_STATUS(put_cut(asked, where, cut, json));
    json["orphans"] = pieces_json(graph, orphans);
    fmt::print("{}\n", dump_json(json, 2));
    return 0;
  }
  if (there.conflict) {
    fmt::print("not consistent: {} comes from outside\n", arrow_text(graph, *there.conflict));
  } else {
    fmt::print("consistent\n");
  }
  TRY_STATUS(print_cut(asked, where, cut));
  print_orphans(graph, orphans);
  return 0;
}

}  // namespace

void add_cut(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& cut = program.add(
      "cut", "whether these events are a state that could have been, and what is in transit there",
      [options] { return show_cut(*options); });
  cut.add_option("WHAT", options->what,
                 "EVENT… [REC]: the last event of each thread, p1:17 p3:4 (a thread left out: as far as the "
                 "others need), "
                 "and a recording (left out, the newest)")
      ->required();
  add_turns(cut, *options);
  add_where(cut, *options);
  add_json(cut, *options);
}

}  // namespace pastcone::cli
