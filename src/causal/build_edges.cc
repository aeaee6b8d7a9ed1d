#include <algorithm>
#include <map>

#include "pastcone/causal/build_parts.h"

namespace pastcone::causal {
namespace {

constexpr uint64_t kMaxEvents = UINT32_MAX - 1;  // ranks are 32 bits
constexpr uint32_t kMaxThreads = 1 << 24;

/// Hubs lie behind the threads, in the order in which their barriers first appear.
std::map<uint32_t, uint32_t> hub_numbers(const Execution& execution) {
  std::map<uint32_t, uint32_t> hubs;
  auto next = static_cast<uint32_t>(execution.threads.size());
  for (const BarrierInput& round : execution.barriers) next += hubs.emplace(round.object, next).second;
  return hubs;
}

Status check_node(const Execution& execution, Node node, const char* what) {
  if (node.thread >= execution.threads.size())
    return fail("{} is of thread {}, which does not exist", what, node.thread);
  return {};
}

void add_creations(const Execution& execution, EdgeList& list) {
  for (uint32_t thread = 0; thread < execution.threads.size(); ++thread) {
    const ThreadInput& input = execution.threads[thread];
    if (input.creator.event == 0 || input.events == 0) continue;
    list.add(input.creator, {thread, 1}, input.by_fork ? EdgeKind::kFork : EdgeKind::kCreate, kNone);
  }
}

Status add_barriers(const Execution& execution, EdgeList& list) {
  std::map<uint32_t, uint32_t> hubs = hub_numbers(execution), rounds;
  for (const BarrierInput& round : execution.barriers) {
    Node hub{hubs[round.object], ++rounds[round.object]};
    for (Node arrival : round.arrivals) {
      TRY_STATUS(check_node(execution, arrival, "an arrival at a barrier"));
      list.add(arrival, hub, EdgeKind::kBarrier, round.object);
    }
    for (Node departure : round.departures) {
      TRY_STATUS(check_node(execution, departure, "a departure from a barrier"));
      list.add(hub, departure, EdgeKind::kBarrier, round.object);
    }
  }
  return {};
}

/// What the next access of an object has to wait for.
struct ObjectState {
  Node last_write;
  std::vector<Node> readers;  ///< since then; the last access of each thread
};

Status add_objects(const Execution& execution, EdgeList& list) {
  std::vector<ObjectState> states(execution.objects);
  for (const AccessInput& access : execution.accesses) {
    TRY_STATUS(check_node(execution, access.at, "an access"));
    if (access.object >= execution.objects)
      return fail("an access is to object {}, which does not exist", access.object);
    ObjectState& state = states[access.object];
    // A release behind the end of the recording: what is there of the thread stands for it.
    uint32_t until = std::min(access.until, execution.threads[access.at.thread].events);
    Node release{access.at.thread, std::max(access.at.event, until)};
    if (access.write == 0 || state.readers.empty()) {
      if (state.last_write.event != 0)
        list.add(state.last_write, access.at, EdgeKind::kObject, access.object);
    } else {
      for (Node reader : state.readers) list.add(reader, access.at, EdgeKind::kObject, access.object);
    }
    if (access.write != 0) {
      state.readers.clear();
      state.last_write = release;
      continue;
    }
    auto same = std::ranges::find(state.readers, release.thread, &Node::thread);
    if (same == state.readers.end()) {
      state.readers.push_back(release);
    } else {
      *same = release;
    }
  }
  return {};
}

/// The sends that a receive has bytes of: of each thread the last. One thread's earlier sends follow.
class MessageEdges {
 public:
  MessageEdges(const Graph& graph, EdgeList& list) : graph_(graph), list_(list) {}

  void add(uint32_t channel) {
    std::span<const Transfer> sends = graph_.sends_of(channel);
    size_t place = 0;
    for (const Transfer& receive : graph_.receives_of(channel)) {
      place = first_at(sends, place, receive);
      if (graph_.channels[channel].messages()) {
        if (place < sends.size() && sends[place].begin == receive.begin)
          edge(channel, place, sends[place], receive);
      } else {
        stream(channel, sends, place, receive);
      }
    }
  }

 private:
  /// The first send that ends behind the receive's beginning. Receives come by position, so it is near
  /// `place`.
  static size_t first_at(std::span<const Transfer> sends, size_t place, const Transfer& receive) {
    while (place > 0 && sends[place - 1].end() > receive.begin) --place;
    while (place < sends.size() && sends[place].begin < receive.begin && sends[place].end() <= receive.begin)
      ++place;
    return place;
  }

  void stream(uint32_t channel, std::span<const Transfer> sends, size_t place, const Transfer& receive) {
    found_.clear();
    for (; place < sends.size() && sends[place].begin < receive.end(); ++place) {
      auto same = std::ranges::find_if(
          found_, [&](size_t other) { return sends[other].at.thread == sends[place].at.thread; });
      if (same == found_.end()) {
        found_.push_back(place);
      } else {
        *same = place;
      }
    }
    for (size_t each : found_) edge(channel, each, sends[each], receive);
  }

  void edge(uint32_t channel, size_t place, const Transfer& send, const Transfer& receive) {
    list_.add(send.at, receive.at, EdgeKind::kMessage,
              graph_.first_send[channel] + static_cast<uint32_t>(place));
  }

  const Graph& graph_;
  EdgeList& list_;
  std::vector<size_t> found_;
};

/// Where several threads receive at one end, each receive comes after those of the positions before it. (What
/// is no queue may be received in any order.)
void add_ends(const Graph& graph, EdgeList& list) {
  for (uint32_t channel = 0; channel < graph.channels.size(); ++channel) {
    bool in_order =
        (graph.channels[channel].flags & (Channel::kQueue | Channel::kUnordered)) == Channel::kQueue;
    if (!in_order || graph.receive_lanes.of(channel).size() < 2) continue;
    std::span<const Transfer> receives = graph.receives_of(channel);
    for (size_t i = 1; i < receives.size(); ++i) {
      list.add(receives[i - 1].at, receives[i].at, EdgeKind::kEnd, channel);
    }
  }
}

/// Where several threads receive, what one thread sent is received in its order.
class LaneEdges {
 public:
  LaneEdges(const Execution& execution, const Graph& graph, EdgeList& list)
      : execution_(execution), graph_(graph), list_(list) {}

  void add_channel(uint32_t channel) {
    if (graph_.receive_lanes.of(channel).size() < 2) return;
    if ((graph_.channels[channel].flags & Channel::kAnyOrder) != 0) return;
    last_.clear();
    std::span<const Transfer> sends = graph_.sends_of(channel);
    bool messages = graph_.channels[channel].messages();
    size_t place = 0;
    for (const Transfer& receive : graph_.receives_of(channel)) {
      while (place < sends.size() &&
             (messages ? sends[place].begin < receive.begin : sends[place].end() <= receive.begin))
        ++place;
      if (messages) {
        if (place < sends.size() && sends[place].begin == receive.begin)
          take(sends[place].at.thread, receive.at, channel);
        continue;
      }
      for (size_t i = place; i < sends.size() && sends[i].begin < receive.end(); ++i)
        take(sends[i].at.thread, receive.at, channel);
    }
  }

  /// Tags let receives overtake each other.
  void add_ports() {
    std::vector<Node> taker(execution_.arrivals.size());
    for (const TakingInput& taking : execution_.takings) {
      if (taking.tag == kNone) taker[taking.arrival] = taking.at;
    }
    std::map<std::pair<uint32_t, uint32_t>, Node> last;
    for (size_t i = 0; i < taker.size(); ++i) {
      if (taker[i].event == 0) continue;
      Node& before = last[{execution_.arrivals[i].port, execution_.arrivals[i].lane}];
      if (before.event != 0) list_.add(before, taker[i], EdgeKind::kLane, execution_.arrivals[i].port);
      before = taker[i];
    }
  }

 private:
  void take(uint32_t sender, Node receive, uint32_t channel) {
    Node& before = last_[sender];
    if (before.event != 0 && before != receive) list_.add(before, receive, EdgeKind::kLane, channel);
    before = receive;
  }

  const Execution& execution_;
  const Graph& graph_;
  EdgeList& list_;
  std::map<uint32_t, Node> last_;  ///< of each sender: who received of it last
};

}  // namespace

Status add_threads(const Execution& execution, Graph& graph) {
  uint64_t events = 0;
  std::map<uint32_t, uint32_t> hubs = hub_numbers(execution);
  if (execution.threads.size() + hubs.size() > kMaxThreads)
    return fail("the graph has more than {} threads", kMaxThreads);
  std::vector<Thread> threads;
  threads.reserve(execution.threads.size() + hubs.size());
  for (const ThreadInput& input : execution.threads) {
    if (!threads.empty() && execution.threads[threads.size() - 1].id >= input.id)
      return fail("threads are not in order");
    TRY_STATUS(check_node(execution, input.creator, "the creation of a thread"));
    events += input.events;
    threads.push_back({input.id.process().number(), input.id.number(), input.events,
                       (input.ended ? Thread::kEnded : 0) | (input.by_fork ? Thread::kByFork : 0),
                       input.creator});
  }
  graph.real_threads = static_cast<uint32_t>(threads.size());
  threads.resize(threads.size() + hubs.size(), {0, 0, 0, Thread::kHub, {}});
  for (const BarrierInput& round : execution.barriers) ++threads[hubs[round.object]].events;
  if (events + execution.barriers.size() > kMaxEvents)
    return fail("the recording has more than {} events", kMaxEvents);
  graph.threads = std::move(threads);
  return {};
}

Status add_edges(const Execution& execution, const Graph& graph, EdgeList& list) {
  // Mostly each receive has one edge. What is not used of this is never touched.
  list.reserve(execution.edges.size() + execution.threads.size() + execution.accesses.size() +
               graph.receives.size() + graph.receives.size() / 4);
  for (const EdgeInput& edge : execution.edges) {
    TRY_STATUS(check_node(execution, edge.from, "an edge's source"));
    TRY_STATUS(check_node(execution, edge.to, "an edge's target"));
    if (edge.kind >= EdgeKind::kCount) return fail("an edge is of no known kind");
    list.add(edge.from, edge.to, edge.kind, edge.label);
  }
  add_creations(execution, list);
  TRY_STATUS(add_barriers(execution, list));
  TRY_STATUS(add_objects(execution, list));
  MessageEdges messages(graph, list);
  for (uint32_t channel = 0; channel < graph.channels.size(); ++channel) messages.add(channel);
  add_ends(graph, list);
  LaneEdges lanes(execution, graph, list);
  for (uint32_t channel = 0; channel < graph.channels.size(); ++channel) lanes.add_channel(channel);
  lanes.add_ports();
  return {};
}

}  // namespace pastcone::causal
