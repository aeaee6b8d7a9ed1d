#include "pastcone/replay/where_index.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "pastcone/stage/where.h"
#include "pastcone/trace/checksum.h"

namespace pastcone::replay {
namespace {

constexpr char kMagic[] = "PCWHERE1";
constexpr uint32_t kVersion = 1;

/// The words up to the first 0.
class Words {
 public:
  explicit Words(ByteView bytes) : in_(bytes) {}
  uint64_t next() { return in_.remaining() < sizeof(uint64_t) ? 0 : in_.u64(); }

 private:
  ByteReader in_;
};

bool is_runtime(uint64_t place) { return place >> stage::kPlaceFileAt == stage::kRuntimeFile; }

}  // namespace

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
  if (thread == threads_.end()) return std::nullopt;
  auto found = std::ranges::lower_bound(thread->second, event.index(), {}, &At::event);
  if (found == thread->second.end() || found->event != event.index()) return std::nullopt;
  return found->chain;
}

// --- bytes ------------------------------------------------------------------------------------------------
// The magic, u32 version, u64 xxh64 of all that follows; the recording (varint, text); varint count of
// chains, for each varint count, and for each of its places varint file, varint offset; varint count of
// threads, for each varint process, varint thread, varint count of events, for each varint chain × 2, + 1 if
// it is not the event after the one before: then varint how many after it.

Bytes WhereIndex::pack(const std::string& recording) const {
  ByteWriter body;
  body.varint(recording.size());
  body.bytes(as_bytes(recording));
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
    body.varint(events.size());
    uint64_t last = 0;
    for (const At& at : events) {
      bool next = at.event == last + 1;
      body.varint(uint64_t{at.chain} * 2 + !next);
      if (!next) body.varint(at.event - last);
      last = at.event;
    }
  }
  ByteWriter out;
  out.bytes(as_bytes(kMagic));
  out.u32(kVersion);
  out.u64(xxh64(body.view()));
  out.bytes(body.view());
  return out.take();
}

Result<WhereIndex> WhereIndex::unpack(ByteView bytes, const std::string& recording) {
  ByteReader in(bytes);
  if (as_text(in.bytes(std::strlen(kMagic))) != kMagic) return fail("it does not say where events are");
  if (in.u32() != kVersion) return fail("it is of another version");
  uint64_t checksum = in.u64();
  if (in.failed() || xxh64(bytes.subspan(in.offset())) != checksum) return fail("its checksum is wrong");
  if (as_text(in.bytes(in.varint())) != recording) return fail("it is of another recording");
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
    std::vector<At>& events = index.threads_[ThreadId(ProcessId(process), number)];
    uint64_t last = 0;
    for (uint64_t left = in.varint(); left > 0 && !in.failed(); --left) {
      uint64_t word = in.varint(), step = (word & 1) != 0 ? in.varint() : 1;
      if (word / 2 >= index.chains_.size() || step == 0 || last + step < last) in.set_failed();
      if (in.failed()) break;
      events.push_back({last += step, static_cast<uint32_t>(word / 2)});
    }
  }
  if (!in.at_end()) return fail("it is damaged");
  return index;
}

}  // namespace pastcone::replay
