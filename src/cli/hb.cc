// pastcone hb: which of two events happened before the other, and how that is known.
#include <memory>

#include "pastcone/cli/graph_question.h"
#include "pastcone/cli/graph_text.h"
#include "pastcone/cli/program.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {
namespace {

using causal::Arrow;
using causal::Node;
using Json = nlohmann::ordered_json;

struct Options : GraphOptions {
  std::string a, b;
};

struct Answer {
  const char* relation = "concurrent";  ///< of a to b
  std::vector<Arrow> chain;
};

Answer compare(const causal::Graph& graph, Node a, Node b, causal::Order order) {
  if (a == b) return {"same", {}};
  if (auto chain = causal::witness_path(graph, cause(graph, a, order), b, order))
    return {"before", *std::move(chain)};
  if (auto chain = causal::witness_path(graph, cause(graph, b, order), a, order))
    return {"after", *std::move(chain)};
  return {};
}

Status print(const Asked& asked, const Where& where, EventId a, EventId b, const Answer& answer) {
  std::string_view relation = answer.relation;
  if (relation == "same") {
    fmt::print("they are the same event\n");
  } else if (relation == "concurrent") {
    fmt::print("{} and {} are concurrent: neither could know of the other\n", a, b);
  } else {
    if (relation == "after") std::swap(a, b);
    fmt::print("{} happened before {}{}\n", a, b, answer.chain.empty() ? ", in the same thread" : "");
  }
  for (EventId event : {a, b}) {
    if (const std::string& place = where.text(event); !place.empty()) fmt::print("{} at {}\n", event, place);
  }
  return print_chain(asked, where, answer.chain);
}

Result<int> show(const Options& options) {
  EventId a = TRY(EventId::parse(options.a)), b = TRY(EventId::parse(options.b));
  Asked asked = TRY(Asked::open(options.rec, options.where));
  const causal::Graph& graph = asked.graph();
  Answer answer = compare(graph, TRY(find_event(graph, a)), TRY(find_event(graph, b)), options.order());
  Where where = Where::known(asked.recording, options.where);
  if (!options.json) {
    TRY_STATUS(print(asked, where, a, b, answer));
    return 0;
  }
  Json json{{"a", to_string(a)}, {"b", to_string(b)}, {"order", to_string(options.order())}};
  json["relation"] = answer.relation;
  json["a_location"] = where.json(a);
  json["b_location"] = where.json(b);
  json["chain"] = chain_json(graph, where, answer.chain);
  fmt::print("{}\n", dump_json(json, 2));
  return 0;
}

}  // namespace

void add_hb(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& hb =
      program.add("hb", "which of two events happened before the other, and the messages that prove it",
                  [options] { return show(*options); });
  hb.add_option("A", options->a, "an event: p1:17, or p1.2:17 in the second thread of p1")->required();
  hb.add_option("B", options->b, "another")->required();
  add_rec(hb, *options);
  add_turns(hb, *options);
  add_where(hb, *options);
  add_json(hb, *options);
}

}  // namespace pastcone::cli
