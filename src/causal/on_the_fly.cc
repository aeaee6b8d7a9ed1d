#include "pastcone/causal/on_the_fly.h"

#include <algorithm>

#include "pastcone/causal/sweep.h"

namespace pastcone::causal {
namespace {

class Tracer : public SweepVisitor {
 public:
  explicit Tracer(const Graph& graph) : graph_(graph), next_(graph.thread_count(), 0) {}

  void incoming(uint32_t group, const uint32_t*, std::span<const Incoming> edges) override {
    const Group& here = graph_.groups[group];
    uint32_t last = last_receive(here.thread, here.event);
    for (const Incoming& each : edges) {
      if (last > each.at(here.thread)) records.push_back({{here.thread, here.event}, each.from});
    }
  }

  /// Messages to oneself have no edges.
  void add_own(uint32_t channel) {
    std::span<const Transfer> sends = graph_.sends_of(channel);
    bool messages = graph_.channels[channel].messages();
    for (const Transfer& receive : graph_.receives_of(channel)) {
      auto send = std::ranges::partition_point(sends, [&](const Transfer& each) {
        return messages ? each.begin < receive.begin : each.end() <= receive.begin;
      });
      auto list = graph_.receives_by_thread().of(receive.at.thread);
      auto own = std::ranges::lower_bound(list, receive.at.event, {},
                                          [&](uint32_t i) { return graph_.receives[i].at.event; });
      uint32_t last = own == list.begin() ? 0 : graph_.receives[*(own - 1)].at.event;
      for (; send != sends.end() && (messages ? send->begin == receive.begin : send->begin < receive.end());
           ++send) {
        if (send->at.thread == receive.at.thread && last > send->at.event)
          records.push_back({receive.at, send->at});
      }
    }
  }

  std::vector<TraceRecord> records;

 private:
  /// The thread's last receive before the event; events come in order.
  uint32_t last_receive(uint32_t thread, uint32_t event) {
    auto list = graph_.receives_by_thread().of(thread);
    uint32_t& next = next_[thread];
    while (next < list.size() && graph_.receives[list[next]].at.event < event) ++next;
    return next == 0 ? 0 : graph_.receives[list[next - 1]].at.event;
  }

  const Graph& graph_;
  std::vector<uint32_t> next_;
};

}  // namespace

OnTheFly::OnTheFly(uint32_t processes) : states_(processes) {
  for (State& state : states_) state.known.assign(processes, 0);
}

OnTheFly::Vector OnTheFly::send(uint32_t process) {
  State& state = states_[process];
  state.known[process] = ++state.counter;
  return state.known;
}

bool OnTheFly::receive(uint32_t process, const Vector& attached) {
  State& state = states_[process];
  ++state.counter;
  bool races = state.last_receive > attached[process];
  state.last_receive = state.counter;
  for (size_t i = 0; i < attached.size(); ++i) state.known[i] = std::max(state.known[i], attached[i]);
  state.known[process] = state.counter;
  return races;
}

std::vector<TraceRecord> traced_on_the_fly(const Graph& graph) {
  Tracer tracer(graph);
  make_anchors(graph, kinds_of(EdgeKind::kMessage), graph.causal.spacing, kVectorBytes, &tracer);
  for (uint32_t channel = 0; channel < graph.channels.size(); ++channel) {
    bool own = std::ranges::any_of(graph.send_lanes.of(channel), [&](const Lane& lane) {
      return std::ranges::find(graph.receive_lanes.of(channel), lane.thread, &Lane::thread) !=
             graph.receive_lanes.of(channel).end();
    });
    if (own) tracer.add_own(channel);
  }
  std::ranges::sort(tracer.records);
  return std::move(tracer.records);
}

namespace {

uint64_t count_different(std::vector<Node> nodes) {
  std::ranges::sort(nodes);
  return static_cast<uint64_t>(std::ranges::unique(nodes).begin() - nodes.begin());
}

std::vector<Node> receives_of(const std::vector<TraceRecord>& records) {
  std::vector<Node> nodes;
  for (const TraceRecord& record : records) {
    if (record.receive.event != 0) nodes.push_back(record.receive);
  }
  return nodes;
}

}  // namespace

Reduction reduction(const Graph& graph, const Races& races) {
  Reduction result;
  std::vector<Node> receives, raced;
  for (uint32_t group = 0; group < graph.group_count(); ++group) {
    for (uint32_t edge = graph.groups[group].first_edge; edge < graph.groups[group + 1].first_edge; ++edge) {
      if (graph.kind(edge) == EdgeKind::kMessage)
        receives.push_back({graph.groups[group].thread, graph.groups[group].event});
    }
  }
  std::vector<Node> on_the_fly = receives_of(traced_on_the_fly(graph));
  std::ranges::sort(receives);
  size_t by_channel = receives.size();
  for (const TakingInput& taking : graph.takings) {
    bool other = !std::binary_search(receives.begin(), receives.begin() + static_cast<ptrdiff_t>(by_channel),
                                     taking.at);
    if (taking.any_lane == 0 || !other) continue;
    receives.push_back(taking.at);
    on_the_fly.push_back(taking.at);
  }
  for (const RacyReceive& receive : races.receives()) raced.push_back(receive.at);
  result.receives = count_different(std::move(receives));
  result.raced = count_different(std::move(raced));
  result.on_the_fly = count_different(std::move(on_the_fly));
  result.exact = count_different(receives_of(races.traced()));
  return result;
}

}  // namespace pastcone::causal
