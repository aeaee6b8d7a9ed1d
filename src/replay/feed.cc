#include "pastcone/replay/feed.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <vector>

#include "pastcone/replay/temporary_file.h"

namespace pastcone::replay {
namespace {

/// A chunk, and where in the feed it goes.
struct Move {
  const ChunkRef* chunk;
  uint64_t to;
};

/// Every chunk of the recording in the order of the pack, so that each record is unpacked once.
std::vector<Move> moves(const Recording& recording, const stage::View& stage) {
  std::vector<Move> result;
  for (const auto& [id, streams] : recording.threads()) {
    const stage::ThreadSlot& slot = stage.thread(thread_slot(stage, id));
    for (const ChunkRef& chunk : streams.events.chunks)
      result.push_back({&chunk, slot.events_offset + chunk.start});
    for (const ChunkRef& chunk : streams.data.chunks)
      result.push_back({&chunk, slot.data_offset + chunk.start});
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

Result<UniqueFd> write_feed(const Recording& recording, const stage::View& stage, const FeedLayout& layout) {
  UniqueFd fd = TRY(temporary_file("the feed of the replay", layout.size));
  auto failed = [&layout] {
    return fail("cannot unpack the recording ({} MB): {}; set TMPDIR to a directory with room",
                layout.size >> 20, errno_message(errno));
  };
  if (ftruncate(fd.get(), static_cast<off_t>(layout.size)) != 0) return failed();
  Bytes bytes(format::kChunkRoom);
  for (const Move& move : moves(recording, stage)) {
    TRY_STATUS(recording.read_chunk(*move.chunk, bytes.data()));
    for (uint32_t done = 0; done < move.chunk->used;) {
      ssize_t written =
          pwrite(fd.get(), bytes.data() + done, move.chunk->used - done, static_cast<off_t>(move.to + done));
      if (written < 0 && errno != EINTR) return failed();
      if (written > 0) done += static_cast<uint32_t>(written);
    }
  }
  return fd;
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
