#include "pastcone/trace/pack_reader.h"

#include <zstd.h>

#include <cstring>
#include <future>

#include "pastcone/trace/checksum.h"
#include "pastcone/trace/chunk.h"

namespace pastcone {
namespace {

constexpr size_t kCachedBytes = size_t{128} << 20;
constexpr size_t kAhead = 3;
constexpr uint32_t kWorthThread = 256 * 1024;

template <typename T>
T read_struct(ByteView bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// Unpacks what must be just `size` bytes.
bool unpack_frame(ByteView frame, void* out, size_t size) {
  if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != size) return false;
  return ZSTD_decompress(out, size, frame.data(), frame.size()) == size;
}

bool plausible(const format::RecordHeader& header) {
  return header.magic == format::kRecordMagic && header.chunks <= format::kMaxRecordChunks &&
         header.raw <= format::kMaxRecordRaw &&
         header.table <= ZSTD_compressBound(header.chunks * sizeof(format::ChunkHeader)) &&
         header.packed <= ZSTD_compressBound(header.raw);
}

bool two_frames(ByteView bytes) {
  for (int i = 0; i < 2; ++i) {
    size_t size = ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
    if (ZSTD_isError(size)) return false;
    bytes = bytes.subspan(size);
  }
  return true;
}

std::string describe(size_t number, uint64_t offset, std::string_view what) {
  return fmt::format("trace.pack, record {} at byte {}: {}", number + 1, offset, what);
}

/// How a table is wrong; empty if it is not.
std::string check_table(std::span<const format::ChunkHeader> table, uint32_t raw) {
  uint64_t used = 0;
  for (const format::ChunkHeader& header : table) {
    if (!valid_chunk(header)) return "holds something that is not a chunk";
    used += header.used;
  }
  return used == raw ? std::string() : "holds chunks of another size than it says";
}

bool right_checksums(std::span<const format::ChunkHeader> table, ByteView raw) {
  for (const format::ChunkHeader& header : table) {
    if (xxh64(raw.first(header.used)) != header.checksum) return false;
    raw = raw.subspan(header.used);
  }
  return true;
}

}  // namespace

Result<PackReader> PackReader::open(ByteView pack) {
  if (pack.empty()) return PackReader(pack);
  format::PackHeader header{};
  std::memcpy(&header, pack.data(), std::min(pack.size(), sizeof header));
  if (std::memcmp(header.magic, format::kPackMagic, sizeof header.magic) != 0) {
    return fail(
        "not a recording: its trace.pack was not written by pastcone; `pastcone ls` shows what there is");
  }
  if (pack.size() < sizeof header) return PackReader(ByteView());
  if (header.version != format::kVersion) {
    return fail("cannot read format {}: this pastcone reads format {}; use the pastcone that recorded it",
                header.version, format::kVersion);
  }
  return PackReader(pack);
}

std::string PackReader::find_records(bool complete) {
  for (uint64_t offset = sizeof(format::PackHeader); offset < pack_.size();) {
    auto wrong = [&](std::string_view what) { return describe(records_.size(), offset, what); };
    ByteView rest = pack_.subspan(offset);
    if (rest.size() < sizeof(format::RecordHeader)) return complete ? wrong("is cut off") : "";
    auto header = read_struct<format::RecordHeader>(rest);
    if (!plausible(header)) {
      return wrong(
          fmt::format("has a damaged header, the {} bytes from there on cannot be read", rest.size()));
    }
    uint64_t size = sizeof header + uint64_t{header.table} + header.packed;
    if (rest.size() < size) {
      // A record that was being written has no whole frames yet; if it has, it is the header that is wrong.
      bool whole = two_frames(rest.subspan(sizeof header));
      return complete || whole ? wrong(whole ? "has a damaged header" : "is cut off") : "";
    }
    records_.push_back({offset, header.chunks, header.table, header.packed, header.raw});
    offset += size;
  }
  return {};
}

PackReader::Content PackReader::read(const Record& record, Check check) const {
  ByteView bytes = pack_.subspan(record.offset);
  auto header = read_struct<format::RecordHeader>(bytes);
  Content content;
  ByteView table = bytes.subspan(sizeof header, header.table);
  ByteView frame = bytes.subspan(sizeof header + header.table, header.packed);
  content.table.resize(header.chunks);
  if (xxh64(table, header.raw) != header.checksum) {
    content.wrong = "has a wrong checksum";
  } else if (!unpack_frame(table, content.table.data(), header.chunks * sizeof(format::ChunkHeader))) {
    content.wrong = "has a table that cannot be unpacked";
  } else {
    content.wrong = check_table(content.table, header.raw);
  }
  if (check == Check::kAsRead || !content.wrong.empty()) return content;
  auto raw = std::make_shared<Bytes>(header.raw);
  if (static_cast<uint32_t>(xxh64(frame)) != header.frame_checksum) {
    content.wrong = "has a wrong checksum";
  } else if (!unpack_frame(frame, raw->data(), raw->size())) {
    content.wrong = "cannot be unpacked";
  } else if (!right_checksums(content.table, *raw)) {
    content.wrong = "holds a chunk with a wrong checksum";
  }
  content.raw = std::move(raw);
  return content;
}

void PackReader::scan(Check check, bool complete, const ChunkVisitor& visit,
                      std::vector<std::string>& damage) {
  std::string wrong_end = find_records(complete);
  // Large ones are unpacked in other threads while the one before is looked at.
  std::deque<std::future<Content>> ahead;
  size_t next = 0;
  for (uint32_t number = 0; number < records_.size(); ++number) {
    while (next < records_.size() && ahead.size() < kAhead) {
      const Record& record = records_[next++];
      bool large = check == Check::kAll && record.raw >= kWorthThread;
      ahead.push_back(std::async(large ? std::launch::async : std::launch::deferred,
                                 [this, record, check] { return read(record, check); }));
    }
    Content content = ahead.front().get();
    ahead.pop_front();
    if (!content.wrong.empty()) {
      damage.push_back(describe(number, records_[number].offset, content.wrong));
      continue;
    }
    if (content.raw) cache_->keep(number, std::move(content.raw));
    uint32_t offset = 0;
    for (const format::ChunkHeader& header : content.table) {
      if (!visit(number, header, offset)) return;
      offset += header.used;
    }
  }
  if (!wrong_end.empty()) damage.push_back(wrong_end);
}

Result<std::shared_ptr<const Bytes>> PackReader::unpack(uint32_t record) const {
  std::lock_guard lock(cache_->mutex);
  if (auto found = cache_->records.find(record); found != cache_->records.end()) return found->second;
  Content content = read(records_.at(record), Check::kAll);
  if (!content.wrong.empty()) return fail("{}", describe(record, records_[record].offset, content.wrong));
  cache_->keep(record, content.raw);
  return content.raw;
}

void PackReader::Cache::keep(uint32_t record, std::shared_ptr<const Bytes> raw) {
  bytes += raw->size();
  records.emplace(record, std::move(raw));
  order.push_back(record);
  while (bytes > kCachedBytes && order.size() > 1) {
    auto oldest = records.find(order.front());
    bytes -= oldest->second->size();
    records.erase(oldest);
    order.pop_front();
  }
}

}  // namespace pastcone
