#include "pastcone/record/packer.h"

#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "pastcone/trace/chunk.h"

namespace pastcone::record {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kBatchBytes = 1 << 20;
constexpr size_t kBatchChunks = 128;  // however little is in them: they take room in `live`
constexpr auto kQuiet = 200ms;

bool of_locks(const format::ChunkHeader& header) {
  return header.stream == static_cast<uint8_t>(format::Stream::kLocks);
}

/// Neighbours compress well: those of one stream; but of locks those of all threads, as they were closed,
/// since threads that hand locks to each other write down much the same at the same time. Locks come last, in
/// records of their own.
auto place(const format::ChunkHeader& header) {
  if (of_locks(header)) return std::tuple(true, header.process, 0u, uint8_t{0}, 0u);
  return std::tuple(false, header.process, header.thread, header.stream, header.sequence);
}

}  // namespace

Packer::Packer(const SharedStage& stage, LiveFile& live, PackWriter pack)
    : stage_(stage), live_(live), pack_(std::move(pack)), packed_bytes_(pack_.bytes_written()) {}

Packer::~Packer() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Packer::start() {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "packer");
    run();
  });
}

void Packer::add(const std::vector<uint32_t>& chunks) {
  if (chunks.empty()) return;
  uint64_t bytes = 0;
  for (uint32_t index : chunks) bytes += live_.header(index).used;
  backlog_ += static_cast<uint32_t>(chunks.size());
  bool wake;
  {
    std::lock_guard lock(mutex_);
    wake = waiting_.empty();
    waiting_.insert(waiting_.end(), chunks.begin(), chunks.end());
    waiting_bytes_ += bytes;
    last_added_ = std::chrono::steady_clock::now();
    wake = wake || due();
  }
  if (wake) changed_.notify_one();
}

void Packer::flush() {
  {
    std::lock_guard lock(mutex_);
    flush_ = true;
  }
  changed_.notify_one();
}

bool Packer::due() const {
  if (waiting_.empty() || failed_) return false;
  return flush_ || waiting_bytes_ >= kBatchBytes || waiting_.size() >= kBatchChunks ||
         std::chrono::steady_clock::now() - last_added_ >= kQuiet;
}

void Packer::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (due() && (flush_ || !ending_)) {
      std::vector<uint32_t> batch = std::exchange(waiting_, {});
      waiting_bytes_ = 0;
      flush_ = false;
      lock.unlock();
      if (!pack(batch, After::kFree, kBatchBytes)) {  // they stay in `live`; finish() tries again
        failed_ = true;
        stage_.notify();
      }
      lock.lock();
    } else if (ending_) {
      return;
    } else if (waiting_.empty() || failed_) {
      flush_ = false;
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, last_added_ + kQuiet);
    }
  }
}

Status Packer::pack(const std::vector<uint32_t>& indices, After after, uint64_t batch_bytes) {
  struct Entry {
    uint32_t index;
    format::ChunkHeader header;
  };
  std::vector<Entry> entries;  // copied: a program that runs wild may change a header under our eyes
  for (uint32_t index : indices) {
    uint32_t used = load(live_.header(index).used);
    Entry entry{index, live_.header(index)};
    entry.header.used = used;
    if (valid_chunk(entry.header)) entries.push_back(entry);
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return place(a.header) < place(b.header); });
  for (size_t at = 0; at < entries.size();) {
    std::vector<PackedChunk> batch;
    size_t begin = at;
    bool locks = of_locks(entries[at].header);
    for (uint64_t raw = 0; at < entries.size() && raw < batch_bytes && of_locks(entries[at].header) == locks;
         ++at) {
      const format::ChunkHeader& header = entries[at].header;
      auto* bytes = reinterpret_cast<const uint8_t*>(live_.chunk(entries[at].index) + sizeof header);
      batch.push_back({header, ByteView(bytes, header.used)});
      raw += sizeof header + header.used;
    }
    TRY_STATUS(pack_.append(batch));
    packed_bytes_ = pack_.bytes_written();
    for (const PackedChunk& chunk : batch) raw_bytes_ += chunk.bytes.size();
    for (const PackedChunk& chunk : batch) count_events(chunk.header);
    for (size_t i = begin; i < at; ++i) {
      if (after == After::kFree) free_chunk(entries[i].index);
      if (after == After::kForget) store(live_.header(entries[i].index).magic, uint32_t{0});
    }
  }
  return {};
}

void Packer::free_chunk(uint32_t index) {
  std::memset(&live_.header(index), 0, sizeof(format::ChunkHeader));
  stage::Header& header = stage_.header();
  ChunkStack(stage_.view(), header.free_chunks).push(index);
  backlog_ -= 1;
}

Status Packer::finish(bool all_ended) {
  if (thread_.joinable()) {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
      flush_ = !all_ended;  // else what waits is packed below, with the chunks that were never closed
    }
    changed_.notify_one();
    thread_.join();
  }
  struct stat info {};
  if (fstat(live_.fd(), &info) != 0) return fail("cannot read `live`: {}", errno_message(errno));
  uint64_t count = std::min<uint64_t>(load(stage_.header().next_chunk),
                                      static_cast<uint64_t>(info.st_size) / format::kChunkSize);
  auto left = [&](bool make_room) {
    std::vector<uint32_t> rest;
    for (uint32_t index = 0; index < count; ++index) {
      const format::ChunkHeader& header = live_.header(index);
      if (valid_chunk(header) && (header.used > 0 || header.operations > 0)) {
        rest.push_back(index);
      } else if (make_room) {
        live_.punch(index);
      }
    }
    return rest;
  };
  if (!all_ended) return pack(left(false), After::kLeave, kBatchBytes);
  Status packed = pack(left(false), After::kForget, kBatchBytes);
  if (packed) return packed;
  // On a full disk one chunk may fit where many do not, and then makes room for the next.
  live_.shrink(static_cast<uint32_t>(count));
  for (size_t before = 0;;) {
    std::vector<uint32_t> rest = left(true);
    if (rest.empty()) return {};
    if (rest.size() == before) return packed;
    before = rest.size();
    packed = pack({rest.front()}, After::kForget, 1);
  }
}

void Packer::count_events(const format::ChunkHeader& header) {
  uint64_t& known = events_[ThreadId(ProcessId(header.process), header.thread)];
  known = std::max(known, header.first_event);
}

double Packer::compression() const {
  uint64_t raw = raw_bytes_;
  return raw == 0 ? 1.0 : std::min(static_cast<double>(packed_bytes()) / static_cast<double>(raw), 1.0);
}

uint64_t Packer::events_at_least() const {
  uint64_t sum = 0;
  for (const auto& [thread, events] : events_) sum += events;
  return sum;
}

}  // namespace pastcone::record
