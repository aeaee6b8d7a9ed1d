// The feed: a temporary file with the streams of all threads, unpacked, each in one piece. Replayed processes
// map it and need to know nothing about chunks and packs. The thread table of the stage says where each
// stream lies.
#pragma once

#include <cstdint>
#include <memory>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"
#include "pastcone/record/shared_stage.h"
#include "pastcone/replay/run_summary.h"
#include "pastcone/stage/layout.h"
#include "pastcone/trace/recording.h"

namespace pastcone::replay {

/// Fills the process and thread tables of `stage`: numbers, where the streams will lie, whether they are
/// complete. Threads of a process get consecutive slots, also those of which nothing was recorded.
struct FeedLayout {
  uint32_t processes = 0;  ///< highest number
  uint32_t threads = 0;    ///< slots
  uint64_t size = 0;       ///< of the feed
};
Result<FeedLayout> lay_out_feed(const Recording& recording, const RunSummary& run, const stage::View& stage);

/// Writes the streams where the thread table says: the events before anything runs; the data, of which there
/// may be much, while the processes run, which wait for what they need.
class Feed {
 public:
  /// Both must outlive it.
  static Result<Feed> create(const Recording& recording, const record::SharedStage& stage,
                             const FeedLayout& layout);
  Feed(Feed&&) noexcept;
  Feed& operator=(Feed&&) noexcept;
  ~Feed();  ///< stops writing

  int fd() const { return fd_.get(); }

  /// Begins to write the data, in a thread of its own. Notifies the stage should it fail.
  void start();
  /// Waits until all is written.
  Status finish();
  bool failed() const;

 private:
  struct Work;
  Feed(UniqueFd fd, std::unique_ptr<Work> work);

  UniqueFd fd_;
  std::unique_ptr<Work> work_;
};

/// Fills the connections: which pieces of the store belong to each direction. Gives the number of bytes that the store has
/// to hold if nothing is received before all is sent.
uint64_t lay_out_store(const RunSummary& run, const stage::View& stage);

/// The slot of a thread in the stage.
uint32_t thread_slot(const stage::View& stage, ThreadId thread);

}  // namespace pastcone::replay
