// Moves closed chunks from `live` into trace.pack, in a thread of its own: compressing a megabyte takes
// longer than a recorded program should ever wait. A chunk is free again only after it is safely in the pack,
// so that whatever is killed when, every event is in one of the two files.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "pastcone/base/ids.h"
#include "pastcone/record/chunk_stack.h"
#include "pastcone/record/live_file.h"
#include "pastcone/record/shared_stage.h"
#include "pastcone/trace/pack_writer.h"

namespace pastcone::record {

class Packer {
 public:
  /// All three must outlive the packer.
  Packer(const SharedStage& stage, LiveFile& live, PackWriter pack);
  ~Packer();

  void start();
  /// Chunks that were popped from the stack of closed ones. From one thread.
  void add(const std::vector<uint32_t>& chunks);
  /// Packs what it has now instead of waiting for more.
  void flush();

  /// Ends the thread, then packs everything that is left in `live`: also chunks that their threads never
  /// closed. On a full disk the rest stays in `live`, where readers find it, and the error says so.
  /// `all_ended`: no recorded process is left, so that what was packed may make room for the rest.
  Status finish(bool all_ended);

  /// Chunks that were added and are not yet free again.
  uint32_t backlog() const { return backlog_.load(std::memory_order_relaxed); }
  uint64_t packed_bytes() const { return packed_bytes_.load(std::memory_order_relaxed); }
  bool packed_any() const { return raw_bytes_.load(std::memory_order_relaxed) > 0; }
  /// What packing has left of a byte so far; 1 if there is nothing to tell it from.
  double compression() const;
  /// The disk is full (or broken): nothing more can be packed now.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  /// After finish(): how many events there are in the recording without those in each thread's last chunk.
  uint64_t events_at_least() const;

 private:
  void run();
  /// Whether there is something to pack, and no reason to wait for more. With the lock held.
  bool due() const;
  /// Appends these chunks to the pack, and if that went well deals with their place in `live` as told.
  enum class After { kFree, kForget, kLeave };
  Status pack(const std::vector<uint32_t>& indices, After after, uint64_t batch_bytes);
  void free_chunk(uint32_t index);
  void count_events(const format::ChunkHeader& header);

  const SharedStage& stage_;
  LiveFile& live_;
  PackWriter pack_;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<uint32_t> waiting_;
  uint64_t waiting_bytes_ = 0;
  std::chrono::steady_clock::time_point last_added_;
  bool flush_ = false, ending_ = false;

  std::atomic<uint32_t> backlog_ = 0;
  std::atomic<uint64_t> packed_bytes_ = 0, raw_bytes_ = 0;
  std::atomic<bool> failed_ = false;
  std::map<ThreadId, uint64_t> events_;  ///< by the packing thread, then by finish()
};

}  // namespace pastcone::record
