#include "pastcone/trace/pack_writer.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "pastcone/base/check.h"
#include "pastcone/trace/checksum.h"
#include "pastcone/trace/file_names.h"
#include "pastcone/trace/repetition.h"

namespace pastcone {
namespace {

constexpr int kLevel = 3;
constexpr int kThreadsLevel = 2;   // finds one thread's entries in another's, in half the time
constexpr int kNoMatches = -1000;  // so far apart that none is found
constexpr int kHuffman = 1;
constexpr size_t kSample = 16 * 1024;

void set_level(ZSTD_CCtx* context, int level) {
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  // The library's own default for such a level is not to compress the bytes at all; a version that does not
  // know the parameter does that.
  ZSTD_CCtx_setParameter(context, ZSTD_c_experimentalParam5, level == kNoMatches ? kHuffman : 0);
}

/// Compresses to the end of `out`; gives the size of the frame.
Result<uint32_t> append_frame(ZSTD_CCtx* context, ByteView raw, Bytes& out) {
  size_t before = out.size();
  out.resize(before + ZSTD_compressBound(raw.size()));
  size_t size = ZSTD_compress2(context, out.data() + before, out.size() - before, raw.data(), raw.size());
  if (ZSTD_isError(size)) return fail("cannot compress a record: {}", ZSTD_getErrorName(size));
  out.resize(before + size);
  return static_cast<uint32_t>(size);
}

/// Whether a piece out of the middle gets smaller by looking for repetition.
Result<bool> is_repetitive(ZSTD_CCtx* context, ByteView raw, Bytes& out) {
  ByteView sample = raw.subspan(raw.size() / 2, kSample);
  size_t before = out.size();
  set_level(context, kLevel);
  uint32_t with = TRY(append_frame(context, sample, out));
  set_level(context, kNoMatches);
  uint32_t without = TRY(append_frame(context, sample, out));
  out.resize(before);
  return with < without;
}

/// Lock entries of many threads over many locks are small numbers without repetition: looking for any takes
/// four times as long, and the frame gets larger for those it finds. Of few locks they are patterns, or the
/// same numbers in one thread as in another.
Result<int> level_of_locks(ZSTD_CCtx* context, ByteView raw, Bytes& out) {
  if (raw.size() < 4 * kSample || TRY(is_repetitive(context, raw, out))) return kLevel;
  return repeats_itself(raw) ? kThreadsLevel : kNoMatches;
}

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
    while (count < std::min<size_t>(chunks.size(), format::kMaxRecordChunks) &&
           raw + chunks[count].bytes.size() <= format::kMaxRecordRaw) {
      CHECK(chunks[count].bytes.size() <= format::kChunkRoom);
      raw += chunks[count++].bytes.size();
    }
    TRY_STATUS(append_record(chunks.first(count)));
    chunks = chunks.subspan(count);
  }
  return {};
}

Status PackWriter::append_record(std::span<const PackedChunk> chunks) {
  raw_.clear();
  table_.clear();
  size_t locks = 0;
  for (const PackedChunk& chunk : chunks) {
    format::ChunkHeader header = chunk.header;
    header.used = static_cast<uint32_t>(chunk.bytes.size());
    header.checksum = xxh64(chunk.bytes);
    auto* start = reinterpret_cast<const uint8_t*>(&header);
    table_.insert(table_.end(), start, start + sizeof header);
    raw_.insert(raw_.end(), chunk.bytes.begin(), chunk.bytes.end());
    if (header.stream == static_cast<uint8_t>(format::Stream::kLocks)) locks += chunk.bytes.size();
  }
  format::RecordHeader record{};
  packed_.assign(sizeof record, 0);
  record.magic = format::kRecordMagic;
  record.chunks = static_cast<uint32_t>(chunks.size());
  set_level(context_.get(), kLevel);
  record.table = TRY(append_frame(context_.get(), table_, packed_));
  set_level(context_.get(),
            locks > raw_.size() / 2 ? TRY(level_of_locks(context_.get(), raw_, packed_)) : kLevel);
  record.packed = TRY(append_frame(context_.get(), raw_, packed_));
  record.raw = static_cast<uint32_t>(raw_.size());
  record.checksum = xxh64(ByteView(packed_).subspan(sizeof record, record.table), record.raw);
  record.frame_checksum = static_cast<uint32_t>(xxh64(ByteView(packed_).last(record.packed)));
  std::memcpy(packed_.data(), &record, sizeof record);

  Status written = write_all(fd_.get(), packed_, path_);
  if (!written) {  // a torn record would hide all that come after it
    auto end = static_cast<off_t>(bytes_written_);
    if (ftruncate(fd_.get(), end) != 0 || lseek(fd_.get(), end, SEEK_SET) != end) {
      return fail("cannot repair {}: {}", path_.native(), errno_message(errno));
    }
    return written;
  }
  bytes_written_ += packed_.size();
  return {};
}

}  // namespace pastcone
