#include "pastcone/graph/execution.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "pastcone/graph/children.h"
#include "pastcone/graph/fact_edges.h"
#include "pastcone/graph/opens.h"
#include "pastcone/graph/ports.h"
#include "pastcone/graph/signals.h"
#include "pastcone/graph/steps.h"
#include "pastcone/graph/transfers.h"
#include "pastcone/graph/turns.h"
#include "pastcone/trace/stream_reader.h"

namespace pastcone::graph {
namespace {

using causal::EdgeKind;
using format::Op;

class Reader {
 public:
  Reader(const Recording& recording, const Facts& facts, LockEdges& locks)
      : recording_(recording), facts_(facts), locks_(locks) {
    for (const auto& [id, streams] : recording.threads()) {
      index_[id] = static_cast<uint32_t>(execution_.threads.size());
      execution_.threads.emplace_back().id = id;
    }
  }

  Result<causal::Execution> run() {
    for (const auto& [id, index] : index_) TRY_STATUS(read_start(id, index));
    Told told(facts_, execution_);
    for (const auto& [id, index] : index_) TRY_STATUS(read(id, index, told));
    add_order_of_events();
    for (causal::EdgeInput& edge : std::move(turns_).hand_overs()) add_hand_over(edge);
    execution_.watches = told.watches();
    if (told.known()) transfers_.set_fifos(told.fifos());
    std::move(transfers_).finish(execution_);
    opens_.add_edges(execution_);
    auto ended = add_fact_edges(facts_, opens_, index_, execution_);
    signals_.add_edges(facts_, index_, execution_);
    std::move(ports_).finish(execution_);
    for (const Wait& wait : waits_) add_end_of(wait.pid, wait.at, EdgeKind::kWait);
    for (const auto& [pid, at] : signals_.children()) add_end_of(pid, at, EdgeKind::kSignal);
    for (const auto& [pid, at] : ended) add_end_of(pid, at, EdgeKind::kReadiness);
    return std::move(execution_);
  }

 private:
  Status read_start(ThreadId id, uint32_t index);
  Status read(ThreadId id, uint32_t index, const Told& told);
  Status take_wait(StreamReader& reader, const Item& item, uint32_t index);
  Status take_signal(StreamReader& reader, const Item& item, uint32_t index);
  void add_order_of_events();
  void add_hand_over(const causal::EdgeInput& edge);
  void add_end_of(uint32_t pid, causal::Node at, EdgeKind kind);
  void start(const Item& item, causal::ThreadInput& thread);

  const Recording& recording_;
  const Facts& facts_;
  LockEdges& locks_;
  causal::Execution execution_;
  std::map<ThreadId, uint32_t> index_;
  struct Wait {
    uint32_t pid;
    causal::Node at;
  };
  std::vector<Wait> waits_;
  Children children_;
  /// Where a vfork is left → the step of its child that lets it.
  std::map<causal::Node, causal::Node> released_;
  Images images_;
  Turns turns_;
  Transfers transfers_;
  Opens opens_;
  Signals signals_;
  Ports ports_;
};

/// A wait that tells of somebody's end. (One that tells of a stop has no source that the recording knows.)
Status Reader::take_wait(StreamReader& reader, const Item& item, uint32_t index) {
  constexpr uint32_t kWait4 = 61, kWaitId = 247;
  constexpr size_t kCode = 8, kPid = 16;  // in siginfo
  if (!item.is_call() || item.result < 0) return {};
  if (item.call == kWait4 && item.result > 0) {
    constexpr uint64_t kUsage = 144;  // behind the status, if that is wanted
    int status = 0;
    ByteView out = TRY(reader.payload(item));
    if (out.size() == sizeof status || out.size() == sizeof status + kUsage)
      std::memcpy(&status, out.data(), sizeof status);
    bool ended = !WIFSTOPPED(status) && !WIFCONTINUED(status);
    if (ended) waits_.push_back({static_cast<uint32_t>(item.result), {index, leaving(item.event)}});
  } else if (item.call == kWaitId && item.payload_length >= kPid + 4) {
    ByteView info = TRY(reader.payload(item));
    uint32_t code = 0, pid = 0;
    std::memcpy(&code, info.data() + kCode, 4);
    std::memcpy(&pid, info.data() + kPid, 4);
    bool ended = code >= CLD_EXITED && code <= CLD_DUMPED;
    if (ended) waits_.push_back({pid, {index, leaving(item.event)}});
  }
  return {};
}

Status Reader::take_signal(StreamReader& reader, const Item& item, uint32_t index) {
  if (item.op != Op::kSignal && item.op != Op::kFatal) return {};
  ByteView info = item.op == Op::kSignal ? TRY(reader.payload(item)) : ByteView();
  signals_.take(execution_.threads[index].id.process().number(), item.signal, info,
                {index, leaving(item.event)});
  return {};
}

/// Of parallel mode. Where a thread is behind an event a replay tells.
void Reader::add_order_of_events() {
  std::map<std::pair<ThreadId, uint64_t>, Place> behind;
  for (const Fact& fact : facts_.list) {
    if (fact.kind == FactKind::kTurnAfter) behind[{fact.thread, fact.number}] = fact.place();
  }
  auto find = [&](const Numbered& each) {
    return behind.find({execution_.threads[each.leaving.thread].id, each.number});
  };
  auto place = [&](const Numbered& each) {
    if (each.behind) return find(each)->second;
    return Place{execution_.threads[each.leaving.thread].id, each.leaving.event, 0};
  };
  // Who uses locks inside a call, such as fork all of the heap, has its turn by then.
  std::map<std::pair<ThreadId, uint64_t>, uint64_t> inside;
  for (const LockEdge& edge : locks_.edges) {
    for (const Place& at : {edge.from, edge.to}) {
      if (at.step % 2 == 0) continue;
      uint64_t& first = inside.try_emplace({at.thread, at.step}, at.point).first->second;
      first = std::min<uint64_t>(first, at.point);
    }
  }
  auto taken = [&](const Numbered& each) {
    Place left = place(each);
    auto first = each.behind ? inside.end() : inside.find({left.thread, left.step - 1});
    return first == inside.end() ? left : Place{left.thread, left.step - 1, first->second};
  };
  auto has_place = [&](const Numbered& each) { return find(each) != behind.end(); };
  for (const auto& [from, to] : std::move(turns_).in_order(has_place)) {
    uint32_t process = execution_.threads[from.leaving.thread].id.process().number();
    locks_.edges.push_back({place(from), taken(to), EdgeKind::kHandOver, process});
    if (auto child = released_.find(from.leaving); child != released_.end() && !from.behind) {
      Place released{execution_.threads[child->second.thread].id, child->second.event, 0};
      locks_.edges.push_back({released, taken(to), EdgeKind::kHandOver, process});
    }
  }
}

/// Who is in a vfork keeps the turn until its child lets it go.
void Reader::add_hand_over(const causal::EdgeInput& edge) {
  execution_.edges.push_back(edge);
  auto child = released_.find(edge.from);
  if (child == released_.end() || child->second.thread == edge.to.thread) return;
  execution_.edges.push_back({child->second, edge.to, edge.kind, edge.label});
}

/// All threads of a process end with it.
void Reader::add_end_of(uint32_t pid, causal::Node at, EdgeKind kind) {
  auto child = children_.child(pid, at, execution_);
  if (!child) return;
  ProcessId process = execution_.threads[*child].id.process();
  for (uint32_t i = *child; i < execution_.threads.size() && execution_.threads[i].id.process() == process;
       ++i)
    execution_.edges.push_back({{i, execution_.threads[i].events}, at, kind});
}

void Reader::start(const Item& item, causal::ThreadInput& thread) {
  auto creator = index_.find(item.thread);
  if (creator != index_.end()) thread.creator = {creator->second, leaving(item.parent_event)};
  thread.by_fork = (item.flags & format::kStartProcess) != 0;
}

/// Who created it, which is asked of others before it is their turn.
Status Reader::read_start(ThreadId id, uint32_t index) {
  StreamReader reader(recording_, id);
  auto item = TRY(reader.next());
  if (item && item->op == Op::kStart) start(*item, execution_.threads[index]);
  return {};
}

Status Reader::read(ThreadId id, uint32_t index, const Told& told) {
  StreamReader reader(recording_, id);
  TurnScan turn(index, id, images_, recording_.manifest().parallel);
  TransferScan transfer(index, transfers_);
  PortScan port(index, id, told, ports_);
  causal::ThreadInput& thread = execution_.threads[index];
  bool vfork = false;
  uint64_t events = 0;
  auto release_creator = [&](uint32_t step) {
    // It was in its own event all the while.
    if (!vfork) return;
    causal::Node creator = thread.creator;
    execution_.edges.push_back({{index, step}, {creator.thread, creator.event + 1}, EdgeKind::kHandOver});
    released_[creator] = {index, step};
    vfork = false;
  };
  while (auto item = TRY(reader.next())) {
    turn.take(*item, turns_);
    transfer.take(*item, turn);
    if (!item->is_event()) continue;
    events = item->event;
    if (item->op == Op::kStart) {
      start(*item, thread);
      if (id.number() == 1) children_.add(item->pid, index);
      signals_.add_process(id.process().number(), item->pid);
      vfork = (item->flags & format::kStartVfork) != 0 && thread.creator.event != 0;
    }
    opens_.take(*item, index);
    TRY_STATUS(port.take(reader, *item));
    TRY_STATUS(take_wait(reader, *item, index));
    TRY_STATUS(take_signal(reader, *item, index));
    if (item->op == Op::kExec) release_creator(entering(events));
  }
  release_creator(leaving(events));
  turn.finish(turns_);
  transfer.finish();
  thread.events = turn.last();
  thread.ended = reader.ended();
  return {};
}

}  // namespace

Result<causal::Execution> read_execution(const Recording& recording, const Facts& facts, LockEdges& locks) {
  return Reader(recording, facts, locks).run();
}

Result<causal::Execution> read_execution(const Recording& recording, const Facts& facts) {
  LockEdges none;
  return read_execution(recording, facts, none);
}

}  // namespace pastcone::graph
