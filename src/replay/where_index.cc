#include "pastcone/replay/where_index.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>

#include "pastcone/replay/index_envelope.h"
#include "pastcone/stage/where.h"

namespace pastcone::replay {
namespace {

constexpr IndexKind kKind{"PCWHERE1", 2, "list of where events are"};

/// The words up to the first 0.
class Words {
 public:
  explicit Words(ByteView bytes) : in_(bytes) {}
  uint64_t next() { return in_.remaining() < sizeof(uint64_t) ? 0 : in_.u64(); }

 private:
  ByteReader in_;
};

bool is_runtime(uint64_t place) { return place >> stage::kPlaceFileAt == stage::kRuntimeFile; }

constexpr size_t kBlock = 4096;

/// The block's first event is known.
Bytes pack_block(std::span<const WhereIndex::At> events) {
  ByteWriter out;
  uint64_t expected = events.front().event;
  for (const WhereIndex::At& at : events) {
    bool next = at.event == expected;
    out.varint(uint64_t{at.chain} * 2 + !next);
    if (!next) out.varint(at.event - expected);
    expected = at.event + 1;
  }
  return out.take();
}

/// As far as it makes sense: the checksum was right, so it does.
std::vector<WhereIndex::At> unpack_block(uint64_t expected, ByteView packed, uint32_t chains) {
  std::vector<WhereIndex::At> events;
  events.reserve(std::min(kBlock, packed.size()));
  for (ByteReader in(packed); in.remaining() > 0;) {
    uint64_t word = in.varint(), further = (word & 1) != 0 ? in.varint() : 0;
    if (in.failed() || word / 2 >= chains || expected + further < expected) break;
    events.push_back({expected + further, static_cast<uint32_t>(word / 2)});
    expected = events.back().event + 1;
  }
  return events;
}

}  // namespace

const std::vector<WhereIndex::At>* WhereIndex::PackedEvents::around(uint64_t event) const {
  auto after = std::ranges::upper_bound(blocks_, event, {}, &Block::first);
  if (after == blocks_.begin()) return nullptr;
  auto place = static_cast<size_t>(after - blocks_.begin() - 1);
  if (place != opened_) unpacked_ = unpack_block(blocks_[place].first, blocks_[place].packed, chains_);
  opened_ = place;
  return &unpacked_;
}

uint32_t WhereIndex::number_of(CallChain chain) {
  auto [known, is_new] = numbers_.try_emplace(std::move(chain), static_cast<uint32_t>(chains_.size()));
  if (is_new) chains_.push_back(known->first);
  return known->second;
}

void WhereIndex::add(ThreadId thread, ByteView bytes, const std::function<uint64_t(uint64_t)>& original) {
  std::vector<At>& events = threads_[thread];
  std::unordered_map<uint32_t, uint32_t> numbers;  // the thread's own, by ours
  Words words(bytes);
  while (uint64_t word = words.next()) {
    if ((word & stage::kWhereEvent) != 0) {
      auto found = numbers.find(static_cast<uint32_t>(word >> stage::kWhereChainAt) & stage::kWhereChainMask);
      uint64_t event = word & stage::kWhereEventMask;
      while (!events.empty() && events.back().event >= event) events.pop_back();
      if (found != numbers.end()) events.push_back({event, found->second});
      continue;
    }
    CallChain chain;
    for (uint64_t left = word & 0xff; left > 0; --left) {
      uint64_t place = words.next();
      if (place == 0) return;  // it was interrupted there
      if (!is_runtime(place)) chain.push_back(original(place));
    }
    numbers[static_cast<uint32_t>(word >> stage::kWhereNumberAt) & stage::kWhereChainMask] =
        number_of(std::move(chain));
  }
}

std::optional<uint32_t> WhereIndex::find(EventId event) const {
  auto thread = threads_.find(event.thread());
  auto packed = packed_.find(event.thread());
  const std::vector<At>* events = thread != threads_.end() ? &thread->second : nullptr;
  if (packed != packed_.end()) events = packed->second.around(event.index());
  if (events == nullptr) return std::nullopt;
  auto found = std::ranges::lower_bound(*events, event.index(), {}, &At::event);
  if (found == events->end() || found->event != event.index()) return std::nullopt;
  return found->chain;
}

// --- bytes ------------------------------------------------------------------------------------------------
// In an envelope: varint count of chains, for each varint count, and for each of its places varint file,
// varint offset; varint count of threads, for each varint process, varint thread, varint count of blocks, for
// each varint first event, varint bytes, and these: for each event varint chain × 2, + 1 if it is not the
// event after the one before: then varint how many are left out.

Bytes WhereIndex::pack(const std::string& recording) const {
  ByteWriter body;
  body.varint(chains_.size());
  for (const CallChain& chain : chains_) {
    body.varint(chain.size());
    for (uint64_t place : chain) {
      body.varint(place >> stage::kPlaceFileAt);
      body.varint(place & stage::kPlaceOffset);
    }
  }
  body.varint(threads_.size());
  for (const auto& [thread, events] : threads_) {
    body.varint(thread.process().number());
    body.varint(thread.number());
    body.varint((events.size() + kBlock - 1) / kBlock);
    for (size_t from = 0; from < events.size(); from += kBlock) {
      auto block = std::span(events).subspan(from, std::min(kBlock, events.size() - from));
      Bytes packed = pack_block(block);
      body.varint(block.front().event);
      body.varint(packed.size());
      body.bytes(packed);
    }
  }
  return put_in_envelope(kKind, recording, body.view());
}

Result<WhereIndex> WhereIndex::unpack(ByteView bytes, const std::string& recording) {
  ByteReader in(TRY(open_envelope(kKind, recording, bytes)));
  WhereIndex index;
  for (uint64_t count = in.varint(); count > 0 && !in.failed(); --count) {
    CallChain chain;
    for (uint64_t places = in.varint(); places > 0 && !in.failed(); --places) {
      uint64_t file = in.varint(), offset = in.varint();
      chain.push_back(file << stage::kPlaceFileAt | (offset & stage::kPlaceOffset));
    }
    if (index.number_of(std::move(chain)) + 1 != index.chains_.size()) in.set_failed();
  }
  for (uint64_t count = in.varint(); count > 0 && !in.failed(); --count) {
    auto process = static_cast<uint32_t>(in.varint()), number = static_cast<uint32_t>(in.varint());
    PackedEvents& events = index.packed_[ThreadId(ProcessId(process), number)];
    events.chains_ = static_cast<uint32_t>(index.chains_.size());
    for (uint64_t left = in.varint(); left > 0 && !in.failed(); --left) {
      uint64_t first = in.varint();
      ByteView packed = in.bytes(in.varint());
      if (!events.blocks_.empty() && events.blocks_.back().first >= first) in.set_failed();
      events.blocks_.push_back({first, Bytes(packed.begin(), packed.end())});
    }
  }
  if (!in.at_end()) return fail("it is damaged");
  return index;
}

}  // namespace pastcone::replay
