#include "pastcone/cli/graph_facts.h"

#include <fmt/format.h>
#include "pastcone/cli/print_error.h"
#include "pastcone/cli/waiting_line.h"
#include "pastcone/replay/indexing.h"
#include "pastcone/replay/live.h"

namespace pastcone::cli {
namespace {

graph::Facts find_facts(const Recording& recording, bool with_places) {
  graph::Facts facts;
  if (recording.growing()) return facts;
  auto found = [&] {  // it may take as long as the program ran
    WaitingLine line;
    WaitingLine::Scope waits(line, "replaying once, to see what the recording does not say");
    return replay::index_facts(recording, with_places, {}, [&](const replay::Live& live) {
      line.tick([&] { return WaitingLine::Far{live.events_done(), live.summary().events}; });
    });
  }();
  std::string why = !found ? found.error().message : found->divergence;
  if (!why.empty()) {
    facts.complete = false;
    print_error("readiness, ends of files and signals are known only as far as replay goes: " + why);
  }
  if (!found) return facts;
  for (const auto& [thread, entry] : found->facts) {
    facts.list.push_back({thread, entry.event, static_cast<graph::FactKind>(entry.kind), entry.key,
                          entry.number, entry.caller, entry.step, entry.point});
  }
  for (const replay::ObjectHistory& object : found->objects) {
    graph::Object& into = facts.objects.emplace_back(graph::Object{object.kind, object.shared, {}});
    for (const replay::Access& access : object.accesses) {
      ThreadId releaser = access.released_by == ThreadId() ? access.thread : access.released_by;
      into.uses.push_back({{access.thread, access.at.step, access.at.number},
                           {releaser, access.until.step, access.until.number},
                           access.write,
                           access.gives,
                           access.writes});
    }
  }
  return facts;
}

}  // namespace

Result<graph::OpenedGraph> open_whole_graph(const Recording& recording, bool with_places) {
  graph::OpenedGraph opened =
      TRY(graph::open_graph(recording, [&] { return find_facts(recording, with_places); }));
  if (!opened.contradiction.empty()) {
    print_error("readiness, ends of files and signals are left out, for they contradict the rest: " +
                opened.contradiction);
  }
  return opened;
}

}  // namespace pastcone::cli
