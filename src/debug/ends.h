// Where processes come to a bad end: by a signal, with another status than 0, killed. They are stopped just before,
// while there is something to be seen. Who was there when the recorder was killed just has no more events.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pastcone/debug/engine.h"

namespace pastcone::debug {

class Ends {
 public:
  explicit Ends(Engine& engine);

  /// "p1 received signal SIGSEGV, Segmentation fault.": of a thread that stands just before such an end.
  std::optional<std::string> text_at(ThreadId thread) const;

  /// It was killed, and stands in the call it was in then: there is nothing more of it.
  bool is_over(ThreadId thread) const;

  /// Nobody is stopped by his end while this is set.
  bool ignored = false;
  /// Of those that have come to such an end in the cut.
  std::vector<std::string> within(const causal::Cut& cut) const;

 private:
  struct Ending {
    uint64_t step;  ///< plain: entering its last event, or what it would do after it
    std::string text;
    bool killed = false;
    bool last = true;  ///< none of the process's threads did anything later
    bool cut_off = false;  ///< it is the recording that ends, with its recorder
  };
  void note(const ProcessRecord& process);
  /// What others learn of the end of somebody who is killed is no need of their cones: it is no step of his.
  void note_consequences();
  /// Who would learn of an end waits until there was a stop there, where that can be arranged.
  std::vector<Limit> limits(ThreadId thread) const;
  bool has_come(ThreadId thread, const Ending& ending) const;
  /// Somebody in the recording has waited for it.
  bool was_waited_for(ProcessId process) const;
  /// Of threads that were killed together.
  bool is_last(const ThreadRecord& thread, const ProcessRecord& process) const;
  /// That it was sending itself when it was killed: abort(), raise().
  std::optional<int> own_signal(ThreadId thread) const;

  Engine& engine_;
  std::map<ThreadId, Ending> endings_;
  struct Consequence {
    ThreadId of;
    uint64_t step;  ///< plain
  };
  std::map<ThreadId, std::vector<Consequence>> consequences_;  ///< by who learns of it
};

}  // namespace pastcone::debug
