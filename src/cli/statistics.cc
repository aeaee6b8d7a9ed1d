#include "pastcone/cli/statistics.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "pastcone/cli/event_text.h"
#include "pastcone/trace/event_reader.h"

namespace pastcone::cli {
namespace {

using format::Shape;

constexpr size_t kMaxChannels = 1 << 22;  // more than there can be; the rest is not counted

/// Counts kinds without a name for each event: op in the upper half, call number in the lower.
uint64_t kind_key(const Item& item) { return uint64_t{static_cast<uint8_t>(item.op)} << 32 | item.call; }

}  // namespace

Statistics Statistics::read(const Recording& recording) {
  Statistics statistics;
  std::unordered_map<uint64_t, uint64_t> counts;
  std::unordered_set<uint64_t> channels;
  std::map<std::string, uint64_t> kinds;
  for (const auto& [thread, streams] : recording.threads()) {
    EventReader reader(recording, thread);
    counts.clear();
    while (true) {
      auto next = reader.next();
      if (!next) statistics.damage.push_back(next.error().message);
      if (!next || *next == nullptr) break;
      const Event& event = **next;
      const Item& item = event.item;
      ++statistics.events;
      ++counts[kind_key(item)];
      if (event.mark(format::Op::kOutput) != nullptr) ++statistics.output;
      bool send = item.is_call() && item.shape == Shape::kSend;
      bool receive = item.is_call() && (item.shape == Shape::kReceive || item.shape == Shape::kMessage);
      if (!send && !receive) continue;
      if (channels.size() < kMaxChannels) channels.insert(item.channel);
      if (item.result > 0)
        (send ? statistics.sent : statistics.received) += static_cast<uint64_t>(item.result);
    }
    for (const auto& [key, count] : counts) {
      Item item;
      item.op = static_cast<format::Op>(key >> 32);
      item.call = static_cast<uint32_t>(key);
      kinds[event_kind(item)] += count;
    }
  }
  statistics.processes = recording.process_count();
  statistics.threads = recording.threads().size();
  statistics.channels = channels.size();
  for (const auto& [kind, count] : kinds) statistics.kinds.push_back({kind, count});
  std::stable_sort(statistics.kinds.begin(), statistics.kinds.end(),
                   [](const KindCount& a, const KindCount& b) { return a.events > b.events; });
  return statistics;
}

}  // namespace pastcone::cli
