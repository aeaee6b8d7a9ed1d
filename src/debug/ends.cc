#include "pastcone/debug/ends.h"

#include <sys/syscall.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "pastcone/graph/steps.h"

namespace pastcone::debug {
namespace {

std::string signal_text(ProcessId process, int64_t signal) {
  return fmt::format("{} received signal {}, {}.", process, signal_name(static_cast<uint64_t>(signal)),
                     strsignal(static_cast<int>(signal)));
}

}  // namespace

Ends::Ends(Engine& engine) : engine_(engine) {
  for (const auto& [number, process] : engine.world().processes.processes()) note(process);
  note_consequences();
  engine.observe({.limits = [this](ThreadId thread) { return limits(thread); },
                  .next_stop = [this](ThreadId thread, uint64_t step) -> std::optional<uint64_t> {
    auto found = endings_.find(thread);
    if (ignored || found == endings_.end()) return {};
    const Ending& ending = found->second;
    if (!ending.last || ending.cut_off || ending.step <= step) return {};
    return ending.step;
  }});
}

void Ends::note(const ProcessRecord& process) {
  using Kind = End::Kind;
  const End& end = process.end;
  bool signalled = end.kind == Kind::kSignalled;
  if (!signalled && end.kind != Kind::kKilled && (end.kind != Kind::kExited || end.value == 0)) return;
  bool without_recorder = engine_.world().recording.manifest().state == Manifest::State::kRecording;
  bool cut_off = end.kind == Kind::kKilled && without_recorder && !was_waited_for(process.id);
  for (const ThreadRecord& thread : process.threads) {
    if (thread.end.kind != end.kind || thread.end.value != end.value || thread.events == 0) continue;
    Ending& ending = endings_[thread.id];
    if (cut_off) {
      ending = {2 * thread.events + 1, fmt::format("{} is recorded up to here: its recorder was killed.", process.id), true,
                is_last(thread, process), true};
    } else if (end.kind == Kind::kKilled) {
      ending = {2 * thread.events + 1, fmt::format("{} was killed here, or later in this call.", process.id), true,
                is_last(thread, process)};
    } else if (signalled) {
      ending = {2 * thread.events - 1, signal_text(process.id, end.value)};
    } else {
      ending = {2 * thread.events - 1, fmt::format("{} exits with status {}.", process.id, end.value)};
    }
  }
}

void Ends::note_consequences() {
  constexpr causal::Kinds kOfEnds = kinds_of(causal::EdgeKind::kWait) | kinds_of(causal::EdgeKind::kSignal) |
                                    kinds_of(causal::EdgeKind::kReadiness) | kinds_of(causal::EdgeKind::kEof);
  const causal::Graph& graph = engine_.world().graph;
  bool any = std::ranges::any_of(endings_, [](const auto& one) { return one.second.killed && one.second.last; });
  for (uint32_t group = 0; any && group < graph.group_count(); ++group) {
    causal::Node to{graph.groups[group].thread, graph.groups[group].event};
    for (uint32_t edge = graph.groups[group].first_edge; edge < graph.groups[group + 1].first_edge; ++edge) {
      causal::Node from = graph.edges[edge].from;
      bool between = from.thread < graph.real_threads && to.thread < graph.real_threads;
      if (!between || (kinds_of(graph.kind(edge)) & kOfEnds) == 0 || from.event < graph.threads[from.thread].events)
        continue;
      ThreadId victim = graph.thread_id(from.thread), witness = graph.thread_id(to.thread);
      auto ending = endings_.find(victim);
      bool stops = ending != endings_.end() && ending->second.killed && ending->second.last && !ending->second.cut_off;
      if (stops && victim.process() != witness.process())
        consequences_[witness].push_back({victim, graph::plain_step(graph, to)});
    }
  }
}

/// Or gone beyond, where it has ended.
bool Ends::has_come(ThreadId thread, const Ending& ending) const {
  const Incarnation& now = engine_.now();
  uint64_t done = now.steps_done(thread);
  return done >= ending.step || (now.tid(thread) == 0 && done + 1 >= ending.step);
}

std::vector<Limit> Ends::limits(ThreadId thread) const {
  auto all = consequences_.find(thread);
  if (ignored || all == consequences_.end()) return {};
  std::vector<Limit> limits;
  for (const auto& [victim, step] : all->second) {
    const Ending& ending = endings_.at(victim);
    if (engine_.now().steps_done(thread) < step)
      limits.push_back({step - 1, {victim, ending.step}, has_come(victim, ending)});
  }
  return limits;
}

bool Ends::was_waited_for(ProcessId process) const {
  const causal::Graph& graph = engine_.world().graph;
  for (uint32_t edge = 0; edge < graph.edges.size(); ++edge) {
    bool waits = graph.kind(edge) == causal::EdgeKind::kWait;
    if (waits && graph.threads[graph.edges[edge].from.thread].process == process.number()) return true;
  }
  return false;
}

bool Ends::is_last(const ThreadRecord& thread, const ProcessRecord& process) const {
  const causal::Graph& graph = engine_.world().graph;
  auto last_of = [&](const ThreadRecord& one) -> std::optional<causal::Node> {
    auto index = graph.find(one.id);
    if (!index || one.end.kind != End::Kind::kKilled || one.events == 0) return {};
    return graph::find_step(graph, *index, static_cast<uint32_t>(2 * one.events));
  };
  std::optional<causal::Node> own = last_of(thread);
  return !own || std::ranges::none_of(process.threads, [&](const ThreadRecord& other) {
    std::optional<causal::Node> its = last_of(other);
    return its && its->thread != own->thread && happened_before(graph, *own, *its, causal::Order::kEnforced);
  });
}

bool Ends::is_over(ThreadId thread) const {
  auto found = endings_.find(thread);
  if (found == endings_.end() || !found->second.killed) return false;
  return engine_.now().in_call(thread) && 2 * engine_.now().events_done(thread) + 1 >= found->second.step;
}

std::optional<int> Ends::own_signal(ThreadId thread) const {
  const ProcessRecord* process = engine_.world().processes.find(thread.process());
  if (process == nullptr || !engine_.now().freeze(thread.process())) return {};
  auto registers = engine_.now().registers(thread);
  if (!registers) return {};
  bool to_itself = registers->rdi == process->pid;
  uint64_t signal = 0;
  if (registers->rax == SYS_tgkill && to_itself) signal = registers->rdx;
  if (registers->rax == SYS_kill && to_itself) signal = registers->rsi;
  if (signal == 0 || signal >= NSIG) return {};
  return static_cast<int>(signal);
}

std::optional<std::string> Ends::text_at(ThreadId thread) const {
  auto found = endings_.find(thread);
  if (found == endings_.end()) return {};
  if (engine_.now().steps_done(thread) != found->second.step && !is_over(thread)) return {};
  if (found->second.killed)
    if (auto signal = own_signal(thread)) return signal_text(thread.process(), *signal);
  return found->second.text;
}

std::vector<std::string> Ends::within(const causal::Cut& cut) const {
  const causal::Graph& graph = engine_.world().graph;
  std::vector<std::string> texts;
  if (cut.empty()) return texts;  // there is no replay
  for (const auto& [thread, ending] : endings_) {
    auto index = graph.find(thread);
    if (!index || !ending.last || ending.cut_off) continue;
    if (graph::plain_step(graph, {*index, cut[*index]}) >= ending.step) texts.push_back(ending.text);
  }
  return texts;
}

}  // namespace pastcone::debug
