// What the recorded processes need while they run, in one thread: chunks with disk space behind them,
// somebody who takes the closed ones, answers about files. Also the one who says that recording must stop: a
// full disk, --max-size.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "pastcone/record/file_keeper.h"
#include "pastcone/record/live_file.h"
#include "pastcone/record/packer.h"
#include "pastcone/record/shared_stage.h"
#include "pastcone/trace/format.h"

namespace pastcone::record {

class Service {
 public:
  /// They must outlive the service.
  Service(const SharedStage& stage, LiveFile& live, Packer& packer, std::optional<uint64_t> max_size);
  ~Service() { stop(); }

  /// Opens what serving files needs. Before start().
  Status prepare(const Path& recording, PatchCache patches, bool patch);
  /// Disk space for the first chunks. Before start().
  Status first_chunks();
  void start();
  void stop();

  /// Tells all recorded processes to record no more; they go on without. The first reason counts.
  void stop_recording(format::StopReason reason);
  /// After stop_recording: waits until they all have noticed, as far as can be seen.
  void wait_until_quiet();

  /// After stop().
  const FileKeeper& files() const { return *files_; }

 private:
  void run();
  /// All that must never wait long. True if there was something to do.
  bool tend();
  bool take_closed();
  uint32_t chunks_ahead(uint32_t next);
  void supply_chunks();
  void watch_size();
  /// Bytes in chunks that are not in the pack yet.
  uint64_t live_bytes() const;
  /// What the recording will have when that is packed too.
  uint64_t expected_size() const;

  const SharedStage& stage_;
  LiveFile& live_;
  Packer& packer_;
  std::optional<uint64_t> max_size_;
  std::optional<FileKeeper> files_;
  uint32_t ahead_ = 0, last_next_ = 0;
  std::thread thread_;
  std::atomic<bool> ending_ = false;
};

}  // namespace pastcone::record
