// Who had the turn when: in a process of several threads, or a group of processes that share memory, one runs
// at a time, and the log says which number of the group's turns a thread got. From these, the hand-overs:
// from where one gave the turn up to what the next one did first with it.
//
// In parallel mode nobody has a turn between events, but the events of a process are numbered, and each comes
// after the one before it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "pastcone/causal/model.h"
#include "pastcone/graph/steps.h"
#include "pastcone/trace/item.h"

namespace pastcone::graph {

/// A group's turns are counted anew when its process executes another program.
struct GroupId {
  uint64_t group = 0;
  uint32_t image = 0;

  auto operator<=>(const GroupId&) const = default;
};

struct Holding {
  uint64_t number = 0;
  causal::Node from;   ///< the first step with it
  uint32_t until = 0;  ///< the step by which it is given up
  bool last = false;   ///< the thread goes on in another group

  /// It was given up in the step in which it came: what was waited for had gone to another.
  bool passes() const { return from.event > until && !last; }
};

/// Events of a group are in the order of their turns.
struct Turn {
  GroupId group;
  uint64_t number = 0;              ///< 0: the process has but one thread, or had so far
  uint32_t process = 0, image = 0;  ///< the thread's own

  /// The order in one process; between processes there is none. It has its own group before it joins another.
  auto order() const { return std::tuple(process, image, group.group != process, number); }
};

/// An event of parallel mode, or what its thread needs behind it, to go on.
struct Numbered {
  uint64_t number = 0;
  causal::Node leaving;
  bool behind = false;

  auto operator<=>(const Numbered&) const = default;
};

class Turns {
 public:
  void add(GroupId group, const Holding& holding) { groups_[group].push_back(holding); }
  /// Of parallel mode.
  void add_event(GroupId group, const Numbered& event) { numbered_[group].push_back(event); }
  /// Of parallel mode, two and two that come one after the other and are of different threads; without those
  /// behind an event that `has_place` does not know. Uses them up.
  using HasPlace = std::function<bool(const Numbered&)>;
  std::vector<std::pair<Numbered, Numbered>> in_order(const HasPlace& has_place) &&;
  /// Uses them up.
  std::vector<causal::EdgeInput> hand_overs() &&;

 private:
  std::map<GroupId, std::vector<Holding>> groups_;
  std::map<GroupId, std::vector<Numbered>> numbered_;
};

/// The program images of a process, so far as turns are concerned: which one a thread is in, and in which it
/// found the groups of others.
class Images {
 public:
  /// A process has its first; a thread is in its creator's, and so are the groups of others that a forked
  /// process knows.
  void start(ThreadId thread, ThreadId creator, uint64_t creator_event);
  void execute(ThreadId thread, uint64_t event);
  uint32_t of(ThreadId thread, uint64_t event, uint64_t group) const;

 private:
  struct Life {
    ThreadId creator;
    uint64_t creator_event = 0;
    std::vector<std::pair<uint64_t, uint32_t>> executed;  ///< event, the image from then on
  };

  std::map<ThreadId, Life> lives_;
  std::map<ProcessId, uint32_t> last_;
};

/// Follows one thread's turns through its items, in order. Threads come after their creators.
class TurnScan {
 public:
  TurnScan(uint32_t index, ThreadId thread, Images& images, bool parallel = false)
      : index_(index), thread_(thread), images_(images), parallel_(parallel), alone_(thread.number() == 1) {}

  void take(const Item& item, Turns& turns);
  /// After the last item.
  void finish(Turns& turns);
  /// The last step there is.
  uint32_t last() const { return ended_ ? leaving(event_) : entering(event_ + 1); }

  /// The turn that the event just taken belongs to.
  Turn now() const;

 private:
  void note_event(const Item& item);
  void number(const Item& item, Turns& turns);
  void get(const Item& item, uint32_t step, Turns& turns);
  void give_up(uint32_t step, Turns& turns);

  uint32_t index_;
  ThreadId thread_;
  Images& images_;
  bool parallel_;
  bool alone_;  ///< the group's first turn, of which the log says nothing, is its own
  uint64_t event_ = 0;
  bool ended_ = false;
  bool gave_up_ = false;  ///< behind the last event
  GroupId group_;
  std::optional<Holding> holding_;
  // In parallel mode:
  bool numbered_ = false;     ///< the process has several threads
  uint64_t number_ = 0;       ///< of the last event that had one
  uint64_t next_number_ = 0;  ///< of the next one, if the log says so
};

}  // namespace pastcone::graph
