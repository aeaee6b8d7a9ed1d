#include <algorithm>
#include <charconv>

#include "pastcone/debug/navigate.h"
#include "pastcone/graph/names.h"
#include "pastcone/graph/steps.h"

namespace pastcone::debug {

using causal::Cut;
using causal::Graph;
using causal::Node;
using causal::Order;

namespace {

/// Steps around an access.
AccessStop steps_of(const Graph& graph, uint32_t thread, const AccessPlace& place) {
  uint32_t last = graph.threads[thread].events;
  uint64_t plain = place.step != 0 ? place.step : graph::leaving(place.event);
  auto within = static_cast<uint32_t>(std::min<uint64_t>(plain, graph::plain_step(graph, {thread, last})));
  AccessStop stop;
  stop.before = place.point != 0 ? graph::find_step(graph, thread, within, place.point)
                                 : graph::find_step(graph, thread, within);
  bool is_step = place.point != 0 && graph::point_at(graph, stop.before) == place.point;
  stop.after = {thread, is_step ? stop.before.event : std::min(stop.before.event + 1, last)};
  stop.point = place.point;
  return stop;
}

std::optional<uint64_t> take_number(std::string_view& text) {
  uint64_t number = 0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  return number;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Result<DemandPoint> parse_access(std::string_view rest) {
  size_t sign = rest.rfind('#');
  bool parts = sign != std::string_view::npos && sign > 0;
  std::string_view name = rest.substr(0, parts ? sign : 0), number = name;
  std::string_view text = parts ? rest.substr(sign + 1) : std::string_view();
  uint64_t object = take_number(number).value_or(0);
  bool numbered = number.empty();
  auto access = take_number(text);
  if (!parts || !access || !text.empty() || (numbered && object == 0)) {
    return fail(
        "`obj {}` is no access of an object; try `obj 4#17`: access 17 of object 4, as `show obj` counts "
        "them",
        rest);
  }
  if (!numbered) return ObjectAccess{0, *access, std::string(name)};
  return ObjectAccess{object, *access};
}

Result<DemandPoint> parse_flow(std::string_view word, std::string_view rest) {
  auto wrong = [&] {
    return fail("`{} {}` is no message; try `{} 3 of p1->p2`: the third of p1 that p2 received", word, rest,
                word);
  };
  std::string_view text = rest;
  auto number = take_number(text);
  text = trimmed(text);
  size_t arrow = text.find("->");
  if (!number || !text.starts_with("of ") || arrow == std::string_view::npos) return wrong();
  if (*number == 0) return fail("messages count from 1: try `{} 1 {}`", word, text);
  ProcessId from = TRY(ProcessId::parse(trimmed(text.substr(3, arrow - 3))));
  ProcessId to = TRY(ProcessId::parse(trimmed(text.substr(arrow + 2))));
  return Flow{from, to, *number, word == "recv"};
}

}  // namespace

Result<DemandPoint> parse_demand_point(std::string_view text) {
  text = trimmed(text);
  if (text.empty())
    return fail("run to where? Try `run to p3:1041`, `run to obj 4#17` or `run to recv 3 of p1->p2`");
  size_t space = text.find(' ');
  std::string_view word = text.substr(0, space);
  std::string_view rest = space == std::string_view::npos ? std::string_view() : trimmed(text.substr(space));
  if (word == "obj") return parse_access(rest);
  if (word == "send" || word == "recv") return parse_flow(word, rest);
  return TRY(EventId::parse(text));
}

Result<AccessStop> find_access(const Graph& graph, std::span<const AccessPlace> history,
                               const ObjectAccess& which) {
  if (which.access >= history.size()) {
    if (history.empty()) return fail("obj {} has no accesses", which.object);
    return fail("obj {} has no access {}: the last is {}#{}; `show obj {}` shows them", which.object,
                which.access, which.object, history.size() - 1, which.object);
  }
  const AccessPlace& place = history[which.access];
  uint32_t thread = TRY(graph.find(place.thread));
  AccessStop stop = steps_of(graph, thread, place);
  stop.cut = causal::past_cone(graph, stop.before, Order::kEnforced);
  return stop;
}

bool is_done(const Graph& graph, const Cut& cut, const AccessPlace& place) {
  auto thread = graph.find(place.thread);
  if (!thread) return false;
  return steps_of(graph, *thread, place).after.event <= cut[*thread];
}

}  // namespace pastcone::debug
