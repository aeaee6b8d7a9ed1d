// P3's test for messages that race, which needs nothing but what a process knows while it runs: the message
// is traced unless its sender knew of the receiver's last receive. It traces every message that raced for an
// earlier receive of its thread (races.h), and others: those that could not overtake, because they came on
// another channel or from the same sender.
#pragma once

#include <cstdint>
#include <vector>

#include "pastcone/causal/races.h"

namespace pastcone::causal {

/// The procedure as the paper has it, for who sees sends and receives as they happen. Processes are numbered
/// from 0; a message carries `Vector`.
class OnTheFly {
 public:
  using Vector = std::vector<uint32_t>;

  explicit OnTheFly(uint32_t processes);

  /// What to attach to a message that this process sends now.
  Vector send(uint32_t process);
  /// A message with this vector was received; whether it is to be traced.
  bool receive(uint32_t process, const Vector& attached);

 private:
  struct State {
    uint32_t counter = 0, last_receive = 0;
    Vector known;
  };

  std::vector<State> states_;
};

/// What it would have traced of the receives from channels, each thread being a process: by receiver and
/// event. One sweep.
std::vector<TraceRecord> traced_on_the_fly(const Graph& graph);

/// What is gained by tracing only messages that race.
struct Reduction {
  uint64_t receives = 0;    ///< of messages of recorded senders, from channels and at ports
  uint64_t raced = 0;       ///< of these: could have taken another message
  uint64_t on_the_fly = 0;  ///< to be kept in order by P3's test; connections count as such
  uint64_t exact = 0;       ///< to be kept in order if exactly those that race are
};
Reduction reduction(const Graph& graph, const Races& races);

}  // namespace pastcone::causal
