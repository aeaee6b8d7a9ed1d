// The event graph: threads, the edges into their events, and what makes questions about them cheap. It is
// made by build() or opened from bytes (flat.h), never changes afterwards, and may be used from several
// threads. The questions themselves are in cone.h, cut.h, path.h, transit.h, send_vectors.h, races.h and
// luck.h.
//
// How time is kept. Only an event with incoming edges (a *group*) learns anything new, so nothing is stored
// for the others. A group has its edges and its *rank*, the length of the longest chain that ends there: a
// linear order that agrees with happened-before. Vectors are stored at every n-th group of a thread only, the
// *anchors*; n grows with the number of threads, so that anchors cost some 16 bytes an edge however many
// threads there are. A cone is the join of one anchor and less than n groups of edges for each thread: taking
// demands by falling rank, each thread is raised once. There is a second set of anchors if there are
// hand-overs, which are enforced but not causal.
//
// Barriers have a thread of their own behind the real ones, a *hub* with an event for each round, or n
// arrivals and n departures would be n² edges. Its entries in cuts mean nothing to users.
#pragma once

#include <span>
#include <vector>

#include "pastcone/base/ids.h"
#include "pastcone/base/result.h"
#include "pastcone/causal/column.h"
#include "pastcone/causal/model.h"

namespace pastcone::causal {

/// Which edges a question is about.
enum class Order : uint8_t { kCausal, kEnforced };

struct Thread {
  static constexpr uint32_t kEnded = 1, kHub = 2, kByFork = 4;

  uint32_t process, number;
  uint32_t events;
  uint32_t flags;
  Node creator;

  bool hub() const { return (flags & kHub) != 0; }
};

/// An event that edges lead to. Groups lie thread by thread, by event; edges lie group by group.
struct Group {
  uint32_t event;
  uint32_t rank;
  uint32_t first_edge;
  uint32_t thread;
};

struct Edge {
  Node from;
  uint32_t from_group;  ///< the last group of from.thread up to from.event, or kNone
  uint32_t label;       ///< kMessage: the send; kObject, kBarrier: the object; else what the input says
};

/// A group in the order in which the longest chains are found: all that leads to it comes before. The first
/// stops are the beginnings of the threads, which have no group and no links.
struct Stop {
  uint32_t thread;
  uint32_t steps;  ///< from the stop before it of its thread; in hubs 0, for their events do not count
  uint32_t first_link;
  uint32_t group;
};

/// An edge into a stop. Links of a stop lie as the edges of its group.
struct Link {
  static constexpr uint32_t kHandOver = 1u << 31;

  uint32_t from;   ///< the stop that its source follows; and kHandOver
  uint32_t steps;  ///< from there to the source and over the edge
};

/// All that the search for longest chains goes through.
struct Chains {
  std::vector<Stop> stops;        ///< and a last one that is none, for its first_link
  std::vector<uint32_t> stop_of;  ///< of each group
  std::vector<Link> links;
};

/// Vectors at every `spacing`-th group of each thread.
struct Anchors {
  Kinds kinds = kAllKinds;
  uint32_t spacing = 1;
  Column<uint32_t> first;    ///< of each thread; one more at the end
  Column<uint32_t> vectors;  ///< `threads` entries each

  /// How many anchors a thread has among its first `groups`.
  uint32_t among(uint32_t groups) const { return groups / spacing; }
};

struct Channel {
  static constexpr uint32_t kMessages = 1, kQueue = 2;
  static constexpr uint32_t kUnordered = 4;  ///< some thread received a later position before an earlier one
  static constexpr uint32_t kGaps = 8;       ///< something was never received, but what is behind it was
  static constexpr uint32_t kAnyOrder = 16;  ///< positions do not tell which receive came first

  uint64_t id;
  uint32_t flags;
  uint32_t reserved;

  bool messages() const { return (flags & kMessages) != 0; }
};

/// What one thread sent, or received, on one channel: a run of Graph::send_lanes' `items`, by event.
struct Lane {
  uint32_t channel, thread, first, count;
};

struct Lanes {
  Column<Lane> lanes;           ///< by channel
  Column<uint32_t> items;       ///< places in Graph::sends or receives
  Column<uint32_t> of_channel;  ///< first lane of each; one more at the end

  std::span<const Lane> of(uint32_t channel) const {
    return lanes.view().subspan(of_channel[channel], of_channel[channel + 1] - of_channel[channel]);
  }
};

/// Per thread, ascending.
struct ByThread {
  Column<uint32_t> first;  ///< of each thread; one more at the end
  Column<uint32_t> items;

  std::span<const uint32_t> of(uint32_t thread) const {
    return items.view().subspan(first[thread], first[thread + 1] - first[thread]);
  }
};

struct Graph {
  uint32_t real_threads = 0;  ///< the hubs follow
  uint32_t lost = 0;          ///< edges of which an end is not in the recording
  Column<Thread> threads;
  Column<uint32_t> first_group;  ///< of each thread; one more at the end
  Column<Group> groups;          ///< and a last one that is none, for its first_edge
  Column<Edge> edges;
  Column<uint8_t> kinds;     ///< of each edge
  Anchors causal, enforced;  ///< the second is empty if no edge is a hand-over

  Column<Channel> channels;
  Column<Transfer> sends, receives;            ///< by channel, then position
  Column<uint32_t> first_send, first_receive;  ///< of each channel; one more at the end
  Lanes send_lanes, receive_lanes;

  ByThread between;         ///< steps that are no events, by thread
  Column<uint32_t> points;  ///< of each of these, as BetweenInput has it
  Column<uint32_t> since;   ///< the same

  uint32_t objects = 0;
  Column<AccessInput> accesses;
  Column<PortInput> ports;
  Column<ArrivalInput> arrivals;
  Column<TakingInput> takings;
  Column<WatchInput> watches;

  uint32_t thread_count() const { return static_cast<uint32_t>(threads.size()); }
  uint32_t group_count() const { return first_group.empty() ? 0 : first_group[threads.size()]; }
  uint64_t event_count() const;
  EdgeKind kind(uint32_t edge) const { return static_cast<EdgeKind>(kinds[edge]); }
  const Anchors& anchors(Order which) const {
    return which == Order::kEnforced && !enforced.first.empty() ? enforced : causal;
  }
  std::span<const Transfer> sends_of(uint32_t channel) const {
    return sends.part(first_send[channel], first_send[channel + 1] - first_send[channel]);
  }
  std::span<const Transfer> receives_of(uint32_t channel) const {
    return receives.part(first_receive[channel], first_receive[channel + 1] - first_receive[channel]);
  }

  /// What follows from all this is made when it is asked for.
  std::span<const uint32_t> order() const;     ///< all groups, by rank
  const ByThread& sources() const;             ///< events that causal edges leave from
  const ByThread& sends_by_thread() const;     ///< places in sends, by event
  const ByThread& receives_by_thread() const;  ///< the same of receives
  const Chains& chains() const;                ///< empty if the edges make no sense, which bytes may not

  /// The last group of the thread up to the event, or kNone.
  uint32_t group_at(Node node) const;
  uint32_t rank(Node node) const { return rank(node, group_at(node)); }
  uint32_t rank(Node node, uint32_t group) const {
    return group == kNone ? node.event : groups[group].rank + (node.event - groups[group].event);
  }

  /// Names as users write them. An error says what there is instead.
  Result<Node> find(EventId id) const;
  Result<uint32_t> find(ThreadId id) const;
  ThreadId thread_id(uint32_t thread) const;
  EventId id(Node node) const { return {thread_id(node.thread), node.event}; }

  Derived<std::vector<uint32_t>> made_order;
  Derived<ByThread> made_sources, made_sends_by_thread, made_receives_by_thread;
  Derived<Chains> made_chains;
};

}  // namespace pastcone::causal
