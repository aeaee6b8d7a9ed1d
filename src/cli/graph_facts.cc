#include "pastcone/cli/graph_facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include "pastcone/cli/print_error.h"
#include "pastcone/replay/indexing.h"

namespace pastcone::cli {
namespace {

graph::Facts find_facts(const Recording& recording, bool with_places) {
  graph::Facts facts;
  if (recording.growing()) return facts;
  // It may take as long as the program ran. No thread counts the seconds: replay is about to fork.
  bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) fmt::print(stderr, "replaying once, to see what the recording does not say ...");
  auto found = replay::index_facts(recording, with_places);
  if (terminal) fmt::print(stderr, "\r\033[K");
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
