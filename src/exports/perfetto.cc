#include "pastcone/exports/perfetto.h"

#include <nlohmann/json.hpp>

#include "pastcone/exports/known_times.h"
#include "pastcone/graph/messages.h"
#include "pastcone/graph/steps.h"
#include "pastcone/trace/event_reader.h"
#include "pastcone/trace/json.h"

namespace pastcone::exports {
namespace {

using causal::Graph;
using causal::Node;
using format::Shape;
using Json = nlohmann::ordered_json;

class Writer {
 public:
  Writer(const Subject& subject, const Times& times, Out& out)
      : subject_(subject), graph_(subject.graph), times_(times), out_(out) {
    // Tracks need numbers: a thread's is its place, a process's that of its first thread, so that none is
    // there twice.
    for (uint32_t thread = 0; thread < graph_.real_threads; ++thread) {
      bool first = thread == 0 || graph_.threads[thread].process != graph_.threads[thread - 1].process;
      process_.push_back(first ? thread + 1 : process_.back());
    }
  }

  Status run() {
    ProcessTable processes = ProcessTable::read(subject_.recording);
    out_.print("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}",
               dump_json({{"ph", "M"},
                          {"name", "trace_config"},
                          {"pid", 0},
                          {"args", {{"recording", subject_.recording.manifest().id}}}}));
    for (uint32_t thread = 0; thread < graph_.real_threads; ++thread) {
      if (!subject_.has(thread)) continue;
      name(thread, processes);
      TRY_STATUS(slices(thread));
    }
    arrows();
    out_.print("\n]}}\n");
    return out_.finish();
  }

 private:
  void name(uint32_t thread, const ProcessTable& processes);
  Status slices(uint32_t thread);
  void arrows();
  void arrow_end(char phase, Node at, uint64_t id);

  /// Microseconds since the beginning.
  std::string at(int64_t ns) const {
    int64_t since = ns - times_.begin();
    return fmt::format("{}.{:03}", since / 1000, since % 1000);
  }
  std::string place(uint32_t thread) const {
    return fmt::format("\"pid\":{},\"tid\":{}", process_[thread], thread + 1);
  }

  const Subject& subject_;
  const Graph& graph_;
  const Times& times_;
  Out& out_;
  std::vector<uint32_t> process_;
};

void Writer::name(uint32_t thread, const ProcessTable& processes) {
  ThreadId id = graph_.thread_id(thread);
  auto print = [&](const char* what, const Json& args) {
    out_.print(
        ",\n{}",
        dump_json(
            {{"ph", "M"}, {"name", what}, {"pid", process_[thread]}, {"tid", thread + 1}, {"args", args}}));
  };
  if (process_[thread] == thread + 1) {
    print("process_name", {{"name", process_label(processes, id.process())}});
    print("process_sort_index", {{"sort_index", id.process().number()}});
  }
  print("thread_name", {{"name", to_string(id)}});
  print("thread_sort_index", {{"sort_index", id.number()}});
}

Status Writer::slices(uint32_t thread) {
  EventReader reader(subject_.recording, graph_.thread_id(thread));
  std::string track = place(thread);
  while (const Event* event = TRY(reader.next())) {
    const Item& item = event->item;
    int64_t begin = times_.at(graph::find_step(graph_, thread, graph::entering(item.event))),
            end = times_.at(graph::find_step(graph_, thread, graph::leaving(item.event)));
    out_.print(",\n{{\"ph\":\"X\",\"name\":\"{}\",{},\"ts\":{},\"dur\":{}.{:03},\"args\":{{\"event\":\"{}\"",
               kind_text(item), track, at(begin), (end - begin) / 1000, (end - begin) % 1000,
               EventId(graph_.thread_id(thread), item.event));
    const std::string& where = subject_.place(EventId(graph_.thread_id(thread), item.event));
    if (!where.empty()) out_.print(",\"where\":{}", dump_json(where));
    if (item.is_call()) {
      out_.print(",\"result\":{}", item.result);
      if (item.shape == Shape::kSend || item.shape == Shape::kReceive || item.shape == Shape::kMessage) {
        out_.print(",\"channel\":{}", item.channel);
      }
      if (item.shape == Shape::kCreate) out_.print(",\"created\":\"{}\"", item.thread);
    }
    out_.print("}}}}");
  }
  return {};
}

void Writer::arrow_end(char phase, Node at_node, uint64_t id) {
  // Inside the slice, which ends when the event is left.
  out_.print(
      ",\n{{\"ph\":\"{}\",\"bp\":\"e\",\"name\":\"message\",\"cat\":\"message\",\"id\":{},{},\"ts\":{}}}",
      phase, id, place(at_node.thread), at(times_.at(at_node) - 1));
}

void Writer::arrows() {
  graph::Messages messages(graph_);
  for (uint64_t id = 1; auto message = messages.next();) {
    if (!message->arrived()) continue;
    Node send = graph_.sends[message->send].at, receive = graph_.receives[message->receive].at;
    if (!subject_.has(send.thread) || !subject_.has(receive.thread)) continue;
    arrow_end('s', send, id);
    arrow_end('f', receive, id++);
  }
}

}  // namespace

Status write_perfetto(const Subject& subject, Out& out) {
  Times times(subject.graph, TRY(known_times(subject.recording, subject.graph)));
  return Writer(subject, times, out).run();
}

}  // namespace pastcone::exports
