#include "pastcone/graph/fact_edges.h"

#include <algorithm>
#include <optional>
#include <set>

#include "pastcone/graph/steps.h"
#include "pastcone/graph/watches.h"

namespace pastcone::graph {
namespace {

using causal::EdgeKind;
using causal::Node;
using causal::Transfer;

bool is_listener(uint64_t source) { return (source & stage::kListener) != 0; }

class FactEdges {
 public:
  FactEdges(const Facts& facts, const Opens& opens, const std::map<ThreadId, uint32_t>& thread_of,
            causal::Execution& execution)
      : opens_(opens), execution_(execution), watches_(thread_of, execution) {
    read_transfers();
    for (const Fact& fact : facts.list) {
      if (auto thread = thread_of.find(fact.thread); thread != thread_of.end()) {
        take(fact, {thread->second, leaving(fact.event)});
      }
    }
  }

  void add() {
    for (const auto& [at, channel] : ends_) add_end(channel, at, EdgeKind::kEof);
    for (const auto& [at, source] : ready_) {
      if (is_listener(source))
        add_connection_ready(source, at);
      else
        add_bytes_ready(source, at);
    }
    for (const auto& [at, listener] : accepts_) add_listen(listener, at);
  }

 private:
  struct Receive {
    Node at;
    uint64_t begin, end;
  };
  struct Channel {
    std::vector<Transfer> sends;                        ///< by position
    std::map<uint32_t, std::vector<Receive>> receives;  ///< by thread, in its order
    std::map<uint32_t, Node> dropped;                   ///< the last time, by process
    Node shut_down;                                     ///< event 0: never
  };

  void read_transfers();
  void take(const Fact& fact, Node at);
  bool received_at(uint64_t channel, Node at);
  void add_end(uint64_t channel, Node at, EdgeKind kind);
  void add_bytes_ready(uint64_t channel, Node at);
  void add_connection_ready(uint64_t listener, Node at);
  void add_listen(uint64_t listener, Node at);
  void add_edge(Node from, Node to, EdgeKind kind) {
    if (from.event != 0 && from.thread != to.thread) execution_.edges.push_back({from, to, kind});
  }

  const Opens& opens_;
  causal::Execution& execution_;
  std::map<uint64_t, Channel> channels_;
  std::map<Node, uint64_t> ends_;                     ///< where an end of file was found, of which channel
  std::vector<std::pair<Node, uint64_t>> ready_;      ///< who was told, of what
  std::map<Node, uint64_t> accepts_;                  ///< at which listener
  std::map<uint64_t, std::set<uint32_t>> acceptors_;  ///< threads, by listener
  std::map<uint64_t, Node> listens_;
  Watches watches_;
};

void FactEdges::read_transfers() {
  for (const Transfer& send : execution_.sends)
    channels_[execution_.channels[send.channel].id].sends.push_back(send);
  for (const Transfer& receive : execution_.receives) {
    channels_[execution_.channels[receive.channel].id].receives[receive.at.thread].push_back(
        {receive.at, receive.begin, receive.end()});
  }
  for (auto& [id, channel] : channels_) {
    std::ranges::sort(channel.sends, {}, &Transfer::begin);
    for (auto& [thread, receives] : channel.receives) std::ranges::sort(receives, {}, &Receive::at);
  }
}

void FactEdges::take(const Fact& fact, Node at) {
  uint32_t process = fact.thread.process().number();
  switch (fact.kind) {
    case FactKind::kDropped:
      channels_[fact.key].dropped[process] = at;
      break;
    case FactKind::kShutDown:
      if (channels_[fact.key].shut_down.event == 0) channels_[fact.key].shut_down = at;
      break;
    case FactKind::kEndOfFile:
      if (!received_at(fact.key, at)) ends_.emplace(at, fact.key);
      break;
    case FactKind::kReady:
      ready_.emplace_back(at, fact.key);
      break;
    case FactKind::kWatcher:
    case FactKind::kWatched:
    case FactKind::kUnwatched:
      watches_.take(fact);
      break;
    case FactKind::kPolled:
      if (uint64_t source = watches_.source(fact)) ready_.emplace_back(at, source);
      break;
    case FactKind::kListens:
      listens_.emplace(fact.key, at);
      break;
    case FactKind::kAccepted:
      accepts_.emplace(at, fact.key);
      acceptors_[fact.key].insert(at.thread);
      break;
    default:  // for signals.h and lock_edges.h
      break;
  }
}

/// An empty message is no end.
bool FactEdges::received_at(uint64_t id, Node at) {
  const auto& threads = channels_[id].receives;
  auto mine = threads.find(at.thread);
  return mine != threads.end() && std::ranges::binary_search(mine->second, at, {}, &Receive::at);
}

/// It takes one to shut an end down, and all who have it to close it.
void FactEdges::add_end(uint64_t id, Node at, EdgeKind kind) {
  const Channel& channel = channels_[id];
  if (channel.shut_down.event != 0) return add_edge(channel.shut_down, at, kind);
  for (const auto& [process, from] : channel.dropped) add_edge(from, at, kind);
}

/// What the thread receives next is what there was; or what comes after all that it has received.
void FactEdges::add_bytes_ready(uint64_t id, Node at) {
  const Channel& channel = channels_[id];
  uint64_t position = 0;
  if (channel.receives.size() > 1) return;
  if (auto mine = channel.receives.find(at.thread); mine != channel.receives.end()) {
    auto next = std::ranges::upper_bound(mine->second, at, {}, &Receive::at);
    if (next != mine->second.end())
      position = next->begin;
    else
      position = std::prev(next)->end;
  } else if (!channel.receives.empty()) {
    return;
  }
  auto send = std::ranges::upper_bound(channel.sends, position, {}, &Transfer::begin);
  if (send != channel.sends.begin() && std::prev(send)->end() > position)
    return add_edge(std::prev(send)->at, at, EdgeKind::kReadiness);
  auto end = ends_.upper_bound(at);
  if (end != ends_.end() && end->first.thread == at.thread && end->second == id)
    add_end(id, at, EdgeKind::kReadiness);
}

void FactEdges::add_connection_ready(uint64_t listener, Node at) {
  if (acceptors_[listener].size() != 1) return;
  for (auto next = accepts_.upper_bound(at); next != accepts_.end() && next->first.thread == at.thread;
       ++next) {
    if (next->second != listener) continue;
    Node from = opens_.connector(opens_.accepted_at(next->first));
    if (from.event != 0) add_edge(before(from), at, EdgeKind::kReadiness);
    return;
  }
}

void FactEdges::add_listen(uint64_t listener, Node at) {
  auto from = listens_.find(listener);
  Node to = opens_.connector(opens_.accepted_at(at));
  if (from != listens_.end() && to.event != 0) add_edge(from->second, to, EdgeKind::kConnect);
}

}  // namespace

void add_fact_edges(const Facts& facts, const Opens& opens, const std::map<ThreadId, uint32_t>& thread_of,
                    causal::Execution& execution) {
  FactEdges(facts, opens, thread_of, execution).add();
}

}  // namespace pastcone::graph
