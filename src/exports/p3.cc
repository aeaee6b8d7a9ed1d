#include "pastcone/exports/p3.h"

#include <algorithm>

#include "pastcone/causal/on_the_fly.h"
#include "pastcone/graph/names.h"
#include "pastcone/graph/ports.h"

namespace pastcone::exports {
namespace {

using causal::Graph;
using causal::Node;
using causal::TraceRecord;

/// Numbers sends and receives of each thread from 1.
class EventNumbers {
 public:
  explicit EventNumbers(const Graph& graph) {
    for (const causal::Transfer& send : graph.sends) nodes_.push_back(send.at);
    for (const causal::Transfer& receive : graph.receives) nodes_.push_back(receive.at);
    auto connection = [&](const causal::ArrivalInput& arrival) {
      return graph.ports[arrival.port].label == graph::kListening;
    };
    for (const causal::ArrivalInput& arrival : graph.arrivals) {
      if (connection(arrival)) nodes_.push_back(arrival.send);
    }
    for (const causal::TakingInput& taking : graph.takings) {
      if (connection(graph.arrivals[taking.arrival])) nodes_.push_back(taking.at);
    }
    std::ranges::sort(nodes_);
    auto same = std::ranges::unique(nodes_);
    nodes_.erase(same.begin(), same.end());
  }

  int64_t operator[](Node node) const {
    auto first = std::ranges::lower_bound(nodes_, Node{node.thread, 0});
    return std::ranges::lower_bound(first, nodes_.end(), node) - first + 1;
  }

 private:
  std::vector<Node> nodes_;
};

class Writer {
 public:
  Writer(const Subject& subject, Out& out) : subject_(subject), out_(out), numbers_(subject.graph) {}

  void write(const char* file, uint32_t thread, const TraceRecord& record) const {
    const Graph& graph = subject_.graph;
    bool received = record.receive.event != 0;
    out_.print("{}{}\t{}\t{}\t{}\t{}\t{}\t{}\n", file, thread, record.send.thread, numbers_[record.send],
               received ? int64_t{record.receive.thread} : -1, received ? numbers_[record.receive] : 0,
               graph::event_of(graph, record.send),
               received ? to_string(graph::event_of(graph, record.receive)) : "-");
  }

 private:
  const Subject& subject_;
  Out& out_;
  EventNumbers numbers_;
};

}  // namespace

Status write_p3(const Subject& subject, bool on_the_fly, Out& out) {
  std::vector<TraceRecord> records =
      on_the_fly ? causal::traced_on_the_fly(subject.graph) : causal::Races::find(subject.graph).traced();
  Writer writer(subject, out);
  out.print("file\tSPN\tSESN\tRPN\tRESN\tsend\treceive\n");
  for (const TraceRecord& record : records) {
    bool received = record.receive.event != 0;
    if (received && subject.has(record.receive.thread)) writer.write("TF", record.receive.thread, record);
  }
  for (const TraceRecord& record : causal::by_sender(std::move(records))) {
    if (subject.has(record.send.thread)) writer.write("CTF", record.send.thread, record);
  }
  return out.finish();
}

}  // namespace pastcone::exports
