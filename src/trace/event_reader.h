// Reads a thread's events with what belongs to them: the marks before each (turn, order, position …), and the
// correction after it where the call ended otherwise than predicted. For those who look; a replayer reads the
// items one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pastcone/trace/stream_reader.h"

namespace pastcone {

struct Event {
  Item item;                ///< with the result that it had in the end
  bool corrected = false;   ///< by a kCorrect
  std::vector<Item> marks;  ///< the items that belong to it and are no events, but kCorrect, in order

  const Item* mark(format::Op op) const;
};

class EventReader {
 public:
  EventReader(const Recording& recording, ThreadId thread) : reader_(recording, thread) {}

  /// The next event, valid until the next call; nullptr at the end. What was read before damage is given out
  /// first.
  Result<const Event*> next();

  /// Goes on to shortly before an event that is to come, as StreamReader does.
  void skip_to(uint64_t event);
  /// False: what was left out would have to be read to know the current event, or a payload that was asked
  /// for.
  bool whole() const;

  Result<ByteView> payload(const Item& item) { return reader_.payload(item); }
  StreamReader& stream() { return reader_; }

 private:
  /// Reads on to the next event, keeping it in pending_; none at the end.
  Status look_ahead();

  StreamReader reader_;
  Event current_;
  std::optional<Item> pending_;  ///< the event after the current one
  std::vector<Item> pending_marks_;
  std::optional<Error> error_;  ///< met while looking ahead
  bool started_ = false;
};

}  // namespace pastcone
