#include "pastcone/exports/shiviz.h"

#include "pastcone/causal/cone.h"
#include "pastcone/graph/steps.h"
#include "pastcone/trace/event_reader.h"

namespace pastcone::exports {
namespace {

constexpr uint64_t kMostEvents = 100'000;

std::string clock(const Subject& subject, causal::Node node) {
  std::string text;
  causal::Cut cone = causal::past_cone(subject.graph, node);
  for (uint32_t thread = 0; thread < subject.graph.real_threads; ++thread) {
    uint64_t last = graph::event_at(subject.graph, {thread, cone[thread]});
    if (!subject.has(thread) || last == 0) continue;
    text += fmt::format("{}\"{}\":{}", text.empty() ? "{" : ", ", subject.graph.thread_id(thread), last);
  }
  return text + "}";
}

}  // namespace

Status write_shiviz(const Subject& subject, Out& out) {
  if (uint64_t events = subject.events(); events > kMostEvents) {
    return fail(
        "{} events are more than ShiViz can show (at most {} are written): name some threads, as in `export "
        "p1 p2.3`",
        events, kMostEvents);
  }
  for (uint32_t thread = 0; thread < subject.graph.real_threads; ++thread) {
    if (!subject.has(thread)) continue;
    ThreadId id = subject.graph.thread_id(thread);
    EventReader reader(subject.recording, id);
    while (const Event* event = TRY(reader.next())) {
      out.print("{} {}\n{} {}\n", EventId(id, event->item.event), label(subject, id, event->item), id,
                clock(subject, graph::find_step(subject.graph, thread, graph::leaving(event->item.event))));
    }
  }
  return out.finish();
}

}  // namespace pastcone::exports
