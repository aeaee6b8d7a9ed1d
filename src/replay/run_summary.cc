#include "pastcone/replay/run_summary.h"

#include <algorithm>
#include <memory>
#include <queue>
#include <tuple>

#include "pastcone/stage/layout.h"
#include "pastcone/trace/stream_reader.h"

namespace pastcone::replay {
namespace {

using format::Op;
using format::Shape;

/// A thread that is being read. A pack's record holds chunks of many threads; so that each record is unpacked
/// once and not once per thread, the threads are read side by side, always the one whose next chunk comes
/// first in the pack.
struct Cursor {
  Cursor(const Recording& recording, ThreadId id, const StreamIndex& index)
      : reader(recording, id), events(&index) {}

  StreamReader reader;
  const StreamIndex* events;
  size_t chunk = 0;  ///< the next one to be read
  ThreadScan scan;
};

constexpr uint64_t kMaxTurns = uint64_t{1} << 32;

}  // namespace

bool Turns::add(uint64_t number) {
  if (number >= kMaxTurns) return false;
  if (number >= seen_.size()) seen_.resize(std::max<uint64_t>(number + 1, seen_.size() * 2));
  seen_[number] = true;
  return true;
}

bool ThreadScan::take_transfer(const Item& item, RunSummary& run) {
  uint64_t connection = item.channel / 2;
  if (connection >= stage::kMaxConnections) return false;
  run.last_connection = std::max(run.last_connection, static_cast<uint32_t>(connection));
  if (run.channels.size() <= item.channel) run.channels.resize(item.channel + 1);
  std::optional<uint64_t> position = std::exchange(position_, {});
  if ((item.shape != Shape::kReceive && item.shape != Shape::kMessage) || item.result < 0) return true;
  // An empty message has a place too: the byte before it.
  ChannelSummary& channel = run.channels[item.channel];
  auto count = static_cast<uint64_t>(item.result);
  channel.total += count;
  if (position) channel.furthest = std::max(channel.furthest, *position + count);
  else channel.in_order += count;
  return channel.total < uint64_t{1} << 62 && channel.furthest < uint64_t{1} << 62;
}

bool ThreadScan::take(const Item& item, RunSummary& run) {
  if (item.is_event()) {
    summary_.events = item.event;
    ++run.events;
    summary_.complete = false;
    if (output_) {
      run.outputs.push_back(output_->number);
      run.output_bytes = std::max(run.output_bytes, output_->position);
      output_.reset();
    }
  }
  switch (item.op) {
    case Op::kThreadExit:
    case Op::kExitGroup:
    case Op::kFatal:
      summary_.complete = true;
      break;
    case Op::kStop:
      summary_.complete = true;
      summary_.left = static_cast<format::StopReason>(item.reason);
      break;
    case Op::kOffset:
      position_ = item.position;
      break;
    case Op::kOutput:
      output_ = item;  // counts if the write follows: its process may have been killed before it could say so
      break;
    case Op::kTurn:
    case Op::kTurnAfter:
      if (item.object >= stage::kMaxGroups) return false;
      if (item.number == 0) break;  // given up, not got
      run.last_group = std::max(run.last_group, static_cast<uint32_t>(item.object));
      return run.turns[static_cast<uint32_t>(item.object)].add(item.number);
    case Op::kCall:
      if (item.shape == Shape::kSend || item.shape == Shape::kReceive || item.shape == Shape::kMessage)
        return take_transfer(item, run);
      break;
    default:
      break;
  }
  return true;
}

Result<RunSummary> RunSummary::read(const Recording& recording) {
  RunSummary run;
  using Entry = std::shared_ptr<Cursor>;
  auto later = [](const Entry& a, const Entry& b) {
    auto place = [](const Cursor& c) {
      return c.chunk < c.events->chunks.size() ? c.events->chunks[c.chunk].record : 0;
    };
    return std::tuple(place(*a), a->reader.thread()) > std::tuple(place(*b), b->reader.thread());
  };
  std::priority_queue<Entry, std::vector<Entry>, decltype(later)> next(later);
  for (const auto& [id, streams] : recording.threads()) {
    next.push(std::make_shared<Cursor>(recording, id, streams.events));
  }
  while (!next.empty()) {
    Entry entry = next.top();
    next.pop();
    Cursor& cursor = *entry;
    ++cursor.chunk;
    bool last = cursor.chunk >= cursor.events->chunks.size();
    uint64_t until = last ? UINT64_MAX : cursor.events->chunks[cursor.chunk].first_event;
    bool ended = false;
    while (!ended && cursor.reader.events() < until) {
      auto item = TRY(cursor.reader.next());
      ended = !item;
      if (item && !cursor.scan.take(*item, run)) {
        return fail("{} is damaged after event {}: it uses a channel or group that cannot be",
                    cursor.reader.thread(), cursor.reader.events());
      }
    }
    if (!ended) next.push(std::move(entry));
    if (ended) run.threads[cursor.reader.thread()] = cursor.scan.summary();
  }
  std::sort(run.outputs.begin(), run.outputs.end());
  run.outputs.erase(std::unique(run.outputs.begin(), run.outputs.end()), run.outputs.end());
  return run;
}

}  // namespace pastcone::replay
