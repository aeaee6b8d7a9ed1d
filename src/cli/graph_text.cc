#include "pastcone/cli/graph_text.h"

#include <map>
#include <optional>

#include "pastcone/cli/text.h"
#include "pastcone/graph/steps.h"

namespace pastcone::cli {

using causal::Arrow;
using causal::EdgeKind;
using causal::Graph;
using causal::Node;
using causal::Piece;
using Json = nlohmann::ordered_json;

namespace {

std::optional<uint64_t> channel_of(const Graph& graph, const Arrow& arrow) {
  if (arrow.kind == EdgeKind::kMessage && arrow.label < graph.sends.size()) {
    return graph.channels[graph.sends[arrow.label].channel].id;
  }
  if (arrow.kind == EdgeKind::kEnd && arrow.label < graph.channels.size())
    return graph.channels[arrow.label].id;
  return {};
}

/// Which `show obj` shows by this number.
bool is_of_object(const Arrow& arrow) {
  bool kind = arrow.kind == EdgeKind::kObject || arrow.kind == EdgeKind::kBarrier;
  return kind && arrow.label != causal::kNone;
}

Json channel_json(const Graph& graph, const Arrow& arrow) {
  auto channel = channel_of(graph, arrow);
  return channel ? Json(*channel) : Json();
}

std::string piece_text(const Graph& graph, const Piece& piece) {
  const causal::Transfer& send = graph.sends[piece.send];
  return fmt::format("{} of {}, channel {}", plural(piece.end - piece.begin, "byte", "bytes"),
                     event_of(graph, send.at), graph.channels[send.channel].id);
}

}  // namespace

Result<std::vector<Node>> find_cut(const Graph& graph, const std::vector<EventId>& events) {
  std::map<ThreadId, EventId> taken;
  std::vector<Node> nodes;
  for (EventId event : events) {
    nodes.push_back(TRY(find_event(graph, event)));
    auto [other, first] = taken.emplace(event.thread(), event);
    if (first) continue;
    return fail("{} and {} are of one thread, which can be at one of them only; leave one out", other->second,
                event);
  }
  return nodes;
}

EventId event_of(const Graph& graph, Node node) {
  return {graph.thread_id(node.thread), graph::event_of_step(graph, node)};
}

Place place_of(const Graph& graph, Node node) {
  const causal::Thread& thread = graph.threads[node.thread];
  bool entered = graph::is_entering(graph, node);
  bool ended = !entered && node.event == thread.events && (thread.flags & causal::Thread::kEnded) != 0;
  return {{graph.thread_id(node.thread), graph::event_at(graph, node)},
          entered,
          ended,
          graph::point_at(graph, node)};
}

std::string place_text(const Place& place) {
  std::string text =
      place.last.index() == 0 ? fmt::format("{} has not begun", place.last.thread()) : to_string(place.last);
  if (place.ended) return text + ", its end";
  if (place.entered) text += fmt::format(", on its way into event {}", place.last.index() + 1);
  if (place.point != 0) text += fmt::format(", up to point {} of its locks", place.point);
  return text;
}

std::string step_text(const Graph& graph, Node node) {
  bool entering = graph::is_entering(graph, node), after = graph::point_at(graph, node) != 0;
  return fmt::format("{}{}", entering ? "into " : after ? "after " : "", event_of(graph, node));
}

std::string why_text(const Graph& graph, const Arrow& arrow) {
  std::string text = to_string(arrow.kind);
  if (auto channel = channel_of(graph, arrow)) return fmt::format("{}, channel {}", text, *channel);
  bool labelled = arrow.label != causal::kNone;
  if (labelled && arrow.kind == EdgeKind::kHandOver) text += fmt::format(" of the turn of p{}", arrow.label);
  if (is_of_object(arrow)) text += fmt::format(" {}", arrow.label + 1);
  return text;
}

std::string arrow_text(const Graph& graph, const Arrow& arrow) {
  return fmt::format("{} → {} ({})", step_text(graph, arrow.from), step_text(graph, arrow.to),
                     why_text(graph, arrow));
}

Json arrow_json(const Graph& graph, const Arrow& arrow) {
  return {{"from", to_string(event_of(graph, arrow.from))},
          {"from_entering", graph::is_entering(graph, arrow.from)},
          {"to", to_string(event_of(graph, arrow.to))},
          {"to_entering", graph::is_entering(graph, arrow.to)},
          {"kind", to_string(arrow.kind)},
          {"channel", channel_json(graph, arrow)},
          {"object", is_of_object(arrow) ? Json(arrow.label + 1) : Json()}};
}

void print_transit(const Graph& graph, const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) fmt::print("in transit: {}\n", piece_text(graph, piece));
}

void print_orphans(const Graph& graph, const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    fmt::print("orphan: {}, received by {}\n", piece_text(graph, piece),
               event_of(graph, graph.receives[piece.receive].at));
  }
}

Json pieces_json(const Graph& graph, const std::vector<Piece>& pieces) {
  Json json = Json::array();
  for (const Piece& piece : pieces) {
    const causal::Transfer& send = graph.sends[piece.send];
    Json& each = json.emplace_back(Json{{"send", to_string(event_of(graph, send.at))}});
    if (piece.receive != causal::kNone) {
      each["receive"] = to_string(event_of(graph, graph.receives[piece.receive].at));
    }
    each["channel"] = graph.channels[send.channel].id;
    each["begin"] = piece.begin;
    each["end"] = piece.end;
  }
  return json;
}

const char* to_string(causal::Order order) { return order == causal::Order::kCausal ? "causal" : "enforced"; }

}  // namespace pastcone::cli
