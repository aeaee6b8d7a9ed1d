#include "pastcone/graph/execution.h"

#include <optional>

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
  explicit Reader(const Recording& recording) : recording_(recording) {
    for (const auto& [id, streams] : recording.threads()) {
      index_[id] = static_cast<uint32_t>(execution_.threads.size());
      execution_.threads.emplace_back().id = id;
    }
  }

  Result<causal::Execution> run() {
    for (const auto& [id, index] : index_) TRY_STATUS(read(id, index));
    for (causal::EdgeInput& edge : std::move(turns_).hand_overs()) execution_.edges.push_back(edge);
    std::move(transfers_).finish(execution_);
    return std::move(execution_);
  }

 private:
  Status read(ThreadId id, uint32_t index);
  void start(const Item& item, causal::ThreadInput& thread);

  const Recording& recording_;
  causal::Execution execution_;
  std::map<ThreadId, uint32_t> index_;
  Images images_;
  Turns turns_;
  Transfers transfers_;
};

void Reader::start(const Item& item, causal::ThreadInput& thread) {
  auto creator = index_.find(item.thread);
  if (creator != index_.end()) thread.creator = {creator->second, leaving(item.parent_event)};
  thread.by_fork = (item.flags & format::kStartProcess) != 0;
}

Status Reader::read(ThreadId id, uint32_t index) {
  StreamReader reader(recording_, id);
  TurnScan turn(index, id, images_);
  TransferScan transfer(index, transfers_);
  causal::ThreadInput& thread = execution_.threads[index];
  bool vfork = false;
  uint64_t events = 0;
  auto release_creator = [&](uint32_t step) {
    // It was in its own event all the while.
    if (!vfork) return;
    causal::Node creator = thread.creator;
    execution_.edges.push_back({{index, step}, {creator.thread, creator.event + 1}, EdgeKind::kHandOver});
    vfork = false;
  };
  while (auto item = TRY(reader.next())) {
    turn.take(*item, turns_);
    transfer.take(*item, turn.number());
    if (!item->is_event()) continue;
    events = item->event;
    if (item->op == Op::kStart) {
      start(*item, thread);
      vfork = (item->flags & format::kStartVfork) != 0 && thread.creator.event != 0;
    }
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

Result<causal::Execution> read_execution(const Recording& recording) { return Reader(recording).run(); }

}  // namespace pastcone::graph
