#include "pastcone/replay/director.h"

#include "pastcone/replay/live.h"

namespace pastcone::replay {
namespace {

/// Everybody stands at his horizon, or has ended.
void arrive(Live& live, const ReplayOptions& options, ReplayOutcome& outcome) {
  outcome.standing = live.standing();
  if (options.hold) live.show_to_debuggers();
  if (options.on_arrival) options.on_arrival(outcome.standing);
  if (options.hold) live.wait_for_interrupt();
}

/// Whether somebody is to go on.
bool go_further(Live& live, const ReplayOptions& options) {
  if (!options.horizons || !options.further) return false;
  Horizons horizons = options.further(live.standing());
  live.set_horizons(horizons);
  return !horizons.empty();
}

void direct(Live& live, const ReplayOptions& options, ReplayOutcome& outcome) {
  for (;;) {
    Halt halt = live.run(static_cast<bool>(options.further));
    if (halt == Halt::kInterrupted || halt == Halt::kUnread) outcome.interrupted = true;
    if (halt == Halt::kInterrupted) outcome.signal = live.interrupt_signal();
    if (halt == Halt::kEnded && options.horizons && !live.diverged()) arrive(live, options, outcome);
    if (halt != Halt::kStanding) return;
    // Who waits may do so for one that stands, and is let go on now.
    if (go_further(live, options)) continue;
    if (options.horizons && live.waiting().empty()) return arrive(live, options, outcome);
    return live.give_up();
  }
}

}  // namespace

std::string to_string(const Divergence& divergence) {
  std::string text = fmt::format("{} diverged", divergence.event);
  if (!divergence.where.empty()) text += ' ' + divergence.where;
  text += ": " + divergence.what;
  if (!divergence.reason.empty()) text += "; likely reason: " + divergence.reason;
  return text;
}

Result<ReplayOutcome> replay(const Recording& recording, const ReplayOptions& options) {
  RunSummary run = TRY(Live::summarise(recording));
  ReplayOutcome outcome;
  outcome.processes = recording.process_count();
  outcome.events = run.events;
  std::unique_ptr<Live> live = TRY(Live::start(recording, std::move(run), options));
  direct(*live, options, outcome);
  TRY_STATUS(live->failure());
  live->conclude(outcome);
  return outcome;
}

}  // namespace pastcone::replay
