// pastcone races: the receives that could have taken another message.
#include "pastcone/causal/races.h"

#include <algorithm>
#include <memory>

#include "pastcone/cli/event_text.h"
#include "pastcone/cli/graph_question.h"
#include "pastcone/cli/graph_text.h"
#include "pastcone/cli/program.h"
#include "pastcone/cli/text.h"
#include "pastcone/trace/json.h"
#include "pastcone/trace/processes.h"

namespace pastcone::cli {
namespace {

using causal::Contest;
using causal::Graph;
using causal::Races;
using causal::RacyReceive;
using Json = nlohmann::ordered_json;

struct Options : GraphOptions {
  bool all = false;
};

/// Receives by the same call of the same program.
struct Group {
  std::string call, program;
  std::vector<const RacyReceive*> receives;
};

std::string program_of(const ProcessTable& processes, ProcessId process) {
  const ProgramRun* run = processes.program(process);
  return run == nullptr ? "" : run->path;
}

/// Those with the most receives first.
Result<std::vector<Group>> group(const Asked& asked, const Races& races) {
  std::map<EventId, std::string> calls;
  std::vector<EventId> events;
  for (const RacyReceive& receive : races.receives()) events.push_back(event_of(asked.graph(), receive.at));
  if (events.empty()) return std::vector<Group>();
  TRY_STATUS(visit_events(asked.recording, events, [&](EventId id, const Event& event, EventReader&) {
    calls[id] = event_kind(event.item);
  }));
  ProcessTable processes = ProcessTable::read(asked.recording);
  std::map<std::pair<std::string, std::string>, std::vector<const RacyReceive*>> found;
  for (const RacyReceive& receive : races.receives()) {
    EventId id = event_of(asked.graph(), receive.at);
    found[{calls[id], program_of(processes, id.process())}].push_back(&receive);
  }
  std::vector<Group> groups;
  for (auto& [where, receives] : found) groups.push_back({where.first, where.second, std::move(receives)});
  std::ranges::stable_sort(groups, std::greater(), [](const Group& each) { return each.receives.size(); });
  return groups;
}

class Text {
 public:
  Text(const Graph& graph, const Races& races, bool all) : graph_(graph), races_(races), all_(all) {}

  void print(const Group& group) const {
    constexpr size_t kMost = 10;
    size_t shown = all_ ? group.receives.size() : std::min(group.receives.size(), kMost);
    fmt::print("\n{} by {}{}\n", plural(group.receives.size(), "receive", "receives"), group.call,
               group.program.empty() ? "" : " in " + printable(group.program));
    for (size_t i = 0; i < shown; ++i) print(*group.receives[i]);
    if (shown < group.receives.size()) fmt::print("  … and {} more: --all\n", group.receives.size() - shown);
  }

  Json json(const RacyReceive& receive) const {
    const Contest& place = place_of(receive);
    Json json{{"receive", to_string(event_of(graph_, receive.at))}};
    json["channel"] = place.port ? Json() : Json(graph_.channels[place.place].id);
    json["took"] = to_string(sender(taken(receive)));
    json["raced"] = Json::array();
    for (uint32_t message : races_.rivals(receive)) json["raced"].push_back(to_string(sender(message)));
    return json;
  }

 private:
  uint32_t taken(const RacyReceive& receive) const {
    return races_.contests().takings[receive.taking].message;
  }
  EventId sender(uint32_t message) const {
    return event_of(graph_, races_.contests().messages[message].send);
  }
  const Contest& place_of(const RacyReceive& receive) const {
    return races_.contests().list[races_.contests().messages[taken(receive)].contest];
  }

  void print(const RacyReceive& receive) const {
    constexpr size_t kMost = 4;
    const Contest& place = place_of(receive);
    std::string where = place.port ? "" : fmt::format(", channel {}", graph_.channels[place.place].id);
    std::vector<uint32_t> rivals = races_.rivals(receive);
    size_t shown = all_ ? rivals.size() : std::min(rivals.size(), kMost);
    std::string raced;
    for (size_t i = 0; i < shown; ++i) raced += fmt::format("{}{}", i == 0 ? "" : ", ", sender(rivals[i]));
    if (shown < rivals.size()) raced += fmt::format(" and {} more", rivals.size() - shown);
    fmt::print("  {:<12}  took that of {}{}; could have had that of {}\n", event_of(graph_, receive.at),
               sender(taken(receive)), where, raced);
  }

  const Graph& graph_;
  const Races& races_;
  bool all_;
};

Result<int> show(const Options& options) {
  Asked asked = TRY(Asked::open(options.rec));
  Races races = Races::find(asked.graph());
  std::vector<Group> groups = TRY(group(asked, races));
  Text text(asked.graph(), races, options.all);
  size_t contested = races.contests().takings.size();
  if (!options.json) {
    if (groups.empty()) {
      fmt::print("no receive could have taken another message\n");
      return 0;
    }
    fmt::print(
        "{} of {} at contested places could have taken another message; keeping {} in order would be "
        "enough\n",
        count_text(races.receives().size()), plural(contested, "receive", "receives"),
        count_text(races.traced().size()));
    for (const Group& each : groups) text.print(each);
    return 0;
  }
  Json json{
      {"receives", races.receives().size()}, {"contested", contested}, {"traced", races.traced().size()}};
  json["groups"] = Json::array();
  for (const Group& each : groups) {
    Json& group = json["groups"].emplace_back(Json{{"call", each.call}, {"program", each.program}});
    group["receives"] = Json::array();
    for (const RacyReceive* receive : each.receives) group["receives"].push_back(text.json(*receive));
  }
  fmt::print("{}\n", dump_json(json, 2));
  return 0;
}

}  // namespace

void add_races(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& races =
      program.add("races", "receives that could have taken another message, the most frequent first",
                  [options] { return show(*options); });
  add_rec(races, *options);
  races.add_flag("--all", options->all,
                 "every receive and every message that raced for it, not the first few");
  add_json(races, *options);
}

}  // namespace pastcone::cli
