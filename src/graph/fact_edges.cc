#include "pastcone/graph/fact_edges.h"

#include <algorithm>
#include <cerrno>
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
bool is_process(uint64_t source) { return (source & stage::kProcess) != 0; }

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

  std::vector<std::pair<uint32_t, Node>> add() {
    std::vector<std::pair<uint32_t, Node>> processes;
    for (const End& end : ends_) add_end(end, EdgeKind::kEof);
    for (const Ready& ready : ready_) {
      if (is_process(ready.source)) {
        processes.emplace_back(static_cast<uint32_t>(ready.source), ready.at);
        continue;
      }
      if (is_listener(ready.source))
        add_connection_ready(ready.source, ready.at);
      else
        add_bytes_ready(ready.source, ready.at);
      if (ready.hung_up) add_end({ready.at, ready.source, 0}, EdgeKind::kReadiness);
    }
    for (const auto& [at, listener] : accepts_) add_listen(listener, at);
    return processes;
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
    std::map<uint32_t, Node> deaf;                      ///< its receivers want no more; by thread
    std::map<Node, uint64_t> ends;                      ///< where its end was found, and by which error
    bool fifo = false;
    std::set<Node> drops;  ///< of a FIFO, each time
  };
  /// Somebody found that a channel has ended, or by an error that nobody is at its other side.
  struct End {
    Node at;
    uint64_t channel, error;
  };
  struct Ready {
    Node at;
    uint64_t source;
    bool hung_up;
  };

  void read_transfers();
  void take(const Fact& fact, Node at);
  bool received_at(uint64_t channel, Node at);
  void add_end(const End& end, EdgeKind kind);
  void add_drops(uint64_t channel, Node at, EdgeKind kind);
  void add_fifo_end(const Channel& channel, Node at, EdgeKind kind);
  void add_bytes_ready(uint64_t channel, Node at);
  void add_connection_ready(uint64_t listener, Node at);
  void add_listen(uint64_t listener, Node at);
  void add_edge(Node from, Node to, EdgeKind kind) {
    if (from.event != 0 && from.thread != to.thread) execution_.edges.push_back({from, to, kind});
  }

  const Opens& opens_;
  causal::Execution& execution_;
  std::map<uint64_t, Channel> channels_;
  std::vector<End> ends_;
  std::vector<Ready> ready_;                          ///< who was told, of what
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
      channels_[fact.key].drops.insert(at);
      break;
    case FactKind::kShutDown:
      if (fact.number != 0)
        channels_[fact.key].deaf.emplace(at.thread, at);
      else if (channels_[fact.key].shut_down.event == 0)
        channels_[fact.key].shut_down = at;
      break;
    case FactKind::kEndOfFile:
      if (fact.number == 0 && received_at(fact.key, at)) break;
      ends_.push_back({at, fact.key, fact.number});
      channels_[fact.key].ends.emplace(at, fact.number);
      break;
    case FactKind::kReady:
      ready_.push_back({at, fact.key, fact.more != 0});
      break;
    case FactKind::kWatcher:
    case FactKind::kWatched:
    case FactKind::kUnwatched:
      watches_.take(fact);
      break;
    case FactKind::kPolled:
      if (uint64_t source = watches_.source(fact)) ready_.push_back({at, source, fact.key != 0});
      break;
    case FactKind::kFifo:
      channels_[fact.key].fifo = true;
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

/// Whether this may be what `at` noticed: the same thread has done it before, or another one at some time.
static bool may_precede(Node done, Node at) { return done.thread != at.thread || done < at; }

void FactEdges::add_drops(uint64_t id, Node at, EdgeKind kind) {
  for (const auto& [process, from] : channels_[id].dropped) add_edge(from, at, kind);
}

/// Up to where the thread has received by then.
static uint64_t received_by(const auto& receives, Node at) {
  auto next = std::ranges::upper_bound(receives, at, {}, [](const auto& receive) { return receive.at; });
  return next == receives.begin() ? 0 : std::prev(next)->end;
}

/// A FIFO is opened again and again, so that not all who ever close it have done so. But who sent what has
/// been received has closed it since. What was sent before another end is known there.
void FactEdges::add_fifo_end(const Channel& channel, Node at, EdgeKind kind) {
  auto mine = channel.receives.find(at.thread);
  if (mine == channel.receives.end()) return;
  auto end = channel.ends.lower_bound(at);
  bool another = end != channel.ends.begin() && std::prev(end)->first.thread == at.thread;
  uint64_t from = another ? received_by(mine->second, std::prev(end)->first) : 0;
  std::map<uint32_t, Node> last;  // by thread
  for (auto send = std::ranges::lower_bound(channel.sends, from, {}, &Transfer::begin);
       send != channel.sends.end() && send->begin < received_by(mine->second, at); ++send)
    last[send->at.thread] = std::max(last[send->at.thread], send->at);
  for (const auto& [thread, sent] : last) {
    auto drop = channel.drops.upper_bound(sent);
    if (drop != channel.drops.end() && drop->thread == thread) add_edge(*drop, at, kind);
  }
}

/// It takes one to shut an end down, and all who have it to close it. What may be one's own doing says
/// nothing of others: who has shut an end down finds no more there either.
void FactEdges::add_end(const End& end, EdgeKind kind) {
  const Channel &channel = channels_[end.channel], &back = channels_[end.channel ^ 1];
  const auto& [at, id, error] = end;
  if (channel.fifo) return add_fifo_end(channel, at, kind);
  if (error == EPIPE) {
    if (back.shut_down.event != 0 && may_precede(back.shut_down, at)) return;
    if (back.deaf.empty()) return add_drops(id, at, kind);
    if (back.deaf.size() == 1) add_edge(back.deaf.begin()->second, at, kind);
    return;
  }
  if (error != 0) return add_drops(id, at, kind);
  auto own = [&](const auto& deaf) { return may_precede(deaf.second, at); };
  if (std::ranges::any_of(channel.deaf, own)) return;
  if (channel.shut_down.event != 0) return add_edge(channel.shut_down, at, kind);
  add_drops(id, at, kind);
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
  auto end = channel.ends.upper_bound(at);
  if (end != channel.ends.end() && end->first.thread == at.thread)
    add_end({at, id, end->second}, EdgeKind::kReadiness);
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

std::vector<std::pair<uint32_t, Node>> add_fact_edges(const Facts& facts, const Opens& opens,
                                                      const std::map<ThreadId, uint32_t>& thread_of,
                                                      causal::Execution& execution) {
  return FactEdges(facts, opens, thread_of, execution).add();
}

}  // namespace pastcone::graph
