// One item of a thread's event stream, decoded. Which fields an op has is said at each; the others are 0.
#pragma once

#include <cstdint>
#include <string_view>

#include "pastcone/base/ids.h"
#include "pastcone/trace/format.h"

namespace pastcone {

struct Item {
  format::Op op = format::Op::kNone;             ///< the one-byte codes of frequent calls appear as kCall
  format::Shape shape = format::Shape::kResult;  ///< of kCall
  uint8_t check = 0;                             ///< where the format has one
  uint8_t flags = 0;  ///< kStart: kStart…; kOutput: the fd; kRandom: the carry flag; kAddress: 1, a patched
                      ///< copy is mapped
  uint32_t call = 0;  ///< of kCall: the system call's number
  uint64_t event = 0;  ///< its number in the thread, from 1; 0: not an event

  /// kCall, kCorrect: the result (kSend: the length, for that is what is expected); kThreadExit, kExitGroup:
  /// the code.
  int64_t result = 0;
  uint64_t channel = 0;       ///< kSend, kReceive, kMessage; kOpen: as stored, channel + 1 or 0
  uint64_t length = 0;        ///< kSend
  uint64_t file = 0;          ///< kFile (op and shape): the id; kAddress: the id, or 0
  uint64_t position = 0;      ///< kFile (shape): in the file; kOffset: in the channel; kOutput: in all output
  ThreadId thread;            ///< kCreate: who is created; kStart: who created this thread
  uint64_t parent_event = 0;  ///< kStart: the event of `thread` that created this one
  uint32_t pid = 0, tid = 0;  ///< kStart
  uint32_t signal = 0;        ///< kSignal, kFault, kFatal
  uint32_t reason = 0;        ///< kStop: format::StopReason
  uint64_t clock = 0;         ///< kClock, kRealtime, kMonotonic: the clock's id
  /// The reading, not the difference. kStart, kClock, kRealtime, kMonotonic: ns; kTimeOfDay: µs; kTime: s;
  /// kTsc: ticks.
  int64_t time = 0;
  uint64_t value = 0;   ///< kRandom: the number; kTsc: aux
  uint64_t object = 0;  ///< kTurn, kTurnAfter: the group; kOrder: the object
  uint64_t number = 0;  ///< kTurn, kTurnAfter, kOrder: which access; kInside: which operation; kOutput: which write
  uint64_t hash = 0;    ///< kExitGroup, kFatal: the running hash

  uint64_t payload_offset = 0;  ///< in the thread's data stream
  uint64_t payload_length = 0;

  bool is_event() const { return event != 0; }
  bool is_call() const { return op == format::Op::kCall; }
};

/// Whether items with this op are events of their own.
constexpr bool is_event(format::Op op) {
  using format::Op;
  return op != Op::kTurn && op != Op::kTurnAfter && op != Op::kCorrect && op != Op::kFile &&
         op != Op::kOutput && op != Op::kOffset && op != Op::kOrder && op != Op::kInside;
}

/// Whether it is a reading that is stored relative to the one before.
constexpr bool is_clock(format::Op op) {
  using format::Op;
  return op == Op::kClock || op == Op::kRealtime || op == Op::kMonotonic || op == Op::kTimeOfDay ||
         op == Op::kTime || op == Op::kTsc;
}

/// What an event is called on the command line: a call by its name ("read"; empty for a number without one),
/// the ops that stand for a call by that call's ("clock_gettime", "exit_group"), the others by their own
/// ("start", "signal").
std::string_view kind_name(const Item& item);

/// "send", "receive" …
const char* shape_name(format::Shape shape);

}  // namespace pastcone
