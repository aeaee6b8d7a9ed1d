// `show obj` and `show proc` of `pastcone debug`: how far a demand has come, in P2's words.
#include <algorithm>
#include <set>

#include "pastcone/cli/debug_session.h"
#include "pastcone/cli/object_text.h"
#include "pastcone/debug/waits.h"

namespace pastcone::cli {
namespace {

using causal::Arrow;
using causal::Cut;
using causal::Graph;
using causal::Node;
using replay::Access;
using replay::ObjectHistory;

/// Where an access is over.
const replay::Point& end_of(const Access& access) {
  bool ends = access.until.number != 0 && !access.released_by.valid();
  return ends ? access.until : access.at;
}

}  // namespace

bool DebugSession::is_done(const Access& access, const Cut& cut) const {
  const replay::Point& point = end_of(access);
  if (point.number != 0) return engine_->now().slot(access.thread).points >= point.number;
  return debug::is_done(world_.graph, cut, {access.thread, access.event, point.step, point.number});
}

/// Who has to go further for what was demanded, and cannot: it is asked for, and what it needs next is not done; that is
/// asked for then.
std::set<ThreadId> DebugSession::held_up(const Cut& cut) const {
  std::set<ThreadId> waiting;
  if (!demanded_) return waiting;
  const Graph& graph = world_.graph;
  std::vector<Node> asked = demanded_->targets;
  std::set<Node> known(asked.begin(), asked.end());
  while (!asked.empty()) {
    Node node = asked.back();
    asked.pop_back();
    if (node.thread >= graph.real_threads || node.event <= cut[node.thread]) continue;
    ThreadId thread = graph.thread_id(node.thread);
    if (stopped_.contains(thread)) continue;
    std::vector<Arrow> needs = debug::missing(graph, cut, node.thread);
    if (!needs.empty()) waiting.insert(thread);
    for (const Arrow& arrow : needs)
      if (known.insert(arrow.from).second) asked.push_back(arrow.from);
  }
  return waiting;
}

Status DebugSession::show_objects(std::string_view text) {
  const std::vector<ObjectHistory>& objects = *TRY(histories());
  std::string which = text.empty() ? "all" : std::string(text);
  std::vector<size_t> chosen = TRY(choose_objects(objects, which));
  if (chosen.empty()) {
    fmt::print("no objects{}\n", world_.recording.manifest().parallel
                                     ? ""
                                     : ": in a serial recording only those that the program names are known");
    return {};
  }
  Cut cut = engine_->here().cut;
  std::set<std::pair<size_t, size_t>> demanded;  // object, access
  if (demanded_ && demanded_->access) {
    const debug::ObjectAccess& access = *demanded_->access;
    for (size_t number : TRY(choose_objects(
             objects, access.name.empty() ? std::to_string(access.object) : access.name))) {
      for (size_t i = 0; i <= access.access; ++i) demanded.insert({number, i});
      break;
    }
  }
  // Where one waits for an object, and whoever has it before.
  std::set<ThreadId> waiting = held_up(cut);
  for (ThreadId thread : waiting) {
    std::optional<std::pair<size_t, size_t>> next;
    uint64_t first = UINT64_MAX;
    for (size_t number = 1; number <= objects.size(); ++number) {
      const std::vector<Access>& accesses = objects[number - 1].accesses;
      for (size_t i = 0; i < accesses.size(); ++i) {
        if (accesses[i].thread != thread || is_done(accesses[i], cut) || accesses[i].at.number >= first) continue;
        first = accesses[i].at.number;
        next = {number, i};
      }
    }
    if (!next || next->second == 0) continue;
    if (is_done(objects[next->first - 1].accesses[next->second - 1], cut)) continue;
    demanded.insert(*next);
    demanded.insert({next->first, next->second - 1});
  }
  fmt::print("access histories (w: writes, r: reads; *: done, $: demanded)\n");
  for (size_t number : chosen) {
    const ObjectHistory& object = objects[number - 1];
    print_history(number, object, [&](size_t i) -> std::string {
      if (is_done(object.accesses[i], cut)) return "*";
      return demanded.contains({number, i}) ? "$" : "";
    });
  }
  return {};
}

std::string DebugSession::state_word(ThreadId thread, const Cut& cut, const std::set<ThreadId>& waiting) const {
  if (stopped_.contains(thread)) return "ARRIVE_BP";
  auto index = world_.graph.find(thread);
  if (!index) return "";
  if (!demanded_) return debug::missing(world_.graph, cut, *index).empty() ? "DemandWait" : "OrderWait";
  if (waiting.contains(thread)) return "ARRIVE_2BP";
  const std::vector<Node>& targets = demanded_->targets;
  if (targets.front().thread == *index && targets.front().event <= cut[*index]) return "ARRIVE_DP";
  uint32_t last = 0;  // of those that are needed directly
  for (const Node& node : targets)
    if (node.thread == *index) last = std::max(last, node.event);
  return last != 0 && last == cut[*index] ? "ARRIVE_2DP" : "ARRIVE_3DP";
}

Status DebugSession::show_states(std::string_view text) {
  std::optional<ProcessId> only;
  if (!text.empty() && text != "all") only = TRY(parse_process(text));
  Cut cut = engine_->here().cut;
  std::set<ThreadId> waiting = held_up(cut);
  for (const auto& [process, record] : world_.processes.processes()) {
    if (only && *only != process) continue;
    for (const ThreadRecord& thread : record.threads) {
      bool begun = engine_->now().events_done(thread.id) > 0, there = begun && engine_->now().tid(thread.id) != 0;
      fmt::print("{:<6} {}\n", to_string(thread.id),
                 there ? state_word(thread.id, cut, waiting) : begun ? "ended" : "not begun");
    }
  }
  return {};
}

}  // namespace pastcone::cli
