#include "pastcone/cli/replay_to.h"

#include <csignal>

#include "pastcone/causal/build.h"
#include "pastcone/causal/cut.h"
#include "pastcone/causal/transit.h"
#include "pastcone/cli/print_error.h"
#include "pastcone/cli/text.h"
#include "pastcone/graph/execution.h"
#include "pastcone/graph/steps.h"
#include "pastcone/replay/director.h"

namespace pastcone::cli {
namespace {

using causal::Graph;
using causal::Node;
using causal::Order;

ThreadId thread_of(const Graph& graph, uint32_t index) {
  return {ProcessId(graph.threads[index].process), graph.threads[index].number};
}

EventId event_of(const Graph& graph, Node node) {
  return {thread_of(graph, node.thread), graph::event_at(node.event + 1)};
}

Result<Node> find_event(const Graph& graph, const std::string& text) {
  EventId event = TRY(EventId::parse(text));
  for (uint32_t index = 0; index < graph.real_threads; ++index) {
    if (thread_of(graph, index) != event.thread()) continue;
    uint64_t last = graph::event_at(graph.threads[index].events);
    if (event.index() <= last) return Node{index, graph::leaving(event.index())};
    return fail("there is no event {}: the last of {} is {}", event, event.thread(), last);
  }
  return fail("there is no {} in this recording; `pastcone ps` shows its processes", event.thread());
}

void print_standing(const std::vector<replay::Standing>& all) {
  for (const replay::Standing& where : all) {
    uint64_t last = where.last.index();
    std::string place =
        last == 0 ? fmt::format("{} has not begun", where.last.thread()) : fmt::format("{}", where.last);
    if (where.ended)
      place += ", its end";
    else if (where.entered)
      place += fmt::format(", on its way into event {}", last + 1);
    if (!where.ended) place += fmt::format("  (now thread {})", where.thread);
    fmt::print("{}\n", place);
  }
}

void print_transit(const Graph& graph, const causal::Cut& cut) {
  for (const causal::Piece& piece : causal::in_transit(graph, cut)) {
    const causal::Transfer& send = graph.sends[piece.send];
    fmt::print("in transit: {} of {}, channel {}\n", plural(piece.end - piece.begin, "byte", "bytes"),
               event_of(graph, send.at), graph.channels[send.channel].id);
  }
}

}  // namespace

Result<int> replay_to(const Recording& recording, const ReplayTo& options) {
  if (recording.manifest().parallel) {
    return fail(
        "cannot replay to an event of {}: the order of its locks is not in the graph yet; record without "
        "--threads=parallel",
        recording.directory().native());
  }
  causal::Execution execution = TRY(graph::read_execution(recording));
  Graph graph = TRY(causal::build(std::move(execution)));
  std::vector<Node> targets;
  for (const std::string& text : options.events) {
    Node node = TRY(find_event(graph, text));
    for (Node other : targets) {
      if (other.thread != node.thread) continue;
      return fail("{} and {} are of one thread, which can be at one of them only", event_of(graph, other),
                  event_of(graph, node));
    }
    targets.push_back(node);
  }
  causal::Breakpoint there = causal::causal_breakpoint(graph, targets, Order::kEnforced);
  if (there.conflict) {
    return fail("these events are no state that could have been: {} comes before {}; leave out one of them",
                event_of(graph, there.conflict->from), event_of(graph, there.conflict->to));
  }
  replay::ReplayOptions how{
      .show_output = options.show_output, .horizons = replay::Horizons{}, .hold = options.hold};
  for (uint32_t index = 0; index < graph.real_threads; ++index) {
    (*how.horizons)[thread_of(graph, index)] = there.cut[index];
  }
  how.on_arrival = [&](const std::vector<replay::Standing>& all) {
    print_standing(all);
    print_transit(graph, there.cut);
    if (options.hold) fmt::print("held here until Ctrl-C\n");
    std::fflush(stdout);
  };
  replay::ReplayOutcome outcome = TRY(replay::replay(recording, how));
  for (const replay::Divergence& divergence : outcome.divergences) print_error(to_string(divergence));
  if (outcome.interrupted) return 128 + SIGINT;
  return outcome.exact() ? 0 : 1;
}

}  // namespace pastcone::cli
