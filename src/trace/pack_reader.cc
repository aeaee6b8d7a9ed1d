#include "pastcone/trace/pack_reader.h"

#include <zstd.h>

#include <cstring>
#include <optional>

#include "pastcone/trace/checksum.h"
#include "pastcone/trace/chunk.h"

namespace pastcone {
namespace {

constexpr size_t kCachedBytes = size_t{128} << 20;

/// A frame may be this large: what zstd makes of kMaxRecordRaw random bytes.
const uint64_t kMaxFrame = ZSTD_compressBound(format::kMaxRecordRaw);

/// Unpacks into `out`, whose size is what the record header promised.
bool unpack_frame(ByteView frame, Bytes& out) {
  if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != out.size()) return false;
  return ZSTD_decompress(out.data(), out.size(), frame.data(), frame.size()) == out.size();
}

bool plausible(const format::RecordHeader& header) {
  return header.magic == format::kRecordMagic && header.raw <= format::kMaxRecordRaw &&
         header.packed <= kMaxFrame;
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

std::string PackReader::scan_record(uint32_t number, ByteView raw, uint32_t chunks, const ChunkVisitor& visit,
                                    bool* stopped) {
  size_t offset = 0;
  uint32_t count = 0;
  // Twice: nothing of a record is used unless all of it is right.
  for (bool checking : {true, false}) {
    for (offset = 0, count = 0; offset < raw.size(); ++count) {
      format::ChunkHeader header;
      if (raw.size() - offset < sizeof header) return "ends in the middle of a chunk";
      std::memcpy(&header, raw.data() + offset, sizeof header);
      offset += sizeof header;
      if (checking) {
        if (!valid_chunk(header)) return "holds something that is not a chunk";
        if (raw.size() - offset < header.used) return "ends in the middle of a chunk";
        if (xxh64(raw.subspan(offset, header.used)) != header.checksum)
          return "holds a chunk with a wrong checksum";
      } else if (!visit(number, header, static_cast<uint32_t>(offset))) {
        *stopped = true;
        return {};
      }
      offset += header.used;
    }
    if (count != chunks) return "does not hold as many chunks as it says";
  }
  return {};
}

void PackReader::scan(bool complete, const ChunkVisitor& visit, std::vector<std::string>& damage) {
  bool stopped = false;
  uint64_t offset = sizeof(format::PackHeader);
  while (offset < pack_.size() && !stopped) {
    auto number = static_cast<uint32_t>(records_.size());
    auto report = [&](std::string_view what) {
      damage.push_back(fmt::format("trace.pack, record {} at byte {}: {}", number + 1, offset, what));
    };
    ByteView rest = pack_.subspan(offset);
    format::RecordHeader header;
    if (rest.size() < sizeof header) {
      if (complete) report("is cut off");
      return;
    }
    std::memcpy(&header, rest.data(), sizeof header);
    if (!plausible(header)) {
      report(fmt::format("has a damaged header, the {} bytes from there on cannot be read", rest.size()));
      return;
    }
    rest = rest.subspan(sizeof header);
    if (rest.size() < header.packed) {
      // A record that was being written has no whole frame yet; if there is one, it is the header that is
      // wrong.
      bool whole = !ZSTD_isError(ZSTD_findFrameCompressedSize(rest.data(), rest.size()));
      if (complete || whole) report(whole ? "has a damaged header" : "is cut off");
      return;
    }
    ByteView frame = rest.first(header.packed);
    records_.push_back({offset + sizeof header, header.packed, header.raw});
    auto raw = std::make_shared<Bytes>(header.raw);
    if (xxh64(frame, header.raw) != header.checksum) {
      report("has a wrong checksum");
    } else if (!unpack_frame(frame, *raw)) {
      report("cannot be unpacked");
    } else if (std::string wrong = scan_record(number, *raw, header.chunks, visit, &stopped); !wrong.empty()) {
      report(wrong);
    } else {
      cache_->keep(number, std::move(raw));
    }
    offset += sizeof header + header.packed;
  }
}

Result<std::shared_ptr<const Bytes>> PackReader::unpack(uint32_t record) const {
  std::lock_guard lock(cache_->mutex);
  if (auto found = cache_->records.find(record); found != cache_->records.end()) return found->second;
  const Record& where = records_.at(record);
  auto raw = std::make_shared<Bytes>(where.raw);
  if (!unpack_frame(pack_.subspan(where.offset, where.packed), *raw)) {
    return fail("trace.pack, record {}: has changed since it was opened; try again", record + 1);
  }
  cache_->keep(record, raw);
  return raw;
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
