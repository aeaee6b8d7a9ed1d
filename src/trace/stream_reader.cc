#include "pastcone/trace/stream_reader.h"

#include <algorithm>
#include <cstring>

#include "pastcone/base/check.h"

namespace pastcone {
namespace {

using format::Op;
using format::Shape;

/// Zeros after a chunk's last byte. A zero ends a varint, so an item that claims to go on beyond the end is
/// read in there and refused afterwards, with no test at each byte: kStart, the longest, has seven varints.
constexpr size_t kPadding = 128;

constexpr uint64_t kUsualClocks = 16;
constexpr size_t kMaxOtherClocks = 4096;

/// More in one piece than any call can give (MAX_RW_COUNT).
constexpr uint64_t kMaxPayload = uint64_t{1} << 31;

const ThreadStreams kNoStreams;

}  // namespace

/// The last reading of each clock.
struct StreamReader::Clocks {
  uint64_t usual[kUsualClocks] = {};
  uint64_t time_of_day = 0, time = 0, tsc = 0;
  std::unordered_map<uint64_t, uint64_t> other;

  uint64_t* find(uint64_t id) {
    if (id < kUsualClocks) return &usual[id];
    if (other.size() >= kMaxOtherClocks && !other.contains(id)) return nullptr;
    return &other[id];
  }
};

/// The fields of one item, read from the padded chunk.
class StreamReader::Decoder {
 public:
  Decoder(StreamReader& reader, Item& item) : p_(reader.cursor_), reader_(reader), item_(item) {}

  /// Where the item ends. Nullptr if it makes no sense.
  const uint8_t* item() {
    uint8_t code = *p_++;
    if (code >= static_cast<uint8_t>(Op::kFirstCall)) [[likely]] {
      size_t index = code - static_cast<size_t>(Op::kFirstCall);
      if (index >= format::kFrequentCount) return nullptr;
      item_.op = Op::kCall;
      item_.call = format::kFrequent[index].number;
      shape(format::kFrequent[index].shape);
    } else {
      item_.op = static_cast<Op>(code);
      rare();
    }
    return bad_ ? nullptr : p_;
  }

  /// The item was right, only its payload is not in the data stream.
  bool payload_missing() const { return payload_missing_; }

 private:
  void rare();
  void start();
  void call();

  void shape(Shape shape) {
    item_.shape = shape;
    switch (shape) {
      case Shape::kResult:
        item_.result = zigzag();
        break;
      case Shape::kOut:
        item_.result = zigzag();
        payload();
        break;
      case Shape::kSend:
        item_.channel = varint();
        item_.length = varint();
        item_.result = static_cast<int64_t>(item_.length);
        break;
      case Shape::kReceive:
        item_.channel = varint();
        item_.result = zigzag();
        break;
      case Shape::kFile:
        item_.file = varint();
        item_.position = varint();
        item_.result = zigzag();
        break;
      case Shape::kCreate:
        item_.result = zigzag();
        item_.thread = thread();
        break;
      case Shape::kAddress:
        item_.result = static_cast<int64_t>(varint());
        item_.file = varint();
        item_.flags = item_.file & 1;
        item_.file >>= 1;
        break;
      case Shape::kMessage:
        item_.channel = varint();
        item_.result = zigzag();
        payload();
        break;
      case Shape::kOpen:
        item_.channel = varint();
        item_.result = zigzag();
        payload();
        break;
      case Shape::kCount:
      default:
        bad_ = true;
    }
    item_.check = *p_++;
  }

  uint64_t varint() {
    uint64_t byte = *p_++;
    return byte < 0x80 ? byte : long_varint(byte & 0x7f);
  }

  uint64_t long_varint(uint64_t value) {
    for (unsigned shift = 7; shift < 64; shift += 7) {
      uint64_t byte = *p_++;
      if (shift == 63 && byte > 1) break;  // the tenth byte has room for one bit
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    bad_ = true;
    return 0;
  }

  int64_t zigzag() {
    uint64_t folded = varint();
    return static_cast<int64_t>(folded >> 1 ^ (0 - (folded & 1)));
  }

  uint32_t varint32() {
    uint64_t value = varint();
    if (value > UINT32_MAX) bad_ = true;
    return static_cast<uint32_t>(value);
  }

  ThreadId thread() {
    uint32_t process = varint32();
    return ThreadId(ProcessId(process), varint32());
  }

  uint64_t u64() {
    uint64_t value;
    std::memcpy(&value, p_, sizeof value);
    p_ += sizeof value;
    return value;
  }

  void payload() {
    uint64_t length = varint();
    item_.payload_offset = reader_.data_offset_;
    item_.payload_length = length;
    if (length > reader_.streams_->data.bytes - reader_.data_offset_) {
      bad_ = payload_missing_ = true;
    } else {
      reader_.data_offset_ += length;
    }
  }

  int64_t advance(uint64_t& clock) {
    clock += static_cast<uint64_t>(zigzag());
    return static_cast<int64_t>(clock);
  }

  int64_t advance_clock(uint64_t id) {
    item_.clock = id;
    uint64_t* clock = reader_.clocks_->find(id);
    if (clock == nullptr) {
      bad_ = true;
      return 0;
    }
    return advance(*clock);
  }

  const uint8_t* p_;
  bool bad_ = false;
  bool payload_missing_ = false;
  StreamReader& reader_;
  Item& item_;
};

void StreamReader::Decoder::start() {
  item_.pid = varint32();
  item_.tid = varint32();
  item_.thread = thread();
  item_.parent_event = varint();
  item_.flags = *p_++;
  item_.time = static_cast<int64_t>(varint());
}

void StreamReader::Decoder::call() {
  item_.call = varint32();
  uint8_t code = *p_++;
  if (code < static_cast<uint8_t>(Shape::kCount)) {
    shape(static_cast<Shape>(code));
  } else {
    bad_ = true;
  }
}

void StreamReader::Decoder::rare() {
  Clocks& clocks = *reader_.clocks_;
  switch (item_.op) {
    case Op::kStart:
      return start();
    case Op::kCall:
      return call();
    case Op::kExec:
    case Op::kAsync:
      payload();
      item_.check = *p_++;
      return;
    case Op::kThreadExit:
      item_.result = zigzag();
      item_.check = *p_++;
      return;
    case Op::kExitGroup:
      item_.result = zigzag();
      item_.hash = u64();
      return;
    case Op::kSignal:
    case Op::kFault:
      item_.signal = varint32();
      payload();
      item_.check = *p_++;
      return;
    case Op::kFatal:
      item_.signal = varint32();
      item_.hash = u64();
      return;
    case Op::kStop:
      item_.reason = varint32();
      payload();
      return;
    case Op::kTurn:
    case Op::kTurnAfter:
    case Op::kOrder:
      item_.object = varint();
      item_.number = varint();
      return;
    case Op::kInside:
      item_.number = varint();
      return;
    case Op::kCorrect:
      item_.result = zigzag();
      return;
    case Op::kClock:
      item_.time = advance_clock(varint());
      return;
    case Op::kRealtime:
      item_.time = advance_clock(0);
      return;
    case Op::kMonotonic:
      item_.time = advance_clock(1);
      return;
    case Op::kTimeOfDay:
      item_.time = advance(clocks.time_of_day);
      return;
    case Op::kTime:
      item_.time = advance(clocks.time);
      return;
    case Op::kTsc:
      item_.time = advance(clocks.tsc);
      item_.value = varint();
      return;
    case Op::kRandom:
      item_.value = varint();
      item_.flags = *p_++;
      return;
    case Op::kFile:
      item_.file = varint();
      payload();
      return;
    case Op::kOutput:
      item_.flags = *p_++;
      item_.number = varint();
      item_.position = varint();
      return;
    case Op::kOffset:
      item_.position = varint();
      return;
    case Op::kNone:
    case Op::kFirstCall:
    default:
      bad_ = true;
  }
}

StreamReader::StreamReader(const Recording& recording, ThreadId thread)
    : recording_(&recording), streams_(&kNoStreams), thread_(thread), clocks_(std::make_unique<Clocks>()) {
  auto found = recording.threads().find(thread);
  if (found != recording.threads().end()) streams_ = &found->second;
}

StreamReader::~StreamReader() = default;
StreamReader::StreamReader(StreamReader&&) noexcept = default;
StreamReader& StreamReader::operator=(StreamReader&&) noexcept = default;

tl::unexpected<Error> StreamReader::damaged(std::string_view why) {
  error_ = Error{fmt::format("{} is damaged after event {}: {}", thread_, events_, why)};
  return tl::unexpected<Error>(*error_);
}

Result<bool> StreamReader::next_chunk() {
  const StreamIndex& events = streams_->events;
  if (next_chunk_ == events.chunks.size()) {
    if (!events.damage.empty()) return damaged(fmt::format("chunk {} of its events is missing", next_chunk_));
    return false;
  }
  const ChunkRef& chunk = events.chunks[next_chunk_];
  if (chunk.first_event != events_) {
    return damaged(fmt::format("chunk {} begins after event {}", next_chunk_, chunk.first_event));
  }
  if (chunk_ == nullptr) chunk_ = std::make_unique<uint8_t[]>(format::kChunkRoom + kPadding);
  Status read = recording_->read_chunk(chunk, chunk_.get());
  if (!read) return damaged(read.error().message);
  cursor_ = chunk_.get();
  end_ = cursor_ + chunk.used;
  std::memset(chunk_.get() + chunk.used, 0, kPadding);
  ++next_chunk_;
  return true;
}

Result<std::optional<Item>> StreamReader::next() {
  if (error_) [[unlikely]]
    return tl::unexpected<Error>(*error_);
  while (cursor_ == end_) [[unlikely]] {
      if (!TRY(next_chunk())) return std::nullopt;
    }
  Result<std::optional<Item>> result(tl::in_place, std::in_place);
  Item& item = **result;
  Decoder decoder(*this, item);
  const uint8_t* after = decoder.item();
  if (after == nullptr || after > end_) [[unlikely]] {
    if (!decoder.payload_missing()) return damaged("what follows is not an event");
    if (recording_->growing()) return std::nullopt;
    return damaged("the data of the next event is missing");
  }
  cursor_ = after;
  if (is_event(item.op)) item.event = ++events_;
  return result;
}

/// Marks may lie in the chunk before that of their event: so the event before it is to be read.
bool StreamReader::skip_to(uint64_t event) {
  const std::vector<ChunkRef>& chunks = streams_->events.chunks;
  auto from = chunks.begin() + static_cast<ptrdiff_t>(next_chunk_);
  auto after = std::partition_point(from, chunks.end(),
                                    [&](const ChunkRef& chunk) { return chunk.first_event + 1 < event; });
  if (after - from < 2 || error_) return false;
  next_chunk_ = static_cast<size_t>(after - chunks.begin()) - 1;
  events_ = chunks[next_chunk_].first_event;
  cursor_ = end_;
  return skipped_ = true;
}

Status StreamReader::load_data(size_t chunk) {
  if (data_chunk_ == chunk) return {};
  if (data_ == nullptr) data_ = std::make_unique<uint8_t[]>(format::kChunkRoom);
  data_chunk_ = SIZE_MAX;
  TRY_STATUS(recording_->read_chunk(streams_->data.chunks[chunk], data_.get()));
  data_chunk_ = chunk;
  return {};
}

Status StreamReader::copy_payload(const Item& item, uint64_t from, std::span<uint8_t> out) {
  CHECK(from <= item.payload_length && out.size() <= item.payload_length - from);
  if (skipped_ && !out.empty()) {
    missed_ = true;
    return fail("{}: where the data of an event is takes reading all before it", thread_);
  }
  const auto& chunks = streams_->data.chunks;
  uint64_t at = item.payload_offset + from;
  auto after =
      std::upper_bound(chunks.begin(), chunks.end(), at,
                       [](uint64_t position, const ChunkRef& chunk) { return position < chunk.start; });
  for (auto chunk = static_cast<size_t>(after - chunks.begin()); !out.empty(); ++chunk) {
    CHECK(chunk > 0 && chunk <= chunks.size());
    const ChunkRef& ref = chunks[chunk - 1];
    TRY_STATUS(load_data(chunk - 1));
    uint64_t skip = at - ref.start;
    size_t count = std::min<size_t>(out.size(), ref.used - skip);
    if (count > 0) std::memcpy(out.data(), data_.get() + skip, count);
    out = out.subspan(count);
    at += count;
  }
  return {};
}

Result<ByteView> StreamReader::payload(const Item& item) {
  uint64_t length = item.payload_length;
  if (length == 0) return ByteView();
  if (length > kMaxPayload)
    return fail("{}: an event of {} has more data than a call can give", thread_, length);
  // Usually it lies in the chunk at hand.
  if (data_chunk_ != SIZE_MAX && !skipped_) {
    const ChunkRef& ref = streams_->data.chunks[data_chunk_];
    if (item.payload_offset >= ref.start && item.payload_offset + length <= ref.start + ref.used) {
      return ByteView(data_.get() + (item.payload_offset - ref.start), length);
    }
  }
  joined_.resize(length);
  TRY_STATUS(copy_payload(item, 0, joined_));
  return ByteView(joined_);
}

}  // namespace pastcone
