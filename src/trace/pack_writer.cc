#include "pastcone/trace/pack_writer.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>

#include "pastcone/base/check.h"
#include "pastcone/trace/checksum.h"
#include "pastcone/trace/file_names.h"

namespace pastcone {
namespace {

constexpr int kLevel = 3;

template <typename T>
void append_struct(Bytes& out, const T& value) {
  auto* start = reinterpret_cast<const uint8_t*>(&value);
  out.insert(out.end(), start, start + sizeof value);
}

size_t raw_size(const PackedChunk& chunk) { return sizeof chunk.header + chunk.bytes.size(); }

}  // namespace

void PackWriter::FreeContext::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

PackWriter::PackWriter(UniqueFd fd, Path path)
    : fd_(std::move(fd)), path_(std::move(path)), context_(ZSTD_createCCtx()) {
  CHECK(context_ != nullptr);
}

Result<PackWriter> PackWriter::create(const Path& directory) {
  Path path = directory / kPackName;
  PackWriter writer(TRY(open_file(path, O_WRONLY | O_CREAT | O_EXCL)), path);
  format::PackHeader header{};
  std::memcpy(header.magic, format::kPackMagic, sizeof header.magic);
  header.version = format::kVersion;
  TRY_STATUS(write_all(writer.fd_.get(), ByteView(reinterpret_cast<uint8_t*>(&header), sizeof header), path));
  writer.bytes_written_ = sizeof header;
  return writer;
}

Status PackWriter::append(std::span<const PackedChunk> chunks) {
  while (!chunks.empty()) {
    size_t count = 0, raw = 0;
    while (count < chunks.size() && raw + raw_size(chunks[count]) <= format::kMaxRecordRaw) {
      CHECK(chunks[count].bytes.size() <= format::kChunkRoom);
      raw += raw_size(chunks[count++]);
    }
    TRY_STATUS(append_record(chunks.first(count)));
    chunks = chunks.subspan(count);
  }
  return {};
}

Status PackWriter::append_record(std::span<const PackedChunk> chunks) {
  raw_.clear();
  for (const PackedChunk& chunk : chunks) {
    format::ChunkHeader header = chunk.header;
    header.used = static_cast<uint32_t>(chunk.bytes.size());
    header.checksum = xxh64(chunk.bytes);
    append_struct(raw_, header);
    raw_.insert(raw_.end(), chunk.bytes.begin(), chunk.bytes.end());
  }
  format::RecordHeader record{};
  packed_.resize(sizeof record + ZSTD_compressBound(raw_.size()));
  uint8_t* frame = packed_.data() + sizeof record;
  size_t size = ZSTD_compressCCtx(context_.get(), frame, packed_.size() - sizeof record, raw_.data(),
                                  raw_.size(), kLevel);
  if (ZSTD_isError(size)) return fail("cannot compress a record: {}", ZSTD_getErrorName(size));

  record.magic = format::kRecordMagic;
  record.packed = static_cast<uint32_t>(size);
  record.raw = static_cast<uint32_t>(raw_.size());
  record.chunks = static_cast<uint32_t>(chunks.size());
  record.checksum = xxh64(ByteView(frame, size), record.raw);
  std::memcpy(packed_.data(), &record, sizeof record);

  Status written = write_all(fd_.get(), ByteView(packed_.data(), sizeof record + size), path_);
  if (!written) {  // a torn record would hide all that come after it
    auto end = static_cast<off_t>(bytes_written_);
    if (ftruncate(fd_.get(), end) != 0 || lseek(fd_.get(), end, SEEK_SET) != end) {
      return fail("cannot repair {}: {}", path_.native(), errno_message(errno));
    }
    return written;
  }
  bytes_written_ += sizeof record + size;
  return {};
}

}  // namespace pastcone
