// Reads what one thread did, item by item, from its first event to its last. Sequential: clocks and payloads
// are stored relative to what came before.
//
//   StreamReader reader(recording, thread);
//   while (auto item = TRY(reader.next())) { … TRY(reader.payload(*item)) … }
//
// Not for several threads at once; several readers of one recording are fine. Takes 130 KB.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "pastcone/base/bytes.h"
#include "pastcone/base/ids.h"
#include "pastcone/base/result.h"
#include "pastcone/trace/item.h"
#include "pastcone/trace/recording.h"

namespace pastcone {

class StreamReader {
 public:
  /// The recording must outlive the reader. A thread it does not have reads as one without items.
  StreamReader(const Recording& recording, ThreadId thread);
  ~StreamReader();
  StreamReader(StreamReader&&) noexcept;
  StreamReader& operator=(StreamReader&&) noexcept;

  /// The next item; none at the end of what was recorded. An error, and again the same error, where the
  /// stream is damaged.
  Result<std::optional<Item>> next();

  /// Leaves out the chunks before the one that has the event before this one, if there are any between: as
  /// if they had been read, but that payloads are not known from there on, nor what clocks said. True if so.
  bool skip_to(uint64_t event);
  /// Something was left out.
  bool skipped() const { return skipped_; }
  /// A payload was asked for that is not known for that reason.
  bool missed() const { return missed_; }

  /// The bytes an item refers to, valid until the next call of a method. For items as next() gave them.
  Result<ByteView> payload(const Item& item);
  /// A part of them: for payloads that may be large. CHECKs that it is one.
  Status copy_payload(const Item& item, uint64_t from, std::span<uint8_t> out);

  ThreadId thread() const { return thread_; }
  /// Events read so far.
  uint64_t events() const { return events_; }
  /// Nothing is missing: the stream ends because the thread did, or because recording stopped.
  bool ended() const { return streams_->events.last; }

 private:
  class Decoder;
  struct Clocks;

  /// Makes the next chunk the current one. False: there is none.
  Result<bool> next_chunk();
  tl::unexpected<Error> damaged(std::string_view why);
  Status load_data(size_t chunk);

  const Recording* recording_;
  const ThreadStreams* streams_;
  ThreadId thread_;

  std::unique_ptr<uint8_t[]> chunk_;  ///< the current chunk of events, and zeros after it
  const uint8_t* cursor_ = nullptr;
  const uint8_t* end_ = nullptr;
  size_t next_chunk_ = 0;
  uint64_t events_ = 0;
  uint64_t data_offset_ = 0;  ///< of the next payload
  bool skipped_ = false, missed_ = false;
  std::optional<Error> error_;
  std::unique_ptr<Clocks> clocks_;

  std::unique_ptr<uint8_t[]> data_;  ///< a chunk of data
  size_t data_chunk_ = SIZE_MAX;     ///< which
  Bytes joined_;                     ///< a payload that spans chunks
};

}  // namespace pastcone
