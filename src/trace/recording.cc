#include "pastcone/trace/recording.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <tuple>

#include "pastcone/trace/file_names.h"

namespace pastcone {
namespace {

using format::Stream;

constexpr uint64_t kMaxChunks = 1 << 23;  // half a terabyte of full ones
constexpr size_t kMaxThreads = 1 << 20;

constexpr char kTryLs[] = "`pastcone ls` shows what there is";

/// The size of trace.pack now; 0 if there is none.
uint64_t pack_size(const Path& directory) {
  std::error_code error;
  uint64_t size = std::filesystem::file_size(directory / kPackName, error);
  return error ? 0 : size;
}

Result<Manifest> read_manifest(const Path& directory) {
  struct stat info {};
  if (stat(directory.c_str(), &info) != 0) {
    return fail("no recording at {}: {}; {}", directory.native(), errno_message(errno), kTryLs);
  }
  if (!S_ISDIR(info.st_mode)) {
    return fail("{} is not a recording: a recording is a directory; {}", directory.native(), kTryLs);
  }
  std::error_code error;
  if (!std::filesystem::exists(directory / kManifestName, error)) {
    if (error) return fail("cannot read {}: {}", directory.native(), error.message());
    return fail("{} is not a recording: it has no {}; {}", directory.native(), kManifestName, kTryLs);
  }
  auto manifest = Manifest::read(directory);
  if (!manifest)
    return fail("cannot read the recording {}: {}", directory.native(), manifest.error().message);
  return manifest;
}

}  // namespace

Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

Result<Recording> Recording::open(const Path& directory, Check check) {
  Recording recording;
  recording.directory_ = directory;
  recording.manifest_ = TRY(read_manifest(directory));
  // `live` before the pack: a chunk that moves from one to the other in the meantime is then seen twice,
  // never not at all.
  uint64_t size_before = pack_size(directory);
  recording.live_ = TRY(snapshot_live_file(directory));
  std::error_code error;
  auto type = std::filesystem::status(directory / kPackName, error).type();
  if (type == std::filesystem::file_type::regular) {
    recording.mapped_pack_ = TRY(MappedFile::open(directory / kPackName));
  } else if (type != std::filesystem::file_type::not_found) {  // not opened: a FIFO would make us wait
    return fail("cannot read the recording {}: its {} is not a regular file", directory.native(), kPackName);
  } else if (recording.pack_is_whole()) {
    return fail("cannot read the recording {}: its {} is missing; it cannot be repaired", directory.native(),
                kPackName);
  }
  ByteView pack = recording.mapped_pack_.bytes();
  recording.growing_ = recording.live_.changing || pack.size() != size_before;
  recording.files_ = TRY(FileTable::read(directory, recording.damage_));
  auto indexed = recording.index(pack, check);
  if (!indexed) return fail("cannot read the recording {}: {}", directory.native(), indexed.error().message);
  return recording;
}

Result<Recording> Recording::from_bytes(const RecordingBytes& bytes) {
  Recording recording;
  recording.manifest_ = TRY(Manifest::parse(bytes.manifest));
  recording.live_ = snapshot_live(bytes.live);
  recording.files_ = FileTable::parse(bytes.files, recording.damage_);
  TRY_STATUS(recording.index(bytes.pack, Check::kAll));
  return recording;
}

std::string Recording::why_incomplete() const {
  if (complete()) return {};
  if (!manifest_.why.empty()) return manifest_.why;
  return manifest_.state == Manifest::State::kRecording ? "its recorder was killed" : "not known why";
}

bool Recording::pack_is_whole() const {
  return complete() || (manifest_.state == Manifest::State::kIncomplete && manifest_.pack_bytes);
}

Status Recording::index(ByteView pack, Check check) {
  pack_bytes_ = pack.size();
  if (pack_is_whole() && pack.size() < sizeof(format::PackHeader)) {
    return fail("its {} is empty; it cannot be repaired", kPackName);
  }
  if (pack_is_whole() && manifest_.pack_bytes && *manifest_.pack_bytes != pack.size()) {
    damage_.push_back(fmt::format("trace.pack: has {} bytes, not {}", pack.size(), *manifest_.pack_bytes));
  }
  pack_ = std::make_unique<PackReader>(TRY(PackReader::open(pack)));
  bool too_many = false;
  pack_->scan(
      check, pack_is_whole(),
      [&](uint32_t record, const format::ChunkHeader& header, uint32_t offset) {
        too_many = !add_chunk(header, record, offset);
        return !too_many;
      },
      damage_);
  for (const LiveSnapshot::Chunk& chunk : live_.chunks) {
    if (too_many) break;
    too_many = !add_chunk(chunk.header, ChunkRef::kLive, chunk.offset);
  }
  if (too_many) return fail("it has more chunks or threads than any recording of ours");
  order_chunks();
  return {};
}

bool Recording::add_chunk(const format::ChunkHeader& header, uint32_t record, uint64_t offset) {
  ThreadStreams& streams = threads_[ThreadId(ProcessId(header.process), header.thread)];
  StreamIndex* by_kind[] = {&streams.events, &streams.data, &streams.locks};
  StreamIndex& stream = *by_kind[header.stream];
  streams.operations = std::max(streams.operations, header.operations);
  // Twice the same in a row is not worth the memory; other repetitions are sorted out at the end.
  if (record != ChunkRef::kLive && !stream.chunks.empty() && stream.chunks.back().sequence == header.sequence)
    return true;
  stream.chunks.push_back(
      {0, offset, header.first_event, record, header.used, header.sequence, header.flags});
  return ++chunk_count_ <= kMaxChunks && threads_.size() <= kMaxThreads;
}

void Recording::order_chunks() {
  for (auto& [thread, streams] : threads_) {
    order_stream(thread, "events", streams.events);
    order_stream(thread, "data", streams.data);
    order_stream(thread, "locks", streams.locks);
    add_sizes(streams.events, sizes_[static_cast<size_t>(Stream::kEvents)]);
    add_sizes(streams.data, sizes_[static_cast<size_t>(Stream::kData)]);
    add_sizes(streams.locks, sizes_[static_cast<size_t>(Stream::kLocks)]);
  }
  std::erase_if(threads_, [](const auto& entry) {
    const ThreadStreams& streams = entry.second;
    return streams.events.bytes == 0 && streams.events.damage.empty() && streams.data.damage.empty();
  });
}

void Recording::order_stream(ThreadId thread, const char* name, StreamIndex& stream) {
  auto& chunks = stream.chunks;
  // Of two with the same sequence the pack's counts; and the first, in the pack as in `live`.
  std::stable_sort(chunks.begin(), chunks.end(), [](const ChunkRef& a, const ChunkRef& b) {
    return std::tuple(a.sequence, a.record == ChunkRef::kLive) <
           std::tuple(b.sequence, b.record == ChunkRef::kLive);
  });
  auto same = [](const ChunkRef& a, const ChunkRef& b) { return a.sequence == b.sequence; };
  chunks.erase(std::unique(chunks.begin(), chunks.end(), same), chunks.end());
  size_t count = 0;
  for (; count < chunks.size() && chunks[count].sequence == count; ++count) {
    ChunkRef& chunk = chunks[count];
    chunk.start = stream.bytes;
    stream.bytes += chunk.used;
    bool open = (chunk.flags & format::kChunkClosed) == 0 && chunk.record == ChunkRef::kLive;
    if (open && growing_) chunks.resize(count + 1);  // what follows was begun after this one was copied
  }
  if (count < chunks.size() && !growing_) {
    stream.damage = fmt::format("{}: chunk {} of its {} is missing, it ends there", thread, count, name);
    damage_.push_back(stream.damage);
  }
  chunks.resize(count);
  chunks.shrink_to_fit();
  stream.last = !chunks.empty() && (chunks.back().flags & format::kChunkLast) != 0;
}

void Recording::add_sizes(const StreamIndex& stream, StreamBytes& sizes) const {
  for (const ChunkRef& chunk : stream.chunks) {
    sizes.raw += chunk.used;
    if (chunk.record == ChunkRef::kLive) {
      sizes.live += chunk.used;
    } else {
      const PackReader::Record& record = pack_->records()[chunk.record];
      sizes.packed += record.table / record.chunks;
      if (record.raw > 0) sizes.packed += chunk.used * uint64_t{record.packed} / record.raw;
    }
  }
}

size_t Recording::process_count() const {
  std::set<ProcessId> processes;
  for (const auto& [thread, streams] : threads_) processes.insert(thread.process());
  return processes.size();
}

Status Recording::read_chunk(const ChunkRef& chunk, uint8_t* out) const {
  if (chunk.used == 0) return {};
  if (chunk.record == ChunkRef::kLive) {
    std::memcpy(out, live_.bytes.data() + chunk.offset, chunk.used);
    return {};
  }
  std::shared_ptr<const Bytes> raw = TRY(pack_->unpack(chunk.record));
  std::memcpy(out, raw->data() + chunk.offset, chunk.used);
  return {};
}

}  // namespace pastcone
