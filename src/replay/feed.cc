#include "pastcone/replay/feed.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <map>
#include <thread>
#include <tuple>
#include <vector>

#include "pastcone/replay/temporary_file.h"

namespace pastcone::replay {
namespace {

/// A chunk, and where in the feed it goes.
struct Move {
  const ChunkRef* chunk;
  uint64_t stream;    ///< where its stream begins
  uint64_t* ready;    ///< ThreadSlot::data_ready, or none
};

/// The chunks of all streams of a kind, in the order of the pack: so each record is
/// unpacked once, and what was recorded first comes first.
std::vector<Move> moves(const Recording& recording, const stage::View& stage, format::Stream kind) {
  std::vector<Move> result;
  for (const auto& [id, streams] : recording.threads()) {
    stage::ThreadSlot& slot = stage.thread(thread_slot(stage, id));
    auto add = [&](const StreamIndex& stream, uint64_t offset, uint64_t* ready) {
      for (const ChunkRef& chunk : stream.chunks) result.push_back({&chunk, offset, ready});
    };
    if (kind == format::Stream::kEvents) add(streams.events, slot.events_offset, nullptr);
    if (kind == format::Stream::kData) add(streams.data, slot.data_offset, &slot.data_ready);
    if (kind == format::Stream::kLocks) add(streams.locks, slot.locks_offset, nullptr);
  }
  std::sort(result.begin(), result.end(), [](const Move& a, const Move& b) {
    return std::tuple(a.chunk->record, a.chunk->offset) < std::tuple(b.chunk->record, b.chunk->offset);
  });
  return result;
}

}  // namespace

uint32_t thread_slot(const stage::View& stage, ThreadId thread) {
  return stage.process(thread.process().number()).first_thread + thread.number() - 1;
}

Result<FeedLayout> lay_out_feed(const Recording& recording, const RunSummary& run, const stage::View& stage) {
  FeedLayout layout;
  for (const auto& [id, streams] : recording.threads()) {
    uint32_t process = id.process().number();
    // Without a limit a damaged number would claim all the memory there is.
    if (process >= stage::kMaxProcesses || id.number() > stage::kMaxThreads - layout.threads) {
      return fail("{}: there are more processes or threads than pastcone can replay", id);
    }
    stage::ProcessSlot& slot = stage.process(process);
    if (process > layout.processes) {  // threads are in order, so this is the first of a new process
      slot.first_thread = layout.threads;
      layout.processes = process;
    }
    slot.thread_count = id.number();
    layout.threads = slot.first_thread + id.number();
    stage::ThreadSlot& thread = stage.thread(slot.first_thread + id.number() - 1);
    thread.events_offset = layout.size;
    thread.events_size = streams.events.bytes;
    layout.size += stage::page_up(streams.events.bytes);
    thread.data_offset = layout.size;
    thread.data_size = streams.data.bytes;
    layout.size += stage::page_up(streams.data.bytes);
    thread.locks_offset = layout.size;
    thread.locks_size = streams.locks.bytes;
    thread.operations = streams.operations;
    layout.size += stage::page_up(streams.locks.bytes);
    auto summary = run.threads.find(id);
    thread.complete = summary != run.threads.end() && summary->second.complete ? 1 : 0;
  }
  for (uint32_t process = 1; process <= layout.processes; ++process) {
    const stage::ProcessSlot& slot = stage.process(process);
    for (uint32_t number = 1; number <= slot.thread_count; ++number) {
      stage::ThreadSlot& thread = stage.thread(slot.first_thread + number - 1);
      thread.process = process;
      thread.thread = number;
    }
  }
  return layout;
}

struct Feed::Work {
  Work(const Recording& from, const record::SharedStage& shared, int to, uint64_t bytes_in_all)
      : recording(from), stage(shared), fd(to), size(bytes_in_all) {}

  const Recording& recording;
  const record::SharedStage& stage;
  int fd;
  uint64_t size;
  std::atomic<bool> stopping = false, failed = false;
  Status status;
  std::thread thread;

  Status write(format::Stream kind);
  Status put(const ChunkRef& chunk, uint64_t to);
  void publish(const Move& move, std::map<uint64_t*, std::map<uint64_t, uint64_t>>& early) const;

  Bytes bytes = Bytes(format::kChunkRoom);
};

Status Feed::Work::put(const ChunkRef& chunk, uint64_t to) {
  TRY_STATUS(recording.read_chunk(chunk, bytes.data()));
  for (uint32_t done = 0; done < chunk.used;) {
    ssize_t written = pwrite(fd, bytes.data() + done, chunk.used - done, static_cast<off_t>(to + done));
    if (written < 0 && errno != EINTR) {
      return fail("cannot unpack the recording ({} MB): {}; set TMPDIR to a directory with room", size >> 20,
                  errno_message(errno));
    }
    if (written > 0) done += static_cast<uint32_t>(written);
  }
  return {};
}

/// A stream is ready as far as it has no hole; what came early waits in `early`, by its start.
void Feed::Work::publish(const Move& move, std::map<uint64_t*, std::map<uint64_t, uint64_t>>& early) const {
  uint64_t ready = *move.ready;
  auto& waiting = early[move.ready];
  waiting[move.chunk->start] = move.chunk->start + move.chunk->used;
  while (!waiting.empty() && waiting.begin()->first == ready) {
    ready = waiting.begin()->second;
    waiting.erase(waiting.begin());
  }
  record::store(*move.ready, ready);
  record::bump_and_wake(stage.header().feed_futex);
}

Status Feed::Work::write(format::Stream kind) {
  std::map<uint64_t*, std::map<uint64_t, uint64_t>> early;
  for (const Move& move : moves(recording, stage.view(), kind)) {
    if (stopping) return {};
    TRY_STATUS(put(*move.chunk, move.stream + move.chunk->start));
    if (move.ready != nullptr) publish(move, early);
  }
  return {};
}

Feed::Feed(UniqueFd fd, std::unique_ptr<Work> work) : fd_(std::move(fd)), work_(std::move(work)) {}
Feed::Feed(Feed&&) noexcept = default;
Feed& Feed::operator=(Feed&&) noexcept = default;

Feed::~Feed() {
  if (!work_ || !work_->thread.joinable()) return;
  work_->stopping = true;
  work_->thread.join();
}

Result<Feed> Feed::create(const Recording& recording, const record::SharedStage& stage,
                          const FeedLayout& layout) {
  UniqueFd fd = TRY(temporary_file("the feed of the replay", layout.size));
  if (ftruncate(fd.get(), static_cast<off_t>(layout.size)) != 0) {
    return fail("cannot create a file of {} MB: {}; set TMPDIR to a directory with room", layout.size >> 20,
                errno_message(errno));
  }
  auto work = std::make_unique<Work>(recording, stage, fd.get(), layout.size);
  TRY_STATUS(work->write(format::Stream::kEvents));
  TRY_STATUS(work->write(format::Stream::kLocks));
  return Feed(std::move(fd), std::move(work));
}

void Feed::start() {
  sigset_t all, before;  // signals are the director's
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  work_->thread = std::thread([work = work_.get()] {
    work->status = work->write(format::Stream::kData);
    if (work->status) return;
    work->failed = true;
    work->stage.notify();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool Feed::failed() const { return work_->failed; }

Status Feed::finish() {
  if (work_->thread.joinable()) work_->thread.join();
  return work_->status;
}

namespace {
/// More than most kernels keep of a pipe or connection, and still small for a cache.
constexpr uint64_t kLead = 1 << 20;
/// Blocks that several take at the same time for one piece, and give back but for one.
constexpr uint64_t kSpareBlocks = 64;
}  // namespace

uint64_t lay_out_store(const RunSummary& run, const stage::View& stage) {
  uint64_t blocks = 0, bytes = 0;
  for (size_t channel = 0; channel < run.channels.size(); ++channel) {
    stage::Direction& direction = stage.connection(static_cast<uint32_t>(channel / 2)).direction[channel % 2];
    direction.outside_from = ~uint64_t{0};
    direction.store_size = run.channels[channel].size();
    direction.first_block = blocks;
    direction.lead = run.channels[channel].peeked() ? stage::kKeepAll : kLead;
    // As many again: a FIFO has a mark for each byte.
    blocks += 2 * ((direction.store_size + stage::kStoreBlock - 1) / stage::kStoreBlock);
    bytes += stage::page_up(direction.store_size);
  }
  blocks += kSpareBlocks;
  stage.header().store_blocks = blocks;
  stage.header().store_size = stage::store_blocks_at(blocks) + blocks * stage::kStoreBlock;
  return bytes;
}

}  // namespace pastcone::replay
