#include "pastcone/exports/dot.h"

#include <set>

#include "pastcone/graph/names.h"
#include "pastcone/trace/event_reader.h"
#include "pastcone/trace/json.h"

namespace pastcone::exports {
namespace {

using causal::Graph;
using causal::Node;

constexpr uint64_t kMostEvents = 4000;

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

class Writer {
 public:
  Writer(const Subject& subject, bool linked, Out& out)
      : subject_(subject), graph_(subject.graph), out_(out), linked_(linked) {}

  Status run() {
    if (linked_) find_linked();
    TRY_STATUS(check_size());
    ProcessTable processes = ProcessTable::read(subject_.recording);
    out_.print("digraph recording {{\n  node [shape=box, fontname=\"sans\"];\n");
    for (uint32_t thread = 0; thread < graph_.real_threads;) {
      uint32_t process = graph_.threads[thread].process, first = thread;
      while (thread < graph_.real_threads && graph_.threads[thread].process == process) ++thread;
      TRY_STATUS(cluster(process_label(processes, ProcessId(process)), first, thread));
    }
    for_all_edges([this](Node from, Node to, uint32_t edge) { arrow(from, to, edge); });
    out_.print("}}\n");
    return out_.finish();
  }

 private:
  /// Hubs are drawn with whatever leads to them.
  bool has(Node node) const { return graph_.threads[node.thread].hub() || subject_.has(node.thread); }

  template <typename Visit>
  void for_all_edges(Visit visit) const {
    for (uint32_t group = 0; group < graph_.group_count(); ++group) {
      Node to{graph_.groups[group].thread, graph_.groups[group].event};
      for (uint32_t edge = graph_.groups[group].first_edge; edge < graph_.groups[group + 1].first_edge;
           ++edge) {
        if (has(graph_.edges[edge].from) && has(to)) visit(graph_.edges[edge].from, to, edge);
      }
    }
  }

  void find_linked() {
    for_all_edges([this](Node from, Node to, uint32_t) {
      for (Node node : {from, to}) {
        if (!graph_.threads[node.thread].hub()) links_.insert(graph::event_of(graph_, node));
      }
    });
  }

  Status check_size() const {
    uint64_t events = linked_ ? links_.size() : subject_.events();
    if (events <= kMostEvents) return {};
    return fail(
        "{} events are too many for a picture (at most {}): {}name some threads, as in `export p1 p2.3`",
        events, kMostEvents, linked_ ? "" : "leave out those without arrows by --linked, or ");
  }

  Status cluster(const std::string& name, uint32_t first, uint32_t until) {
    bool any = false;
    for (uint32_t thread = first; thread < until; ++thread) any = any || subject_.has(thread);
    if (!any) return {};
    out_.print("  subgraph cluster_p{} {{\n    label={};\n", graph_.threads[first].process, in_quotes(name));
    for (uint32_t thread = first; thread < until; ++thread) {
      if (subject_.has(thread)) TRY_STATUS(column(thread));
    }
    out_.print("  }}\n");
    return {};
  }

  /// The events of a thread, each below the one before.
  Status column(uint32_t thread) {
    ThreadId id = graph_.thread_id(thread);
    EventReader reader(subject_.recording, id);
    std::string before;
    while (const Event* event = TRY(reader.next())) {
      EventId event_id(id, event->item.event);
      if (linked_ && !links_.contains(event_id)) continue;
      std::string name = in_quotes(to_string(event_id));
      out_.print("    {} [label={}];\n", name,
                 in_quotes(to_string(event_id) + " " + label(subject_, id, event->item)));
      if (!before.empty()) out_.print("    {} -> {} [weight=10, arrowhead=none];\n", before, name);
      before = std::move(name);
    }
    return {};
  }

  void arrow(Node from, Node to, uint32_t edge) {
    bool hand_over = graph_.kind(edge) == causal::EdgeKind::kHandOver;
    // Not label: with those between clusters dot may fail ("trouble in init_rank").
    out_.print("  {} -> {} [xlabel={}, {}, constraint={}];\n", in_quotes(graph::name_of(graph_, from)),
               in_quotes(graph::name_of(graph_, to)), in_quotes(causal::to_string(graph_.kind(edge))),
               hand_over ? "style=dotted, color=gray" : "color=blue", !hand_over);
  }

  const Subject& subject_;
  const Graph& graph_;
  Out& out_;
  bool linked_;
  std::set<EventId> links_;
};

}  // namespace

Status write_dot(const Subject& subject, bool linked, Out& out) { return Writer(subject, linked, out).run(); }

}  // namespace pastcone::exports
