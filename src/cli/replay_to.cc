#include "pastcone/cli/replay_to.h"

#include <csignal>
#include <system_error>

#include "pastcone/causal/cut.h"
#include "pastcone/causal/demand.h"
#include "pastcone/causal/transit.h"
#include "pastcone/cli/graph_facts.h"
#include "pastcone/cli/graph_text.h"
#include "pastcone/cli/print_error.h"
#include "pastcone/debug/horizons.h"
#include "pastcone/graph/open_graph.h"
#include "pastcone/replay/director.h"
#include "pastcone/trace/processes.h"

namespace pastcone::cli {
namespace {

using causal::Graph;
using causal::Node;
using causal::Order;

void print_standing(const std::vector<replay::Standing>& all) {
  for (const replay::Standing& where : all) {
    if (where.left) {
      fmt::print("{}, where it left the recording: {}\n", where.last, pastcone::to_string(*where.left));
      continue;
    }
    std::string now = where.ended ? "" : fmt::format("  (now thread {})", where.thread);
    fmt::print("{}{}\n", place_text({where.last, where.entered, where.ended, where.point}), now);
  }
}

/// In parallel mode a thread that has stopped may have something that has no order in the recording.
std::string what_went_wrong(const Recording& recording, const replay::Divergence& divergence) {
  if (!recording.manifest().parallel || divergence.cause != stage::Cause::kWait) return to_string(divergence);
  return fmt::format(
      "cannot stop there: {} needs more of another thread than the recording says ({}): a lock inside a "
      "library, OpenMP or an atomic variable; try a later event, or record without --threads=parallel",
      divergence.event, divergence.what);
}

}  // namespace

Result<int> replay_to(const Recording& recording, const ReplayTo& options) {
  graph::OpenedGraph opened = TRY(open_whole_graph(recording));
  if (recording.manifest().parallel && !opened.whole) {
    return fail(
        "cannot replay to an event of {}: the order of its locks is not known; record without "
        "--threads=parallel",
        recording.directory().native());
  }
  const Graph& graph = opened.graph;
  std::vector<EventId> events;
  for (const std::string& text : options.events) events.push_back(TRY(EventId::parse(text)));
  std::vector<Node> targets = TRY(find_cut(graph, events));
  causal::Breakpoint there = causal::causal_breakpoint(graph, targets, Order::kEnforced);
  if (there.conflict) {
    return fail("these events are no state that could have been: {} comes before {}; leave out one of them",
                event_of(graph, there.conflict->from), event_of(graph, there.conflict->to));
  }
  replay::ReplayOptions how{.show_output = options.show_output, .hold = options.hold};
  causal::Demand demand(graph, targets, Order::kEnforced);
  if (options.demand) {
    demand.advance(causal::Cut(graph.real_threads));
    how.horizons = debug::horizons_of(recording, graph, demand.horizons());
    how.further = [&](const std::vector<replay::Standing>& all) -> replay::Horizons {
      if (!demand.advance(debug::steps_of(graph, all))) return {};
      return debug::horizons_of(recording, graph, demand.horizons());
    };
  } else {
    how.horizons = debug::horizons_of(recording, graph, there.cut);
  }
  how.on_remark = [](const std::string& remark) { print_error(remark); };
  auto show = [&](const std::vector<replay::Standing>& all) {
    print_standing(all);
    print_transit(graph, causal::in_transit(graph, there.cut));
  };
  std::vector<replay::Standing> arrived;
  how.on_arrival = [&](const std::vector<replay::Standing>& all) {
    if (!options.hold) {
      arrived = all;
      return;
    }
    try {
      show(all);
      fmt::print("held here until Ctrl-C\n");
      std::fflush(stdout);
    } catch (const std::system_error&) {
      // Nobody reads it; while processes are replayed no signal says so.
    }
  };
  replay::ReplayOutcome outcome = TRY(replay::replay(recording, how));
  if (!arrived.empty()) show(arrived);
  for (const replay::Divergence& divergence : outcome.divergences)
    print_error(what_went_wrong(recording, divergence));
  if (outcome.interrupted) return 128 + SIGINT;
  return outcome.exact() ? 0 : 1;
}

}  // namespace pastcone::cli
