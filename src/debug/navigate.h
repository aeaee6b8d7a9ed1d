// Ways along messages (P4), and the demand points (P2) that a state is asked for by. Answers are cuts by
// Order::kEnforced; nothing runs here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pastcone/base/ids.h"
#include "pastcone/base/result.h"
#include "pastcone/causal/cone.h"
#include "pastcone/causal/graph.h"
#include "pastcone/causal/transit.h"
#include "pastcone/graph/messages.h"

namespace pastcone::debug {

/// Where to go, and along which message.
struct Way {
  causal::Cut cut;
  causal::Node focus;  ///< the last step of who is in focus then
  graph::Message message;
  bool back = false;  ///< follow: somebody had gone beyond it, so it is the least state with it
  size_t parts = 1;   ///< follow: receives that each took a part of it; this is the first
  /// cause: the receive of the sender behind which it is, by its place in Graph::receives; kNone: it had
  /// received nothing, and has just begun with its program
  uint32_t received = causal::kNone;
};

/// "p1:17 → p2:9, 12 bytes, channel 5".
std::string describe(const causal::Graph& graph, const graph::Message& message);

/// Standing at a send, or on the way into it: the receiver just after it received, the others no further than
/// that needs.
Result<Way> follow(const causal::Graph& graph, const causal::Cut& cut, uint32_t thread);

struct CauseOptions {
  size_t last = 1;  ///< 2: the message before the last one
  /// Whose messages count: this thread's, or those of all threads of its process; so it is with the sender.
  bool whole_process = false;
  /// Only what came on these, by their ids; empty: all. A connection has one for each direction.
  std::vector<uint64_t> channels = {};
  /// Where processes begin with programs, in order. A sender that had received nothing is met there.
  std::vector<causal::Node> programs = {};
};

/// Standing at or after a receive: back to the sender, just after its last receive before it sent that; the
/// others at their first state that is consistent with it. Several receives that took parts of one send count
/// as one message.
Result<Way> cause(const causal::Graph& graph, const causal::Cut& cut, uint32_t thread,
                  const CauseOptions& options = {});

/// Messages that one process sent and another one received.
struct Flow {
  ProcessId from, to;
  size_t number = 1;  ///< from 1: in the order of sending, or of receiving
  bool receive = false;

  bool operator==(const Flow&) const = default;
};
/// Just after the send or the receive: the least state.
Result<Way> find_flow(const causal::Graph& graph, const Flow& flow);

/// Access `access`, from 0, of object `object`, from 1, as `show obj` numbers them.
struct ObjectAccess {
  uint64_t object = 0, access = 0;
  std::string name = {};  ///< instead of `object`

  bool operator==(const ObjectAccess&) const = default;
};

/// Where a thread had an object: of replay::Access, the event before it, and in parallel mode the point of
/// its locks.
struct AccessPlace {
  ThreadId thread;
  uint64_t event = 0;
  uint64_t step = 0, point = 0;  ///< 0: between the event and the next one, nothing more is known
};

struct AccessStop {
  causal::Cut cut;      ///< the least one behind which the access is
  causal::Node before;  ///< its thread's last step in it
  causal::Node after;   ///< the first step with which the access is surely done: the same, if it is a step
  uint64_t point =
      0;  ///< a horizon that stops just behind the access; 0: only what runs on from `before` finds it
};

Result<AccessStop> find_access(const causal::Graph& graph, std::span<const AccessPlace> history,
                               const ObjectAccess& which);
/// Whether the access has happened in the cut.
bool is_done(const causal::Graph& graph, const causal::Cut& cut, const AccessPlace& place);

/// What follows `run to`: p3:1041, obj 4#17, send 3 of p1->p2, recv 3 of p1->p2.
using DemandPoint = std::variant<EventId, ObjectAccess, Flow>;
Result<DemandPoint> parse_demand_point(std::string_view text);

struct Underway {
  causal::Piece piece;
  uint32_t receive = causal::kNone;  ///< who receives it later, first
};
std::vector<Underway> messages_in_transit(const causal::Graph& graph, const causal::Cut& cut);
/// "12 bytes of p1:17, channel 5, received later by p2:9", or "never received".
std::string describe(const causal::Graph& graph, const Underway& message);

}  // namespace pastcone::debug
