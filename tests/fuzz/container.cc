#include "container.h"

#include <zstd.h>

#include <cstring>

#include "pastcone/trace/checksum.h"
#include "pastcone/trace/format.h"
#include "pastcone/trace/manifest.h"

namespace pastcone::fuzz {
namespace {

template <typename T>
void append_struct(Bytes& out, const T& value) {
  auto* start = reinterpret_cast<const uint8_t*>(&value);
  out.insert(out.end(), start, start + sizeof value);
}

/// Collects chunks into records.
class Pack {
 public:
  Pack() {
    format::PackHeader header{};
    std::memcpy(header.magic, format::kPackMagic, sizeof header.magic);
    header.version = format::kVersion;
    append_struct(bytes_, header);
  }

  void add(format::ChunkHeader header, ByteView content) {
    header.checksum = xxh64(content);
    append_struct(table_, header);
    raw_.insert(raw_.end(), content.begin(), content.end());
    ++chunks_;
  }

  void end_record() {
    if (chunks_ == 0) return;
    Bytes table = packed(table_), frame = packed(raw_);
    format::RecordHeader record{};
    record.magic = format::kRecordMagic;
    record.chunks = chunks_;
    record.table = static_cast<uint32_t>(table.size());
    record.packed = static_cast<uint32_t>(frame.size());
    record.raw = static_cast<uint32_t>(raw_.size());
    record.frame_checksum = static_cast<uint32_t>(xxh64(frame));
    record.checksum = xxh64(table, raw_.size());
    append_struct(bytes_, record);
    bytes_.insert(bytes_.end(), table.begin(), table.end());
    bytes_.insert(bytes_.end(), frame.begin(), frame.end());
    raw_.clear();
    table_.clear();
    chunks_ = 0;
  }

  Bytes take() {
    end_record();
    return std::move(bytes_);
  }

 private:
  static Bytes packed(ByteView raw) {
    Bytes frame(ZSTD_compressBound(raw.size()));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), raw.data(), raw.size(), 1));
    return frame;
  }

  Bytes bytes_, raw_, table_;
  uint32_t chunks_ = 0;
};

void add_live(Bytes& live, const format::ChunkHeader& header, ByteView content) {
  size_t slot = live.size();
  live.resize(slot + format::kChunkSize);
  std::memcpy(live.data() + slot, &header, sizeof header);
  if (!content.empty()) std::memcpy(live.data() + slot + sizeof header, content.data(), content.size());
}

Files from_entries(ByteReader in) {
  constexpr int kMaxLive = 16;
  Files files;
  Manifest manifest;
  manifest.state = static_cast<Manifest::State>(in.u8() % 3);
  files.manifest = manifest.to_json();
  Pack pack;
  int live = 0;
  while (in.remaining() > 0) {
    uint8_t place = in.u8();
    format::ChunkHeader header{};
    header.magic = format::kChunkMagic;
    header.version = format::kVersion;
    header.stream = in.u8();
    header.flags = in.u8();
    header.process = in.u8();
    header.thread = in.u8();
    header.sequence = in.u8();
    header.first_event = in.u8();
    ByteView content = in.bytes(in.u16());
    if (in.failed() || content.size() > format::kChunkRoom) break;
    header.used = static_cast<uint32_t>(content.size());
    if ((place & Entry::kNewRecord) != 0) pack.end_record();
    if ((place & Entry::kLive) == 0) {
      pack.add(header, content);
    } else if (live++ < kMaxLive) {
      add_live(files.live, header, content);
    }
  }
  files.pack = pack.take();
  return files;
}

Files from_files(ByteReader in) {
  Files files;
  auto part = [&in] { return in.bytes(std::min<uint64_t>(in.u32(), in.remaining())); };
  ByteView pack = part(), live = part(), manifest = part(), rest = in.bytes(in.remaining());
  files.pack.assign(pack.begin(), pack.end());
  files.live.assign(live.begin(), live.end());
  files.manifest = as_text(manifest);
  files.files = as_text(rest);
  return files;
}

}  // namespace

Files unpack(ByteView input) {
  ByteReader in(input);
  return in.u8() == kAsChunks ? from_entries(in) : from_files(in);
}

Bytes pack_files(const Files& files) {
  ByteWriter out;
  out.u8(kAsFiles);
  for (ByteView part : {ByteView(files.pack), ByteView(files.live), as_bytes(files.manifest)}) {
    out.u32(static_cast<uint32_t>(part.size()));
    out.bytes(part);
  }
  out.bytes(as_bytes(files.files));
  return out.take();
}

Bytes pack_entries(uint8_t state, const std::vector<Entry>& entries) {
  ByteWriter out;
  out.u8(kAsChunks);
  out.u8(state);
  for (const Entry& entry : entries) {
    for (uint8_t field : {entry.place, entry.stream, entry.flags, entry.process, entry.thread, entry.sequence,
                          entry.first_event}) {
      out.u8(field);
    }
    out.u16(static_cast<uint16_t>(entry.bytes.size()));
    out.bytes(entry.bytes);
  }
  return out.take();
}

}  // namespace pastcone::fuzz
