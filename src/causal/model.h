// What the event graph is made from: a recorded execution in plain structs, as whoever reads a recording can
// write it down while going through its streams once. No order is asked for between threads; within a list,
// what the member says.
//
// Threads are numbered from 0 in the order of Execution::threads; events count from 1 in each thread, and 0
// stands before the first. What is not in the recording (a stream that was cut off) may be referred to: such
// an edge is left out and counted. What happens between events, as lock operations do, has a number among
// them if edges begin or end there: everywhere in the graph "event" is then a step.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "pastcone/base/ids.h"

namespace pastcone::causal {

/// An event of a thread; as an entry of a cut, the last one that is in it.
struct Node {
  uint32_t thread = 0;
  uint32_t event = 0;

  auto operator<=>(const Node&) const = default;
};

/// Why one event came before another. All but the last say something about the program.
/// kEnd is how it came; all other causal kinds are how it had to come, given what was received and locked.
enum class EdgeKind : uint8_t {
  kMessage,    ///< send → the receive of its bytes
  kReadiness,  ///< what made an end ready → the poll that said so
  kAccept,     ///< connect → accept
  kConnect,    ///< listen → connect
  kEof,        ///< close, shutdown or exit → the end of file
  kObject,     ///< release of a lock or object → the next access that needs it
  kEnd,        ///< a receive at an end that several hold → the next receive there
  kLane,       ///< the same, of the same sender: this order was never open
  kBarrier,    ///< arrival → departure
  kCondition,  ///< signal or broadcast → wake
  kCreate,     ///< thread creation → its first event
  kJoin,       ///< the end of a thread → its join
  kFork,       ///< fork → the child's first event
  kWait,       ///< the end of a process → its wait
  kSignal,     ///< kill → delivery
  kHandOver,   ///< the last event of who had the turn → the next owner's. Enforced in replay; not causal
  kCount,
};
inline constexpr uint32_t kEdgeKinds = static_cast<uint32_t>(EdgeKind::kCount);

/// "message", "hand-over" …
const char* to_string(EdgeKind kind);

/// A set of kinds, one bit each.
using Kinds = uint32_t;
constexpr Kinds kinds_of(EdgeKind kind) { return Kinds{1} << static_cast<uint32_t>(kind); }
inline constexpr Kinds kAllKinds = (Kinds{1} << kEdgeKinds) - 1;
inline constexpr Kinds kCausalKinds = kAllKinds & ~kinds_of(EdgeKind::kHandOver);

inline constexpr uint32_t kNone = UINT32_MAX;

struct ThreadInput {
  ThreadId id;
  uint32_t events = 0;
  Node creator;          ///< event 0: a root
  bool by_fork = false;  ///< it is the first of its process
  bool ended = false;    ///< its stream has an end, and was not cut off
};

struct EdgeInput {
  Node from, to;
  EdgeKind kind = EdgeKind::kMessage;
  uint32_t label = kNone;  ///< the caller's own: a channel, an object …
};

struct ChannelInput {
  uint64_t id = 0;  ///< as the recording names it
  bool messages =
      false;  ///< a position is a message's name; a receive takes all of it, however little it asked for
  bool queue = true;     ///< arrives when it is sent (pipe, Unix socket); false: only what one sender sends
                         ///< stays in order
  bool in_order = true;  ///< received in the order of positions (no queue: each sender's); false: not known
};

/// A send or a receive. Bytes that nobody sent are bytes of the outside.
struct Transfer {
  uint64_t begin = 0;  ///< position in the channel
  uint32_t length = 0;
  uint32_t channel = 0;  ///< its place in Execution::channels
  Node at;

  uint64_t end() const { return begin + length; }
};

/// One use of a lock or another object. Those of one object come in the order of its history.
struct AccessInput {
  Node at;
  uint32_t until = 0;   ///< the thread's event by which it is released; 0: the same event
  uint32_t object = 0;  ///< below Execution::objects
  uint32_t write = 1;
};

/// One meeting at a barrier; rounds of one barrier come in order. An arrival and its departure are different
/// events.
struct BarrierInput {
  uint32_t object = 0;
  std::vector<Node> arrivals, departures;
};

/// A place where messages of several senders, or for several receivers, arrive, other than a channel: a
/// listening socket, a set of descriptors that is polled, an MPI rank. (Channels that several threads use
/// need no port.) It is for races only: edges from what arrives to who takes it (kAccept, kReadiness …) are
/// given apart.
struct PortInput {
  uint32_t label = kNone;  ///< the caller's own
  uint32_t queue = 1;      ///< as in ChannelInput
  uint32_t set = 0;        ///< what one event takes has no order: readiness
};

struct ArrivalInput {
  uint32_t port = 0;
  uint32_t lane = 0;  ///< what comes on one lane stays in order: a sender, a polled end …
  uint32_t tag = 0;
  Node send;
  Node until;  ///< that thread can take it before this event only; event 0: at any time
};

/// A receive at a port. `tag` kNone: any; any_lane 0: from a given sender. Takings of one event come in
/// order.
struct TakingInput {
  uint32_t arrival = 0;  ///< its place in Execution::arrivals
  Node at;
  uint32_t tag = kNone;
  uint32_t any_lane = 1;
};

/// What a process waits for, when the run ends, wherever it asks a set of descriptors (an epoll instance).
struct WatchInput {
  uint32_t process = 0;
  uint32_t set = 0;   ///< its descriptor
  uint64_t what = 0;  ///< a channel; or the caller's own; 0: something else, now or before
};

/// A step of a thread that is none of its events: a point of its locks that edges begin or end at.
struct BetweenInput {
  Node at;
  uint32_t point = 0;  ///< the caller's own: ascending in each thread
  uint32_t since =
      0;  ///< an object is given back: the thread has had it since this step, or shortly before; else 0
};

struct Execution {
  std::vector<ThreadInput> threads;   ///< by id
  std::vector<EdgeInput> edges;       ///< those that do not follow from what is below
  std::vector<BetweenInput> between;  ///< by thread and step
  std::vector<ChannelInput> channels;
  std::vector<Transfer> sends, receives;
  uint32_t objects = 0;
  std::vector<AccessInput> accesses;
  std::vector<BarrierInput> barriers;
  std::vector<PortInput> ports;
  std::vector<ArrivalInput> arrivals;  ///< those of a lane in the order in which they were sent
  std::vector<TakingInput> takings;
  std::vector<WatchInput> watches;
};

}  // namespace pastcone::causal
