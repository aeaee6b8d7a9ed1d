#include "pastcone/cli/luck.h"

#include <algorithm>

#include "pastcone/causal/luck.h"
#include "pastcone/cli/graph_text.h"
#include "pastcone/cli/text.h"
#include "pastcone/replay/indexing.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {
namespace {

using causal::LuckyOrder;
using Json = nlohmann::ordered_json;
using Objects = std::vector<replay::ObjectHistory>;

/// Those of one object.
struct Group {
  uint32_t object;
  std::vector<LuckyOrder> orders;
};

/// Those with the most first.
std::vector<Group> group(const std::vector<LuckyOrder>& orders) {
  std::vector<Group> groups;
  for (const LuckyOrder& order : orders) {
    if (groups.empty() || groups.back().object != order.object) groups.push_back({order.object, {}});
    groups.back().orders.push_back(order);
  }
  std::ranges::stable_sort(groups, std::greater(), [](const Group& each) { return each.orders.size(); });
  return groups;
}

const replay::ObjectHistory* find(const Objects& objects, uint32_t object) {
  return object < objects.size() ? &objects[object] : nullptr;
}

/// "obj 4 work, mutex"; what calls share (a semaphore of System V …) has no number.
std::string title(const Objects& objects, uint32_t object) {
  if (object == causal::kNone) return "what calls share";
  const replay::ObjectHistory* found = find(objects, object);
  if (found == nullptr) return fmt::format("obj {}", object + 1);
  std::string name = found->name.empty() ? "" : " " + printable(found->name);
  return fmt::format("obj {}{}, {}", object + 1, name, replay::kind_name(found->kind));
}

void print(const causal::Graph& graph, const Objects& objects, const Group& group, bool all) {
  constexpr size_t kMost = 10;
  size_t shown = all ? group.orders.size() : std::min(group.orders.size(), kMost);
  fmt::print("\n{}: {}\n", title(objects, group.object),
             plural(group.orders.size(), "hand-over by luck", "hand-overs by luck"));
  for (size_t i = 0; i < shown; ++i) {
    const LuckyOrder& order = group.orders[i];
    EventId from = event_of(graph, order.release), to = event_of(graph, order.access);
    fmt::print("  {} gave it back after event {}, then {} took it after event {}\n", from.thread(),
               from.index(), to.thread(), to.index());
  }
  if (shown < group.orders.size()) fmt::print("  … and {} more: --all\n", group.orders.size() - shown);
}

Json to_json(const causal::Graph& graph, const Objects& objects, const Group& group) {
  Json json;
  const replay::ObjectHistory* found = find(objects, group.object);
  json["object"] = group.object == causal::kNone ? Json() : Json(group.object + 1);
  json["kind"] = found != nullptr ? Json(replay::kind_name(found->kind)) : Json();
  json["name"] = found != nullptr && !found->name.empty() ? Json(found->name) : Json();
  json["orders"] = Json::array();
  for (const LuckyOrder& order : group.orders) {
    json["orders"].push_back({{"release", to_string(event_of(graph, order.release))},
                              {"access", to_string(event_of(graph, order.access))}});
  }
  return json;
}

}  // namespace

Status show_luck(const Asked& asked, bool all, bool json) {
  std::vector<LuckyOrder> orders = causal::lucky_orders(asked.graph());
  std::vector<Group> groups = group(orders);
  Objects objects = replay::known_objects(asked.recording).value_or(Objects());
  if (json) {
    Json list = Json::array();
    for (const Group& each : groups) list.push_back(to_json(asked.graph(), objects, each));
    fmt::print("{}\n", dump_json({{"hand_overs", orders.size()}, {"objects", list}}, 2));
    return {};
  }
  if (groups.empty()) {
    fmt::print("no lock or object was had in an order that could have been another\n");
    return {};
  }
  fmt::print("{} of {} could have come in another order\n", plural(orders.size(), "hand-over", "hand-overs"),
             plural(groups.size(), "object", "objects"));
  for (const Group& each : groups) print(asked.graph(), objects, each, all);
  return {};
}

}  // namespace pastcone::cli
