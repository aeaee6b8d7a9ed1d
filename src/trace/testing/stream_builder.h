// For tests: writes a thread's streams as the runtime would, without a runtime. Each method appends one item.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "pastcone/base/bytes.h"
#include "pastcone/base/ids.h"
#include "pastcone/trace/format.h"
#include "pastcone/trace/program_image.h"

namespace pastcone::trace_testing {

struct BuiltChunk {
  format::ChunkHeader header;
  Bytes bytes;
};

class StreamBuilder {
 public:
  /// `room`: chunks are closed when an item would make them larger than this.
  explicit StreamBuilder(ThreadId thread, uint32_t room = format::kChunkRoom)
      : thread_(thread), room_(room) {}

  StreamBuilder& start(uint32_t pid, uint32_t tid, EventId parent, uint8_t flags, int64_t time_ns);
  StreamBuilder& exec(const ProgramImage& image);
  /// A program with just these arguments, the first of which is its path.
  StreamBuilder& exec(const std::vector<std::string>& arguments);
  StreamBuilder& result(uint32_t call, int64_t value);
  StreamBuilder& out(uint32_t call, int64_t value, std::string_view bytes);
  StreamBuilder& send(uint32_t call, uint64_t channel, uint64_t length);
  StreamBuilder& receive(uint32_t call, uint64_t channel, int64_t value);
  StreamBuilder& read_file(uint32_t call, uint64_t file, uint64_t position, int64_t value);
  StreamBuilder& create(uint32_t call, int64_t value, ThreadId created);
  StreamBuilder& address(uint32_t call, uint64_t value, uint64_t file, bool patched = false);
  StreamBuilder& message(uint32_t call, uint64_t channel, int64_t value, std::string_view bytes);
  StreamBuilder& open(uint32_t call, std::optional<uint64_t> channel, int64_t value, std::string_view bytes);
  StreamBuilder& correct(int64_t value);
  StreamBuilder& realtime(int64_t ns);
  StreamBuilder& monotonic(int64_t ns);
  StreamBuilder& clock(uint64_t id, int64_t ns);
  StreamBuilder& time_of_day(int64_t us);
  StreamBuilder& time(int64_t seconds);
  StreamBuilder& tsc(int64_t ticks, uint64_t aux);
  StreamBuilder& random(uint64_t value, bool carry);
  StreamBuilder& signal(format::Op op, uint32_t signal, std::string_view siginfo);  ///< kSignal or kFault
  StreamBuilder& async(const format::AsyncPoint& point);
  StreamBuilder& turn(format::Op op, uint64_t group, uint64_t number);  ///< kTurn, kTurnAfter or kOrder
  StreamBuilder& file(uint64_t id, std::string_view path);
  StreamBuilder& output(uint8_t fd, uint64_t order, uint64_t position);
  StreamBuilder& offset(uint64_t position);
  StreamBuilder& thread_exit(int64_t code);
  StreamBuilder& exit_group(int64_t status);
  StreamBuilder& fatal(uint32_t signal);
  StreamBuilder& stop(format::StopReason reason, std::string_view text);
  /// Any bytes, counted as one event: for what no runtime writes.
  StreamBuilder& raw(ByteView bytes);

  /// Both streams as chunks; the last of each is marked as such if the thread `ended`.
  std::vector<BuiltChunk> chunks(bool ended) const;
  uint64_t events() const { return events_; }
  ThreadId thread() const { return thread_; }

 private:
  struct Part {
    Bytes bytes;
    uint64_t first_event;
  };
  void begin(format::Op op);
  void begin_call(uint32_t call, format::Shape shape);
  void payload(std::string_view bytes);
  void delta(int64_t& last, int64_t now);
  StreamBuilder& end(bool event = true);

  ThreadId thread_;
  uint32_t room_;
  ByteWriter item_;
  std::vector<Part> events_parts_, data_parts_;
  uint64_t events_ = 0;
  std::map<uint64_t, int64_t> clocks_;
  int64_t time_of_day_ = 0, time_ = 0, tsc_ = 0;
};

/// A stream that has every op and every shape at least once.
StreamBuilder every_item(ThreadId thread, uint32_t room = format::kChunkRoom);

}  // namespace pastcone::trace_testing
