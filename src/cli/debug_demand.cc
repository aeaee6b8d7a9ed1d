// run to: demand points of `pastcone debug`.
#include <algorithm>
#include <set>

#include "pastcone/cli/debug_session.h"
#include "pastcone/cli/graph_text.h"
#include "pastcone/cli/print_error.h"
#include "pastcone/cli/text.h"
#include "pastcone/replay/indexing.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {

using debug::DemandPoint;
using debug::Goal;

Result<Goal> DebugSession::goal_of(const DemandPoint& point) {
  const causal::Graph& graph = world_.graph;
  if (auto* event = std::get_if<EventId>(&point)) return debug::goal_of(graph, TRY(find_event(graph, *event)));
  if (auto* flow = std::get_if<debug::Flow>(&point)) {
    debug::Way way = TRY(debug::find_flow(graph, *flow));
    fmt::print("{}\n", debug::describe(graph, way.message));
    return debug::goal_of(graph, way.focus);
  }
  return goal_of_access(std::get<debug::ObjectAccess>(point));
}

Result<const std::vector<replay::ObjectHistory>*> DebugSession::histories() {
  if (histories_) return &*histories_;
  debug::State here = engine_->here();
  engine_->end();  // one replay at a time
  auto found = [&] {
    auto waits = wait_for("replaying once, to see how objects are used");
    return replay::index_facts(world_.recording, false, engine_->options().interrupted, engine_->options().on_wait);
  }();
  hear();
  {
    auto waits = wait_for("going back to " + place_in(here.cut, focus_), here.cut);
    TRY_STATUS(engine_->restart());
    TRY_STATUS(engine_->go_to(here));
  }
  if (!found) return tl::unexpected<Error>(found.error());
  if (!found->divergence.empty()) print_error("known only so far: " + found->divergence);
  drop_hidden(found->objects);
  histories_ = std::move(found->objects);
  return &*histories_;
}

Result<Goal> DebugSession::goal_of_access(debug::ObjectAccess which) {
  const std::vector<replay::ObjectHistory>& objects = *TRY(histories());
  if (!which.name.empty()) {
    for (size_t i = 0; i < objects.size() && which.object == 0; ++i)
      if (objects[i].name == which.name) which.object = i + 1;
  }
  if (which.object == 0 || which.object > objects.size()) {
    return fail("there is no obj {}, {} in the recording; try: show obj all",
                which.name.empty() ? fmt::format("{}", which.object) : printable(which.name),
                plural(objects.size(), "object is", "objects are"));
  }
  std::vector<debug::AccessPlace> places;
  for (const replay::Access& access : objects[which.object - 1].accesses) {
    bool ends = access.until.number != 0 && !access.released_by.valid();
    const replay::Point& point = ends ? access.until : access.at;
    places.push_back({access.thread, access.event, point.step, point.number});
  }
  debug::AccessStop stop = TRY(find_access(world_.graph, places, which));
  Goal goal{{stop.before}, stop.cut, stop.point};
  // What had the object before is asked for at once: of each thread, its last access.
  std::set<ThreadId> asked{places[which.access].thread};
  for (uint64_t before = which.access; before-- > 0;) {
    if (!asked.insert(places[before].thread).second) continue;
    causal::Node node = TRY(find_access(world_.graph, places, {which.object, before})).before;
    if (node.event <= goal.cut[node.thread]) goal.targets.push_back(node);
  }
  return goal;
}

Status DebugSession::run_to(std::string_view text) {
  if (text == "state" || text.starts_with("state ")) return run_to_state(shell::trim(text.substr(5)));
  DemandPoint point = TRY(debug::parse_demand_point(text));
  Goal goal = TRY(goal_of(point));
  ThreadId thread = world_.graph.thread_id(goal.targets.front().thread);
  demanded_ = Demanded{goal.cut, goal.targets, {}};
  if (auto* access = std::get_if<debug::ObjectAccess>(&point)) demanded_->access = *access;
  // Who comes to a bad end on the way is no reason to stop before what was asked for.
  std::vector<std::string> before = ends_->within(engine_->here().cut);
  ends_->ignored = true;
  auto rest = [&] {
    auto waits = wait_for(fmt::format("running to {}", text), goal.cut);
    return engine_->run_to(goal);
  }();
  ends_->ignored = false;
  for (const std::string& end : ends_->within(engine_->here().cut))
    if (std::ranges::find(before, end) == before.end()) fmt::print("{}\n", end);
  if (rest && rest->stops.empty()) focus_ = thread;
  return report(rest, thread);
}

}  // namespace pastcone::cli
