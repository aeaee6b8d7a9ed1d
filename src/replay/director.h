// `pastcone replay`: a replay up to some horizons or to the end (live.h), and what became of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pastcone/base/ids.h"
#include "pastcone/base/result.h"
#include "pastcone/replay/standing.h"
#include "pastcone/stage/layout.h"
#include "pastcone/trace/recording.h"

namespace pastcone::replay {

/// How far a thread goes, in steps: 2e is on leaving event e, 2e + 1 on entering the one after it. In
/// parallel mode beyond that, up to where it has passed so many points of its locks (src/runtime/horizon.h).
struct Horizon {
  uint64_t step = 0, point = 0;
  bool keeps_turn = false;  ///< while it stands there, having left an event: nobody runs who waits for it
};
inline constexpr Horizon kNoHorizon{UINT64_MAX, 0};
using Horizons = std::map<ThreadId, Horizon>;

class Live;

struct ReplayOptions {
  bool show_output = true;           ///< the program's standard output and error, on ours
  std::string index_directory = {};  ///< where each thread writes down what follows; empty: nowhere
  bool note_uses = true;             ///< its use of objects, and facts,
  bool note_places = false;          ///< and where in the program its events are
  /// Everybody stops at his horizon; a thread without one does not begin. None: to the end.
  std::optional<Horizons> horizons = {};
  /// Asked when all stand at their horizons: new ones for some, or none if this is where they were to come.
  std::function<Horizons(const std::vector<Standing>&)> further = {};
  bool hold = false;  ///< they stay there until a signal comes, and look like their programs to debuggers
  std::function<void(const std::string&)> on_remark = {};             ///< told why one of them does not
  std::function<void(const std::vector<Standing>&)> on_arrival = {};  ///< called when all stand
  /// Asked now and then whether to stop; without, signals say so.
  std::function<bool()> interrupted = {};
  /// Called as often, to show how far it is.
  std::function<void(const Live&)> on_wait = {};
  std::function<void(std::string_view)> on_output = {};  ///< called before the program's output is written
  std::vector<bool>* output_once = nullptr;  ///< which writes of output were shown, in earlier replays too
};

/// The first thing a process did otherwise than recorded.
struct Divergence {
  EventId event;  ///< the event it was at
  std::string what;
  std::optional<stage::Cause> cause;
  std::string where;   ///< "at server.c:80 in handle_request": the user's code, if known
  std::string reason;  ///< probably; see likely_reason.h
};

/// "p3:1041 diverged at server.c:80 in handle_request: …; likely reason: …"
std::string to_string(const Divergence& divergence);

struct ReplayOutcome {
  uint64_t processes = 0, events = 0;
  std::vector<Divergence> divergences;  ///< at most one per process; empty: it was the same run
  uint64_t stopped_besides = 0;    ///< threads that could not go on after those, through no fault of theirs
  std::vector<Standing> standing;  ///< with horizons: where all stood
  bool interrupted = false;        ///< by a signal, or because nobody reads the output
  int signal = 0;                  ///< that one

  bool exact() const { return divergences.empty() && !interrupted; }
};

/// An error if the recording cannot be replayed at all: damaged, still growing, for another machine, a file
/// has changed.
Result<ReplayOutcome> replay(const Recording& recording, const ReplayOptions& options = {});

}  // namespace pastcone::replay
