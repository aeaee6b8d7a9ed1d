// pastcone path: the longest chain of events from one to another.
#include "pastcone/causal/path.h"

#include <memory>
#include <set>

#include "pastcone/causal/cone.h"
#include "pastcone/cli/graph_question.h"
#include "pastcone/cli/graph_text.h"
#include "pastcone/cli/program.h"
#include "pastcone/cli/text.h"
#include "pastcone/graph/steps.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {
namespace {

using causal::Arrow;
using causal::Node;
using Json = nlohmann::ordered_json;

constexpr size_t kMost = 100;  // arrows that are shown of either end of a chain

struct Options : GraphOptions {
  std::string a, b;
  bool all = false;
};

/// What a chain is made of, in events; the graph counts steps.
struct Length {
  uint64_t events = 0;
  std::set<uint32_t> threads;
};

Length length_of(const causal::Graph& graph, const std::vector<Arrow>& chain, Node a, Node b) {
  Length length;
  auto add = [&](Node from, Node to) {
    length.events += graph::event_at(graph, to) - (graph::plain_step(graph, from) - 1) / 2;
    length.threads.insert(from.thread);
  };
  Node from = a;
  for (const Arrow& arrow : chain) {
    add(from, arrow.from);
    from = arrow.to;
  }
  add(from, b);
  return length;
}

Status print(const Asked& asked, const Where& where, Node a, Node b, const Options& options,
             const std::optional<std::vector<Arrow>>& chain) {
  const causal::Graph& graph = asked.graph();
  EventId from = event_of(graph, a), to = event_of(graph, b);
  if (!chain) {
    bool reverse = causal::happened_before(graph, cause(graph, b, options.order()), a, options.order());
    fmt::print("there is no chain from {} to {}: {}\n", from, to,
               a == b    ? "they are the same event"
               : reverse ? fmt::format("it is the other way round, try `pastcone path {} {}`", to, from)
                         : "they are concurrent");
    return {};
  }
  Length length = length_of(graph, *chain, a, b);
  fmt::print("{} from {} to {}, in {}, by {}\n", plural(length.events, "event", "events"), from, to,
             plural(length.threads.size(), "thread", "threads"), plural(chain->size(), "arrow", "arrows"));
  if (options.all || chain->size() <= 2 * kMost) return print_chain(asked, where, *chain);
  TRY_STATUS(print_chain(asked, where, {chain->begin(), chain->begin() + kMost}));
  fmt::print("  … and {} more, then (--all for all of them):\n", chain->size() - 2 * kMost);
  return print_chain(asked, where, {chain->end() - kMost, chain->end()});
}

Result<int> show(const Options& options) {
  EventId first = TRY(EventId::parse(options.a)), second = TRY(EventId::parse(options.b));
  Asked asked = TRY(Asked::open(options.rec, options.where));
  const causal::Graph& graph = asked.graph();
  Node a = TRY(find_event(graph, first)), b = TRY(find_event(graph, second));
  std::optional<std::vector<Arrow>> chain;
  if (a != b) {
    auto found = causal::longest_chain(graph, cause(graph, a, options.order()), b, options.order());
    if (found) chain = found->arrows(graph);
  }
  Where where = Where::known(asked.recording, options.where);
  if (!options.json) {
    TRY_STATUS(print(asked, where, a, b, options, chain));
    return 0;
  }
  Json json{{"a", to_string(first)}, {"b", to_string(second)}, {"order", to_string(options.order())}};
  json["events"] = chain ? Json(length_of(graph, *chain, a, b).events) : Json();
  json["chain"] = chain ? chain_json(graph, where, *chain) : Json();
  fmt::print("{}\n", dump_json(json, 2));
  return 0;
}

}  // namespace

void add_path(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& path = program.add("path", "the longest chain of events from one to another",
                               [options] { return show(*options); });
  path.add_option("A", options->a, "where it begins: p1:17, or p1.2:17 in the second thread of p1")
      ->required();
  path.add_option("B", options->b, "where it ends")->required();
  add_rec(path, *options);
  add_turns(path, *options);
  add_where(path, *options);
  path.add_flag("--all", options->all, "all arrows of the chain; else of a long one the first and the last");
  add_json(path, *options);
}

}  // namespace pastcone::cli
