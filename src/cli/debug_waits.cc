// `where` of `pastcone debug`: all threads at once, and who waits for whom.
#include <algorithm>

#include "pastcone/cli/debug_session.h"
#include "pastcone/cli/graph_text.h"
#include "pastcone/debug/sleepers.h"
#include "pastcone/symbols/location.h"

namespace pastcone::cli {
namespace {

using causal::Arrow;
using debug::Sleep;
using debug::Sleeps;

/// "p1, p2 or p3".
std::string list_text(const std::vector<ThreadId>& threads, std::string_view last) {
  std::string text;
  for (size_t i = 0; i < threads.size(); ++i)
    text += (i == 0 ? "" : i + 1 == threads.size() ? fmt::format(" {} ", last) : ", ") + to_string(threads[i]);
  return text;
}

std::string waits_text(const Sleep& sleep) {
  if (sleep.waits_for.empty()) return sleep.why.empty() ? "" : fmt::format(": {}", sleep.why);
  return fmt::format(": waits for {} ({})", list_text(sleep.waits_for, "or"), sleep.why);
}

/// "; sleeps in read, fd 3: waits for p1 or p3 (message, channel 4)".
std::string sleep_text(const Sleep& sleep) {
  if (sleep.call.empty()) return "; its recording ends here";
  return fmt::format("; sleeps in {}{}{}", sleep.call, sleep.on.empty() ? "" : ", " + sleep.on, waits_text(sleep));
}

/// "; waits for p1 (message, channel 4)".
std::string needs_text(const causal::Graph& graph, const std::vector<Arrow>& needs) {
  std::vector<std::string> texts;
  for (const Arrow& arrow : needs) {
    std::string text = fmt::format("{} ({})", graph.thread_id(arrow.from.thread), why_text(graph, arrow));
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return texts.empty() ? "" : fmt::format("; waits for {}", fmt::join(texts, ", "));
}

/// Whom others have killed, or its recorder, may have slept, and for whom says more.
bool is_others_doing(std::string_view end) { return end.find(" was killed") != std::string_view::npos; }

/// "; received signal SIGSEGV, Segmentation fault", of "p2 received signal SIGSEGV, Segmentation fault."
std::string end_text(ProcessId process, std::string_view text) {
  if (std::string name = to_string(process) + " "; text.starts_with(name)) text.remove_prefix(name.size());
  if (text.ends_with('.')) text.remove_suffix(1);
  return fmt::format("; {}", text);
}

}  // namespace

/// How many processes in a row, from this one on, have not begun.
size_t DebugSession::not_begun_from(ProcessId process) const {
  const auto& all = world_.processes.processes();
  size_t count = 0;
  for (auto each = all.find(process); each != all.end(); ++each, ++count) {
    ThreadId first(each->first, 1);
    if (first == focus_ || engine_->now().tid(first) != 0 || engine_->now().steps_done(first) > 0) break;
  }
  return count;
}

Status DebugSession::where() {
  constexpr size_t kMany = 4;
  Sleeps sleeps = debug::sleepers(*engine_);
  debug::State here = engine_->here();
  size_t skipped = 0;
  for (const auto& [process, record] : world_.processes.processes()) {
    if (skipped > 0) {
      --skipped;
      continue;
    }
    if (size_t count = not_begun_from(process); count >= kMany) {
      fmt::print("  {} to {}: not begun\n", process, ProcessId(process.number() + static_cast<uint32_t>(count) - 1));
      skipped = count - 1;
      continue;
    }
    for (const ThreadRecord& thread : record.threads) {
      const char* mark = thread.id == focus_ ? "*" : " ";
      if (engine_->now().tid(thread.id) == 0) {
        bool begun = engine_->now().steps_done(thread.id) > 0;
        if (thread.id.number() == 1)
          fmt::print("{} {:<10} {}\n", mark, event_text(thread.id), begun ? "ended" : "not begun");
        continue;
      }
      auto asleep = sleeps.find(thread.id);
      const ProgramRun* next = engine_->now().about_to_begin(process);
      std::string place = next != nullptr ? "executing " + next->path
                                          : symbols::place_text(whereabouts_->locate(thread.id));
      if (place.empty())
        place = engine_->now().in_vfork(thread.id) ? "in vfork, until its child executes a program or ends"
                                                   : "in an unknown place";
      std::string then = asleep != sleeps.end() ? sleep_text(asleep->second) : wait_text(here, thread.id);
      if (auto end = ends_->text_at(thread.id); end && !is_others_doing(*end)) then = end_text(process, *end);
      fmt::print("{} {:<10} {}{}\n", mark, event_text(thread.id), place, then);
    }
  }
  std::vector<ThreadId> stuck = debug::deadlocked(sleeps);
  for (const std::vector<ThreadId>& cycle : debug::find_cycles(sleeps)) {
    std::vector<std::string> links;
    for (size_t i = 0; i < cycle.size(); ++i)
      links.push_back(fmt::format("{} waits for {} ({})", cycle[i], cycle[(i + 1) % cycle.size()], sleeps[cycle[i]].why));
    fmt::print("deadlock: {}\n", fmt::join(links, ", "));
    std::erase_if(stuck, [&](ThreadId thread) { return std::ranges::find(cycle, thread) != cycle.end(); });
  }
  if (!stuck.empty())
    fmt::print("so {} never go{} on either\n", list_text(stuck, "and"), stuck.size() == 1 ? "es" : "");
  return {};
}

/// By the recording: what it needs next. Who has gone on from its event may have to compute before it needs anything.
std::string DebugSession::wait_text(const debug::State& here, ThreadId thread) const {
  auto index = world_.graph.find(thread);
  if (!index || here.trails.contains(thread)) return "";
  return needs_text(world_.graph, debug::missing(world_.graph, here.cut, *index));
}

}  // namespace pastcone::cli
