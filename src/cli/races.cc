// pastcone races: the receives that could have taken another message; --locks: see luck.h.
#include "pastcone/causal/races.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <set>
#include <span>

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

/// The program that the process ran then; its parent's, if it had none of its own yet. Nullptr: not known.
const ProgramRun* program_at(const ProcessTable& processes, EventId event) {
  for (size_t i = 0; i < processes.processes().size(); ++i) {  // a damaged recording may go round in circles
    const ProcessRecord* process = processes.find(event.process());
    if (process == nullptr) break;
    for (const ProgramRun& run : process->programs | std::views::reverse) {
      if (run.event.thread() != event.thread() || run.event.index() <= event.index()) return &run;
    }
    event = process->parent;
  }
  return nullptr;
}

uint32_t taken(const Races& races, const RacyReceive& receive) {
  return races.contests().takings[receive.taking].message;
}

/// The call of each receive, by its number in `names`.
struct Calls {
  std::vector<std::string> names;
  std::vector<uint32_t> of;
};

Result<Calls> calls_of(const Recording& recording, const std::vector<EventId>& events) {
  Calls calls{{""}, std::vector<uint32_t>(events.size())};  // 0: of those that are not there
  std::vector<uint32_t> order(events.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](uint32_t i) { return events[i]; });
  std::map<std::string, uint32_t> numbers;
  auto number_of = [&](const Event& event) {
    auto [known, is_new] =
        numbers.try_emplace(event_kind(event.item), static_cast<uint32_t>(calls.names.size()));
    if (is_new) calls.names.push_back(known->first);
    return known->second;
  };
  auto next = order.begin();
  TRY_STATUS(visit_events(recording, events, [&](EventId id, const Event& event, EventReader&) {
    if (next == order.end() || events[*next] != id)
      next = std::ranges::lower_bound(order, id, {}, [&](uint32_t i) { return events[i]; });
    uint32_t number = number_of(event);
    for (; next != order.end() && events[*next] == id; ++next) calls.of[*next] = number;
  }));
  return calls;
}

/// What makes a group, of each receive; there are few that differ, so what they are called is asked for once.
struct Kind {
  uint32_t call;
  const ProgramRun* program;
  const symbols::Location* location;
  std::optional<uint64_t> channel;

  auto operator<=>(const Kind&) const = default;
};

/// Those with the most receives first.
Result<std::vector<Group>> group(const Asked& asked, const Races& races, const Where& where) {
  if (races.receives().empty()) return std::vector<Group>();
  std::vector<EventId> events;
  for (const RacyReceive& receive : races.receives()) events.push_back(event_of(asked.graph(), receive.at));
  Calls calls = TRY(calls_of(asked.recording, events));
  ProcessTable processes = ProcessTable::read(asked.recording);
  using Key = std::tuple<std::string, std::string, std::string, std::optional<uint64_t>>;
  std::map<Key, Group> found;
  std::map<Kind, Group*> known;
  auto group_of = [&](const Kind& kind) {
    Key key{calls.names[kind.call], kind.program == nullptr ? "" : kind.program->path,
            where.text(kind.location), kind.location == nullptr ? kind.channel : std::nullopt};
    Group& in = found[key];
    if (in.receives.empty()) {
      in.call = std::get<0>(key);
      in.program = std::get<1>(key);
      in.location = kind.location;
    }
    in.channels.insert(kind.channel);
    return &in;
  };
  for (size_t i = 0; i < events.size(); ++i) {
    const RacyReceive& receive = races.receives()[i];
    auto channel = graph::channel_of(asked.graph(), races.contests(), taken(races, receive));
    Kind kind{calls.of[i], program_at(processes, events[i]), where[events[i]], channel};
    auto [in, is_new] = known.try_emplace(kind);
    if (is_new) in->second = group_of(kind);
    in->second->receives.push_back(&receive);
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
    std::vector<const RacyReceive*> receives;
    for (size_t i = 0; i < shown; ++i) {
      auto first = std::span(groups[i].receives).first(shown_of(groups[i]));
      receives.insert(receives.end(), first.begin(), first.end());
    }
    std::vector<std::vector<uint32_t>> rivals = races_.rivals(receives);
    auto next = rivals.begin();
    for (size_t i = 0; i < shown; ++i) {
      size_t count = shown_of(groups[i]);
      print(groups[i], std::span(next, count));
      next += static_cast<ptrdiff_t>(count);
    }
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

  size_t shown_of(const Group& group) const {
    constexpr size_t kMost = 10;
    return all_ ? group.receives.size() : std::min(group.receives.size(), kMost);
  }

  /// `rivals`: of those that are shown.
  void print(const Group& group, std::span<const std::vector<uint32_t>> rivals) const {
    const std::string& place = where_.text(group.location);
    fmt::print("\n{}{}{} by {}{}{}\n", plural(group.receives.size(), "receive", "receives"),
               place.empty() ? "" : " at ", place, group.call,
               group.program.empty() ? "" : (place.empty() ? " in " : " of ") + printable(group.program),
               channels_text(group));
    for (size_t i = 0; i < rivals.size(); ++i) print(*group.receives[i], rivals[i]);
    if (rivals.size() < group.receives.size())
      fmt::print("  … and {} more: --all\n", group.receives.size() - rivals.size());
  }

  void print(const RacyReceive& receive, const std::vector<uint32_t>& rivals) const {
    constexpr size_t kMost = 4;
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
