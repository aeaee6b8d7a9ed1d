// pastcone races: the receives that could have taken another message; --locks: see luck.h.
#include "pastcone/causal/races.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <unordered_map>

#include "pastcone/causal/rival_walk.h"
#include "pastcone/cli/event_text.h"
#include "pastcone/cli/graph_question.h"
#include "pastcone/cli/graph_text.h"
#include "pastcone/cli/luck.h"
#include "pastcone/cli/program.h"
#include "pastcone/cli/text.h"
#include "pastcone/graph/ports.h"
#include "pastcone/trace/json.h"
#include "pastcone/trace/processes.h"

namespace pastcone::cli {
namespace {

using causal::Graph;
using causal::Races;
using causal::RacyReceive;
using causal::RivalWalk;
using Json = nlohmann::ordered_json;

struct Options : GraphOptions {
  bool all = false;
  bool locks = false;
};

/// Receives at the same place in the source; where that is not known, by the same call of the same program
/// from the same channel.
struct Group {
  std::string call, program;
  const symbols::Location* location = nullptr;
  std::set<std::optional<uint64_t>> channels;  ///< none: of connections
  std::vector<const RacyReceive*> receives;

  std::optional<uint64_t> channel() const { return channels.size() == 1 ? *channels.begin() : std::nullopt; }
};

/// The program that the process ran then; its parent's, if it had none of its own yet.
std::string program_at(const ProcessTable& processes, EventId event) {
  for (size_t i = 0; i < processes.processes().size(); ++i) {  // a damaged recording may go round in circles
    const ProcessRecord* process = processes.find(event.process());
    if (process == nullptr) break;
    for (const ProgramRun& run : process->programs | std::views::reverse) {
      if (run.event.thread() != event.thread() || run.event.index() <= event.index()) return run.path;
    }
    event = process->parent;
  }
  return "";
}

uint32_t taken(const Races& races, const RacyReceive& receive) {
  return races.contests().takings[receive.taking].message;
}

/// Those with the most receives first.
Result<std::vector<Group>> group(const Asked& asked, const Races& races, const Where& where) {
  std::unordered_map<EventId, std::string> calls;
  std::vector<EventId> events;
  for (const RacyReceive& receive : races.receives()) events.push_back(event_of(asked.graph(), receive.at));
  if (events.empty()) return std::vector<Group>();
  TRY_STATUS(visit_events(asked.recording, events, [&](EventId id, const Event& event, EventReader&) {
    calls[id] = event_kind(event.item);
  }));
  ProcessTable processes = ProcessTable::read(asked.recording);
  using Key = std::tuple<std::string, std::string, std::string, std::optional<uint64_t>>;
  std::map<Key, Group> found;
  for (const RacyReceive& receive : races.receives()) {
    EventId id = event_of(asked.graph(), receive.at);
    auto channel = graph::channel_of(asked.graph(), races.contests(), taken(races, receive));
    const symbols::Location* location = where[id];
    Key key{calls[id], program_at(processes, id), where.text(location),
            location == nullptr ? channel : std::nullopt};
    Group& in = found[key];
    if (in.receives.empty()) {
      in.call = std::get<0>(key);
      in.program = std::get<1>(key);
      in.location = location;
    }
    in.channels.insert(channel);
    in.receives.push_back(&receive);
  }
  std::vector<Group> groups;
  for (auto& [key, each] : found) groups.push_back(std::move(each));
  std::ranges::stable_sort(groups, std::greater(), [](const Group& each) { return each.receives.size(); });
  return groups;
}

class Text {
 public:
  Text(const Graph& graph, const Races& races, const Where& where, bool all)
      : graph_(graph), races_(races), where_(where), all_(all) {}

  void print(const std::vector<Group>& groups) const {
    constexpr size_t kMost = 20;
    size_t shown = all_ ? groups.size() : std::min(groups.size(), kMost);
    for (size_t i = 0; i < shown; ++i) print(groups[i]);
    if (shown < groups.size())
      fmt::print("\n… and {} more: --all\n", plural(groups.size() - shown, "place", "places"));
  }

  Json json(const std::vector<Group>& groups) const {
    std::vector<Json> receives(races_.receives().size());
    RivalWalk walk(races_);
    while (const RacyReceive* receive = walk.next()) {
      Json& json = receives[static_cast<size_t>(receive - races_.receives().data())];
      uint32_t message = taken(races_, *receive);
      auto channel = graph::channel_of(graph_, races_.contests(), message);
      json["receive"] = to_string(event_of(graph_, receive->at));
      json["channel"] = channel ? Json(*channel) : Json();
      json["took"] = to_string(sender(message));
      json["raced"] = Json::array();
      for (uint32_t rival : walk.rivals()) json["raced"].push_back(to_string(sender(rival)));
    }
    Json json = Json::array();
    for (const Group& each : groups) {
      Json& group = json.emplace_back(Json{{"call", each.call}, {"program", each.program}});
      group["location"] = location_json(each.location);
      auto channel = each.channel();
      group["channel"] = channel ? Json(*channel) : Json();
      group["receives"] = Json::array();
      for (const RacyReceive* receive : each.receives)
        group["receives"].push_back(
            std::move(receives[static_cast<size_t>(receive - races_.receives().data())]));
    }
    return json;
  }

 private:
  static std::string channels_text(const Group& group) {
    constexpr size_t kMost = 8;
    std::vector<uint64_t> named;
    for (const auto& channel : group.channels) {
      if (channel) named.push_back(*channel);
    }
    if (named.empty()) return "";
    std::string text = named.size() == 1 ? ", channel" : ", channels";
    for (size_t i = 0; i < std::min(named.size(), kMost); ++i) text += fmt::format(" {}", named[i]);
    return named.size() > kMost ? text + fmt::format(" and {} more", named.size() - kMost) : text;
  }

  EventId sender(uint32_t message) const {
    return event_of(graph_, races_.contests().messages[message].send);
  }

  void print(const Group& group) const {
    constexpr size_t kMost = 10;
    size_t shown = all_ ? group.receives.size() : std::min(group.receives.size(), kMost);
    const std::string& place = where_.text(group.location);
    fmt::print("\n{}{}{} by {}{}{}\n", plural(group.receives.size(), "receive", "receives"),
               place.empty() ? "" : " at ", place, group.call,
               group.program.empty() ? "" : (place.empty() ? " in " : " of ") + printable(group.program),
               channels_text(group));
    for (size_t i = 0; i < shown; ++i) print(*group.receives[i]);
    if (shown < group.receives.size()) fmt::print("  … and {} more: --all\n", group.receives.size() - shown);
  }

  void print(const RacyReceive& receive) const {
    constexpr size_t kMost = 4;
    std::vector<uint32_t> rivals = races_.rivals(receive);
    size_t shown = all_ ? rivals.size() : std::min(rivals.size(), kMost);
    std::string raced;
    for (size_t i = 0; i < shown; ++i) raced += fmt::format("{}{}", i == 0 ? "" : ", ", sender(rivals[i]));
    if (shown < rivals.size()) raced += fmt::format(" and {} more", rivals.size() - shown);
    fmt::print("  {:<12}  took that of {}; could have had that of {}\n", event_of(graph_, receive.at),
               sender(taken(races_, receive)), raced);
  }

  const Graph& graph_;
  const Races& races_;
  const Where& where_;
  bool all_;
};

Result<int> show(const Options& options) {
  Asked asked = TRY(Asked::open(options.rec, !options.locks));
  if (options.locks) {
    TRY_STATUS(show_luck(asked, options.all, options.json));
    return 0;
  }
  Races races = Races::find(asked.graph());
  Where where = races.receives().empty() ? Where() : Where::find(asked.recording);
  std::vector<Group> groups = TRY(group(asked, races, where));
  Text text(asked.graph(), races, where, options.all);
  if (options.json) {
    Json json{{"receives", races.receives().size()},
              {"contested", races.contested()},
              {"traced", races.traced().size()},
              {"groups", text.json(groups)}};
    fmt::print("{}\n", dump_json(json, 2));
  } else if (groups.empty()) {
    fmt::print("no receive could have taken another message\n");
  } else {
    fmt::print(
        "{} of {} at contested places could have taken another message; keeping {} in order would be "
        "enough\n",
        count_text(races.receives().size()), plural(races.contested(), "receive", "receives"),
        count_text(races.traced().size()));
    text.print(groups);
  }
  return 0;
}

}  // namespace

void add_races(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& races = program.add(
      "races", "receives that could have taken another message, by where they are, the most frequent first",
      [options] { return show(*options); });
  add_rec(races, *options);
  races.add_flag("--all", options->all,
                 "every receive and every message that raced for it, not the first few");
  races.add_flag("--locks", options->locks,
                 "instead, the uses of locks and objects that were ordered by nothing but luck");
  add_json(races, *options);
}

}  // namespace pastcone::cli
